"""`guardctl run` under signals and on a terminal."""
import contextlib
import os
import pathlib
import pty
import select
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest

GUARDCTL = guardtest.BIN / "guardctl"


def state(pid):
    """The letter of proc_pid_stat(5): T is stopped."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


class Signals(guardtest.DaemonTestCase):
    def start(self, script, *flags, **popen):
        """guardctl running a shell script that says "ready" when it is."""
        popen.setdefault("stdin", subprocess.DEVNULL)
        run = subprocess.Popen(
            [GUARDCTL, "run", "--env", f"MARK={self.marker}", *flags, "--", "sh", "-c", script],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0,
            env=guardtest.environment(GUARDD_SOCKET=self.guardd.socket), **popen)

        def end():
            if run.poll() is None:
                run.kill()
            run.communicate()

        self.addCleanup(end)
        self.assertEqual(run.stdout.readline(), b"ready\n")
        return run

    def finish(self, run):
        out, err = run.communicate(timeout=30 * guardtest.SLOW)
        return run.returncode, out, err

    def assertNothingLeft(self):
        self.assertTrue(guardtest.wait_until(
            lambda: not guardtest.processes_with_env_marker(self.marker), 10))

    LOOP = "echo ready; while :; do sleep 0.05; done"

    def test_signals_reach_the_program(self):
        for name in ("INT", "TERM", "HUP", "QUIT", "USR1", "USR2"):
            with self.subTest(name):
                run = self.start(f"trap 'echo got {name}; exit 3' {name}; {self.LOOP}")
                run.send_signal(getattr(signal, f"SIG{name}"))
                # On stderr the shell may tell how its sleep(1), in the same group, ended.
                self.assertEqual(self.finish(run)[:2], (3, f"got {name}\n".encode()))

    def test_a_program_that_dies_by_the_signal_gives_its_code(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                run = self.start(self.LOOP)
                run.send_signal(number)
                self.assertEqual(self.finish(run)[0], 128 + number)
        self.assertNothingLeft()

    def test_the_whole_group_of_the_program_gets_it(self):
        run = self.start("sleep 300 & " + self.LOOP)
        run.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(run)[0], 143)
        self.assertNothingLeft()

    def test_a_second_interrupt_ends_a_program_that_ignores_the_first(self):
        run = self.start(f"trap 'echo no' INT; {self.LOOP}")
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.stdout.readline(), b"no\n")
        run.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(run)[0], 130)
        self.assertNothingLeft()

    def test_a_signal_overtakes_input_that_the_program_does_not_read(self):
        with open("/dev/zero", "rb") as endless:
            run = self.start(f"trap 'echo got it; exit 4' TERM; {self.LOOP}", stdin=endless)
            run.send_signal(signal.SIGTERM)
            self.assertEqual(self.finish(run)[:2], (4, b"got it\n"))

    def test_what_was_ignored_stays_ignored(self):
        def ignore_hangups():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

        run = self.start(f"trap 'exit 5' TERM; {self.LOOP}", preexec_fn=ignore_hangups)
        run.send_signal(signal.SIGHUP)
        run.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(run)[0], 5)

    def test_stopping_stops_the_program_too_and_continuing_continues_it(self):
        run = self.start("echo ready; echo $$; exec sleep 300")  # a fork could wait in D
        inner = int(run.stdout.readline())
        run.send_signal(signal.SIGTSTP)
        self.assertTrue(guardtest.wait_until(lambda: state(run.pid) == "T"))
        self.assertTrue(guardtest.wait_until(lambda: state(inner) == "T"))
        run.send_signal(signal.SIGCONT)
        self.assertTrue(guardtest.wait_until(lambda: state(inner) != "T"))
        run.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(run)[0], 143)

    def test_killing_the_client_kills_the_run(self):
        run = self.start("setsid sleep 300 & " + self.LOOP)
        self.assertNotEqual(guardtest.processes_with_env_marker(self.marker), [])
        run.kill()
        run.wait()
        self.assertNothingLeft()


class LostDaemon(guardtest.TestCase):
    def test_a_run_whose_guardd_dies_is_never_a_success(self):
        daemon = self.start_daemon()
        with guardtest.Popen([GUARDCTL, "run", "--", "sh", "-c", "echo ready; sleep 300"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE,
                              env=guardtest.environment(GUARDD_SOCKET=daemon.socket)) as run:
            self.assertEqual(run.stdout.readline(), b"ready\n")
            daemon.kill()
            _, err = run.communicate(timeout=30 * guardtest.SLOW)
        self.assertEqual(run.returncode, guardtest.GUARD_FAILED)
        self.assertIn(b"the run was lost", err)


class Terminal(guardtest.DaemonTestCase):
    """guardctl with a terminal of its own as stdin, stdout and stderr."""

    def setUp(self):
        super().setUp()
        self.pid, self.terminal = None, None

    def spawn(self, *argv):
        environment = guardtest.environment(GUARDD_SOCKET=self.guardd.socket, TERM="dumb")
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            try:
                os.execve(argv[0], [os.fspath(each) for each in argv], environment)
            finally:
                os._exit(99)
        self.addCleanup(self.end)

    def end(self):
        os.close(self.terminal)
        if self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)

    def read_until(self, text, seconds=30):
        """What the terminal shows, until `text` is there."""
        got, deadline = b"", time.monotonic() + seconds
        while text not in got:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.terminal], [], [], left)[0]:
                self.fail(f"{text!r} is not in {got!r}")
            try:
                got += os.read(self.terminal, 4096)
            except OSError:  # the other side is closed
                self.fail(f"{text!r} is not in {got!r}")
        return got

    def exit_code(self, seconds=30):
        # The terminal is drained: a process does not end before its output is taken.
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if select.select([self.terminal], [], [], 0.02)[0]:
                with contextlib.suppress(OSError):
                    os.read(self.terminal, 4096)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = None
                return os.waitstatus_to_exitcode(status)
        self.fail("guardctl is still there")

    def test_it_does_not_wait_for_somebody_to_type(self):
        self.spawn(GUARDCTL, "run", "--", "sh", "-c", "exit 6")
        self.assertEqual(self.exit_code(), 6)

    def test_lines_and_the_end_of_input_are_relayed(self):
        self.spawn(GUARDCTL, "run", "--", "sh", "-c", "while read -r x; do echo \"<$x>\"; done; echo end")
        os.write(self.terminal, b"typed\n")
        self.read_until(b"<typed>")
        os.write(self.terminal, b"\x04")
        self.read_until(b"end")
        self.assertEqual(self.exit_code(), 0)

    def test_the_program_gets_pipes_and_never_the_terminal(self):
        script = "for n in 0 1 2; do test -t $n && echo is a tty; done; exec 3<>/dev/tty; echo done"
        self.spawn(GUARDCTL, "run", "--", "sh", "-c", script)
        self.assertNotIn(b"is a tty", self.read_until(b"o"))
        self.exit_code()

    def test_control_c_interrupts_the_program(self):
        self.spawn(GUARDCTL, "run", "--", "sh", "-c",
                   "trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.05; done")
        self.read_until(b"ready")
        os.write(self.terminal, b"\x03")
        self.read_until(b"caught")
        self.assertEqual(self.exit_code(), 9)

    def test_in_the_background_it_is_not_stopped_for_reading(self):
        # A direct command that does not read would not be.
        self.spawn("/bin/bash", "--norc", "--noprofile", "-ic",
                   f"'{GUARDCTL}' run -- sh -c 'sleep 0.3; echo from behind' & wait; echo waited")
        shown = self.read_until(b"waited")
        self.assertIn(b"from behind", shown)
        self.assertNotIn(b"Stopped", shown)

    def test_control_z_and_fg_work_as_for_any_command(self):
        self.spawn("/bin/bash", "--norc", "--noprofile", "-i")
        os.write(self.terminal, b"PS1='$ '\n")
        loop = "trap \"echo bye; exit\" USR1; echo rea\"\"dy; while :; do sleep 0.05; done"
        os.write(self.terminal, f"'{GUARDCTL}' run -- sh -c '{loop}'\n".encode())
        self.read_until(b"\nready")
        os.write(self.terminal, b"\x1a")
        self.read_until(b"Stopped")
        os.write(self.terminal, b"kill -USR1 %1; fg\n")
        self.read_until(b"\nbye")


if __name__ == "__main__":
    guardtest.main()
