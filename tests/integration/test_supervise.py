"""No process of a run outlives its result, whatever the run did to its sessions, groups and parents,
on every way that the kernel leaves us to kill it."""
import errno
import json
import os
import pathlib
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import failing_calls  # noqa: E402
import guardtest  # noqa: E402

PYTHON = guardtest.PYTHON
SCOPE_ABI = 6  # below it, the monitor cannot signal its own domain


def setUpModule():
    # Which layer the daemon gets is each class's own business.
    os.environ.pop("GUARD_LANDLOCK_ABI_MAX", None)


class Tree:
    """The tests of every layer, which TREE_KILL names in reports. The rest is the daemon's."""

    BEFORE, DAEMON_FLAGS, UNDER = None, (), ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.mkdtemp(prefix="guardd-")
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.guardd = guardtest.Daemon(folder, *cls.DAEMON_FLAGS, env=cls.ENV, under=cls.UNDER,
                                      preexec_fn=cls.BEFORE)
        cls.addClassCleanup(cls.guardd.stop)

    def setUp(self):
        super().setUp()
        self.bystander = self.sleeper()

    def tearDown(self):
        self.assertEqual(self.survivors(), [])
        self.assertTrue(guardtest.alive(self.bystander.pid), "somebody else was killed")
        super().tearDown()

    def survivors(self):
        return guardtest.processes_matching(self.marker)

    def zombies(self):
        """Dead children of the daemon and of its own processes."""
        parents = {self.guardd.pid, *guardtest.descendants(self.guardd.pid)}
        found = []
        for pid in guardtest.all_pids():
            try:
                stat = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace")
            except (FileNotFoundError, ProcessLookupError):
                continue
            state, parent = stat[stat.rindex(")") + 2:].split()[:2]
            if state == "Z" and int(parent) in parents:
                found.append(pid)
        return found

    def guard(self, argv, *flags, **how):
        return self.guardd.run(argv, "--allow-write", self.ws, "--cd", self.ws, *self.FLAGS, *flags,
                               **how)

    def forker(self, mode, count, *flags):
        return self.guard([guardtest.probe("forker"), mode, str(count), "20", self.marker],
                          "--allow-read", guardtest.PROBES, *flags)

    def shell(self, script, *flags, **how):
        return self.guard(["/bin/sh", "-c", script, self.marker], *flags, **how)

    def test_the_report_of_a_run_names_its_layer(self):
        result = self.shell(":", "--json")
        self.assertEqual(result.rc, 0, result)
        events = {event["event"]: event for event in map(json.loads, result.out.splitlines())}
        lines = {line["name"]: line for line in events["started"]["report"]["protections"]}
        self.assertEqual(lines["tree_kill"]["by"], self.TREE_KILL, lines["tree_kill"])

    def test_bombs_of_three_hundred_end_within_their_second_twenty_times_in_a_row(self):
        seconds = []
        for turn in range(20):
            mode = ("setsid", "daemon")[turn % 2]
            result = self.forker(mode, 300, "--timeout", "1s")
            self.assertEqual(result.rc, guardtest.TIMED_OUT, result)
            seconds.append(result.seconds)
            self.assertEqual(self.survivors(), [], f"turn {turn}, {mode}")
            self.assertTrue(guardtest.alive(self.bystander.pid))
        # The machine may be busy with other things for a moment, but not all the time.
        self.assertTook(statistics.median(seconds), self.PATIENCE)
        self.assertTook(max(seconds), 2 * self.PATIENCE)

    def test_who_outlives_the_program_dies_with_its_result(self):
        result = self.forker("leave", 5)
        self.assertEqual(result.rc, 3, result)
        self.assertEqual(self.survivors(), [])

    def started(self, script, *flags):
        """A run that goes on, and has said "up"."""
        client = guardtest.Popen(
            [guardtest.BIN / "guardctl", "run", *self.FLAGS, *flags, "--", "/bin/sh", "-c", script],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=guardtest.environment(GUARDD_SOCKET=self.guardd.socket))
        self.addCleanup(client.__exit__, None, None, None)
        self.addCleanup(client.kill)
        self.assertEqual(client.stdout.readline(), b"up\n")
        return client

    def monitor(self):
        """Of the one run that has our marker in its environment."""
        parents = [pid for pid in guardtest.descendants(self.guardd.pid)
                   if guardtest.comm(pid) == "guard-monitor"
                   and set(guardtest.descendants(pid))
                   & set(guardtest.processes_with_env_marker(self.marker))]
        self.assertEqual(len(parents), 1)
        return parents[0]

    def test_a_run_whose_launcher_and_monitor_are_killed_dies_and_the_others_live_on(self):
        other = self.started("echo up; read line; echo $line")
        doomed = self.started("setsid sleep 300 & sleep 300 & echo up; wait",
                              "--env", f"MARKER={self.marker}")
        monitor = self.monitor()
        for pid in guardtest.descendants(self.guardd.pid):
            if guardtest.comm(pid) == "guard-launcher":
                os.kill(pid, signal.SIGKILL)
        os.kill(monitor, signal.SIGKILL)
        self.assertEqual(doomed.wait(10), guardtest.GUARD_FAILED)
        self.assertTrue(guardtest.wait_until(
            lambda: not guardtest.processes_with_env_marker(self.marker)))
        other.stdin.write(b"on\n")
        other.stdin.close()
        self.assertEqual((other.stdout.read(), other.wait(10)), (b"on\n", 0))
        # One that died young is started again after a pause.
        self.assertTrue(guardtest.wait_until(lambda: self.shell("echo again").out == "again\n"))

    def test_stopped_processes_die(self):
        result = self.forker("stopped", 20, "--timeout", "0.5s")
        self.assertEqual(result.rc, guardtest.TIMED_OUT, result)

    # D1
    def test_a_loop_through_a_fifo_ends_with_the_limit(self):
        result = self.shell("mkfifo p; (while :; do echo x; sleep .2; done)>p & cat p",
                            "--timeout", "1s")
        self.assertEqual(result.rc, guardtest.TIMED_OUT, result)
        self.assertIn("x\n", result.out)
        self.assertTook(result.seconds, 2 * self.PATIENCE)

    # D2
    def test_an_output_replaced_by_a_pipe_is_kept_and_ends(self):
        for _ in range(10):
            result = self.guard(["/bin/bash", "-c", "exec > >(cat); echo hi", self.marker])
            if guardtest.SLOW > 1 and "outlived" in result.err:
                continue  # cat has half a second to end by itself, however slow the machine is
            self.assertRan(result, 0, b"hi\n")
            self.assertNotIn("outlived", result.err)

    # D3, D4
    def test_a_daemon_that_keeps_the_output_open_does_not_keep_the_call(self):
        script = ("import os, sys, time\n"
                  "print('done', flush=True)\n"
                  "if os.fork() == 0:\n"
                  "    os.setsid()\n"
                  "    if os.fork() == 0:\n"
                  "        time.sleep(300)\n"
                  "    os._exit(0)\n"
                  "os.wait()\n")
        result = self.guard([PYTHON, "-c", script, self.marker])
        self.assertRan(result, 0, b"done\n")
        self.assertTook(result.seconds, 20)

    # D5
    def test_a_plain_child_and_one_in_its_own_session_end_alike(self):
        for start in ("", "setsid "):
            result = self.shell(f"{start}sleep 300 & echo ok")
            self.assertRan(result, 0, b"ok\n")

    # D7, D10
    def test_nothing_is_written_after_the_result(self):
        late = self.ws / "late"
        self.assertEqual(self.shell("(setsid sh -c 'sleep 1; echo x > late') & sleep 60",
                                    "--timeout", "0.3s").rc, guardtest.TIMED_OUT)
        log = self.ws / "log"
        self.shell("for i in 1 2 3 4; do setsid sh -c 'while :; do echo x >> log; done' & done;"
                   "sleep 0.3")
        size = log.stat().st_size
        time.sleep(1.2)  # nothing is to happen, so there is nothing to wait for
        self.assertGreater(size, 0)
        self.assertEqual(log.stat().st_size, size)
        self.assertFalse(late.exists())

    # D8
    def test_a_server_of_a_child_is_gone_after_the_limit(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        script = ("import socket, sys, time\n"
                  "s = socket.create_server(('127.0.0.1', int(sys.argv[1])))\n"
                  "print('listening', flush=True)\n"
                  "time.sleep(300)\n")
        result = self.shell(f"setsid {PYTHON} -c \"$1\" {port} & sleep 300".replace("$1", script),
                            "--allow-bind", str(port), "--timeout", "2s")
        self.assertEqual((result.rc, result.out), (guardtest.TIMED_OUT, "listening\n"), result)
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), 1)

    # D16
    def test_orphans_leave_no_zombie(self):
        for _ in range(3):
            self.assertRan(self.shell("for i in $(seq 100); do (true &); done; wait"), 0)
        # The last monitor ends right after its result.
        self.assertTrue(guardtest.wait_until(lambda: not self.zombies(), 2))

    # D39
    def test_four_ways_to_137_are_told_apart(self):
        self.assertEqual(self.shell("exit 137").rc, 137)
        self.assertEqual(self.shell("kill -9 $$").rc, 137)
        self.assertEqual(self.shell("sleep 60", "--timeout", "0.3s").rc, guardtest.TIMED_OUT)

    # D45, D47
    def test_a_run_inherits_no_signal_and_no_descriptor(self):
        status = self.guard(["/bin/cat", "/proc/self/status"], "--allow-read", "/proc").out
        for field in ("SigBlk", "SigIgn", "SigCgt"):
            self.assertIn(f"{field}:\t0000000000000000\n", status)
        listing = self.guard(["/bin/ls", "/proc/self/fd"], "--allow-read", "/proc")
        self.assertRan(listing, 0, b"0\n1\n2\n3\n")  # 3 is what ls reads


class CutOff(Tree):
    """What only a layer that leaves nowhere to go to can do."""

    def test_chains_that_fork_without_end_die(self):
        for _ in range(3):
            result = self.forker("chain", 6, "--timeout", "0.5s")
            self.assertEqual(result.rc, guardtest.TIMED_OUT, result)
            self.assertEqual(self.survivors(), [])


@guardtest.needs_landlock_abi(SCOPE_ABI, "the kill of a domain")
class ByScope(CutOff, guardtest.TestCase):
    TREE_KILL = "landlock"
    ENV, FLAGS = {}, ()
    PATIENCE = 1.5


class ByGroupGate(CutOff, guardtest.TestCase):
    TREE_KILL = "group gate"
    ENV, FLAGS = {"GUARD_LANDLOCK_ABI_MAX": "2"}, ("--best-effort",)
    PATIENCE = 2

    def test_sessions_and_groups_are_made_as_ever(self):
        script = ("set -e -m\n"
                  "setsid -w sh -c 'test $(cut -d\\  -f6 /proc/$$/stat) = $$ && echo session'\n"
                  "sh -c 'test $(cut -d\\  -f5 /proc/$$/stat) = $$ && echo group'\n")
        result = self.guard(["/bin/bash", "-c", script, self.marker], "--allow-read", "/proc")
        self.assertRan(result, 0, b"session\ngroup\n")

    def test_a_shell_that_minds_its_background_jobs_forks_as_ever(self):
        # Its SIGCHLD handler is without SA_RESTART: a fork that waits for an answer would fail.
        script = ("i=0; while [ $i -lt 500 ]; do /bin/true & i=$((i+1)); done; wait; echo all\n")
        self.assertRan(self.shell(script), 0, b"all\n")


class BySweep(Tree, guardtest.TestCase):
    TREE_KILL = "sweeps of /proc"
    ENV, FLAGS = {"GUARD_LANDLOCK_ABI_MAX": "2"}, ("--best-effort",)
    # No user notification, as before Linux 5.0.
    BEFORE = failing_calls.failing(("seccomp", errno.EINVAL, 3))  # SECCOMP_GET_NOTIF_SIZES
    PATIENCE = 2.5  # the walk races against fork


class Unsupervised(guardtest.TestCase):
    """The same programs with nobody who minds them do outlive the usual kill."""

    def test_they_outlive_timeout(self):
        for mode in ("setsid", "daemon"):
            guardtest.unconfined(["/usr/bin/timeout", "-k", "0.1", "2", guardtest.probe("forker"),
                                  mode, "5", "20", self.marker],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            left = guardtest.processes_matching(self.marker)
            for pid in left:
                os.kill(pid, 9)
            self.assertEqual(len(left), 5, mode)
            self.assertTrue(guardtest.wait_until(
                lambda: not guardtest.processes_matching(self.marker)))


if __name__ == "__main__":
    guardtest.main()
