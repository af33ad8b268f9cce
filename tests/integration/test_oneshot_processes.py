"""xenarch-guard is the command: the same process, group, session, signals and terminal."""
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest
from guardtest import BIN, oneshot, unconfined

GUARD = str(BIN / "xenarch-guard")


class SameProcess(guardtest.TestCase):
    FACTS = """\
import json, os, signal
mask = os.umask(0)
print(json.dumps([os.getpid(), os.getppid(), os.getpgid(0), os.getsid(0), mask,
    [n for n in range(1, 32) if n not in (9, 19) and signal.getsignal(n) == signal.SIG_IGN],
    sorted(signal.pthread_sigmask(signal.SIG_BLOCK, []))]))
"""

    def facts(self, *front):
        def odd():
            os.umask(0o027)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])

        with guardtest.Popen([*front, "python3", "-c", self.FACTS], cwd=self.ws, preexec_fn=odd,
                              env=guardtest.environment(), stdout=subprocess.PIPE) as process:
            out, _ = process.communicate(timeout=30 * guardtest.SLOW)
        pid, *rest = json.loads(out)
        self.assertEqual(pid, process.pid, "nothing is forked")
        return rest

    def test_pid_group_session_umask_and_signals_are_the_callers(self):
        self.assertEqual(self.facts(GUARD, "-q", "--"), self.facts())

    def test_it_dies_by_the_programs_signal_and_exits_with_its_code(self):
        self.assertEqual(oneshot(["sh", "-c", "kill -9 $$"]).signal, signal.SIGKILL)
        self.assertEqual(oneshot(["sh", "-c", "exit 124"]).rc, 124)

    def test_killpg_reaches_it_and_its_children(self):
        with guardtest.Popen([GUARD, "-q", "--", "sh", "-c",
                               f"sleep 99{self.marker[-4:].encode().hex()} & echo up; wait"],
                              env=guardtest.environment(), stdout=subprocess.PIPE,
                              process_group=0) as process:
            self.assertEqual(process.stdout.readline(), b"up\n")
            os.killpg(process.pid, signal.SIGTERM)
            self.assertEqual(process.wait(10), -signal.SIGTERM)
            self.assertEqual(process.stdout.read(), b"", "the child had the pipe, too")

    def test_nohup_protects_it(self):
        with guardtest.Popen(["nohup", GUARD, "-q", "--", "sh", "-c", "echo up; read x; echo $x"],
                              env=guardtest.environment(), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            self.assertEqual(process.stdout.readline(), b"up\n")
            process.send_signal(signal.SIGHUP)
            out, _ = process.communicate(b"alive\n", 10)
        self.assertEqual((process.returncode, out), (0, b"alive\n"))

    def test_closed_streams_stay_closed(self):
        for redirection in ("<&-", ">&-", "2>&-"):
            with self.subTest(redirection=redirection):
                script = "import os, errno\n" \
                         "state = [os.path.exists(f'/dev/fd/{n}') for n in range(3)]\n" \
                         "open('state', 'w').write(repr(state))"
                states = []
                for front in ("", f"{GUARD} -q --allow-write . --"):
                    guardtest.run(["sh", "-c", f'{front} python3 -c "$1" {redirection}', "sh", script],
                                  cwd=self.ws)
                    states.append((self.ws / "state").read_text())
                self.assertEqual(*states)

    def test_a_background_process_may_outlive_it_and_the_report_says_so(self):
        result = oneshot(["true"], "-v")
        self.assertIn("nobody stays behind to kill", result.err)


class Shell:
    """An interactive bash on a terminal of its own."""

    def __init__(self, cwd):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "-i"],
                      guardtest.environment(PS1="$ ", TERM="dumb"))
        self.said = b""

    def type(self, text):
        os.write(self.terminal, text.encode())

    def expect(self, pattern, seconds=20):
        """Waits for the pattern in what was said since the last match; returns the match."""
        deadline = time.monotonic() + seconds
        while True:
            match = re.search(pattern, self.said, re.DOTALL)
            if match:
                self.said = self.said[match.end():]
                return match
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.terminal], [], [], left)[0]:
                raise AssertionError(f"no {pattern!r} in {self.said!r}")
            try:
                self.said += os.read(self.terminal, 4096)
            except OSError:
                raise AssertionError(f"the shell ended: {self.said!r}") from None

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


class JobControl(guardtest.TestCase):
    def setUp(self):
        super().setUp()
        self.shell = Shell(self.ws)
        self.addCleanup(self.shell.close)
        self.shell.type("stty -echo\n")
        self.shell.type("echo re''ady\n")
        self.shell.expect(rb"ready\r\n")

    def test_ctrl_z_fg_and_ctrl_c(self):
        self.shell.type(f"{GUARD} -q -- sh -c 'echo started; exec sleep 100'\n")
        self.shell.expect(rb"started")
        self.shell.type("\x1a")
        self.shell.expect(rb"Stopped.*\n\$ $")
        self.shell.type("fg\n")
        self.shell.expect(rb"sleep 100")
        # bash names the job before it hands the terminal on; Ctrl-C before that is bash's own.
        guardtest.wait_until(lambda: os.tcgetpgrp(self.shell.terminal) != self.shell.pid, 10)
        self.shell.type("\x03")
        self.shell.expect(rb"\n\$ $")  # the terminal drops what was typed before the signal
        self.shell.type("echo code=$?\n")
        self.shell.expect(rb"code=130")

    def test_background_wait_and_jobs(self):
        self.shell.type(f"{GUARD} -q -- sh -c 'exit 7' & wait $!; echo code=$?\n")
        self.shell.expect(rb"code=7")
        self.shell.type(f"{GUARD} -q -- sleep 100 & kill %1 || kill %2; wait $!; echo code=$?\n")
        self.shell.expect(rb"code=143")

    def test_a_program_in_it_still_has_its_terminal(self):
        self.shell.type(f"{GUARD} -q -- sh -c 'test -t 0 && test -t 1 && test -t 2 && "
                        "stty -a </dev/tty >/dev/null && echo is''tty'\n")
        self.shell.expect(rb"istty")


class Terminal(guardtest.TestCase):
    """A terminal on stdout must not be a way to read what the user types."""

    READER = """\
import os, sys
assert os.isatty(1)
try:
    sys.stderr.write(repr(os.read(1, 5)))
except OSError as error:
    sys.stderr.write(error.strerror)
"""

    def read_back(self, *front, stdin=subprocess.DEVNULL):
        master, slave = pty.openpty()
        try:
            os.write(master, b"typed\n")
            attributes = termios.tcgetattr(slave)
            with guardtest.Popen([*front, "python3", "-c", self.READER], stdin=stdin or slave,
                                  stdout=slave, stderr=subprocess.PIPE, cwd=self.ws,
                                  env=guardtest.environment(), start_new_session=True) as process:
                _, err = process.communicate(timeout=30 * guardtest.SLOW)
            self.assertEqual(termios.tcgetattr(slave), attributes)
            self.assertEqual(process.returncode, 0, err)
            return err
        finally:
            os.close(master)
            os.close(slave)

    def test_stdout_alone_is_for_writing(self):
        self.assertEqual(self.read_back(), b"b'typed'")
        self.assertEqual(self.read_back(GUARD, "-q", "--"), b"Bad file descriptor")

    def test_with_the_same_terminal_on_stdin_nothing_is_taken(self):
        self.assertEqual(self.read_back(GUARD, "-q", "--", stdin=None), b"b'typed'")

    def test_flags_of_the_callers_descriptor_are_left_alone(self):
        master, slave = pty.openpty()
        try:
            before = fcntl.fcntl(slave, fcntl.F_GETFL)
            result = oneshot(["true"], "-q", stdout=slave, stderr=slave)
            self.assertRan(result)
            self.assertEqual(fcntl.fcntl(slave, fcntl.F_GETFL), before)
        finally:
            os.close(master)
            os.close(slave)


class Signals(guardtest.TestCase):
    @guardtest.needs_landlock_abi(6, "the signal scope")
    def test_no_signal_leaves_the_sandbox(self):
        bystander = self.sleeper()
        argv = ["sh", "-c", f"kill -USR1 {bystander.pid}"]
        result = oneshot(argv)
        self.assertEqual(result.rc, 1, result)
        self.assertIsNone(bystander.poll())
        self.assertRan(unconfined(argv))
        self.assertEqual(bystander.wait(10), -signal.SIGUSR1)

    def test_its_own_children_get_signals(self):
        self.assertRan(oneshot(["bash", "-c", "sleep 100 & kill $!; wait $! || true"]))


if __name__ == "__main__":
    guardtest.main()
