"""Runs as other tools have got them wrong: timers that stay, slots that are not given back, callers
that vanish, and the daemon's own state that leaks into a run."""
import contextlib
import os
import pathlib
import pty
import signal
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest  # noqa: E402
from guardgrpc import Client, GrpcTestCase, Outcome, first, request  # noqa: E402

GUARDCTL = guardtest.BIN / "guardctl"

# Three generations, each in a session of its own, that nothing but a kill ends.
GENERATIONS = "setsid sh -c 'setsid sh -c \"echo up; sleep 300; :\" & sleep 300; :' & sleep 300"


def state(pid):
    """What a process holds: descriptors, threads, children of all generations."""
    root = pathlib.Path(f"/proc/{pid}")
    return len(os.listdir(root / "fd")), len(os.listdir(root / "task")), len(guardtest.descendants(pid))


class Lives(GrpcTestCase):
    def test_a_long_limit_of_a_short_run_leaves_no_timer_behind(self):
        for _ in range(50):  # warm: pools, caches, gRPC's threads
            self.client.run("true", wall=3600)
        before = state(self.guardd.pid)
        for _ in range(500):
            outcome = self.client.run("true", wall=3600)
            self.assertEqual((outcome.order, outcome.reason), (["started", "finished"], "EXITED"))
        self.assertTrue(guardtest.wait_until(lambda: state(self.guardd.pid) <= before),
                        (before, state(self.guardd.pid)))

    def test_a_run_outlives_the_thread_that_asked_for_it(self):
        calls = []

        def ask():
            call = self.client.call(request("sh", "-c", "sleep 0.5; exit 7"))
            first(call, "started")
            calls.append(call)

        asker = threading.Thread(target=ask)
        asker.start()
        asker.join(30)
        self.assertFalse(asker.is_alive())
        finished = first(calls[0], "finished")
        self.assertEqual(finished.exit_code, 7)

    def test_small_writes_arrive_every_time(self):
        for turn in range(20):
            outcome = self.client.run("dd", "if=/dev/zero", "bs=1", "count=5000", "status=none")
            self.assertEqual((outcome.code, len(outcome.stdout)), (0, 5000), f"turn {turn}")
            self.assertEqual(outcome.finished.streams[0].bytes, 5000)
            self.assertFalse(outcome.finished.streams[0].truncated)


class Slots(GrpcTestCase):
    """A limit of processes is one of those that live at once, not of a lifetime's."""

    WAYS = {
        "waited for": "pid = os.fork()\n    if pid == 0: os._exit(0)\n    os.waitpid(pid, 0)",
        "polled for": ("pid = os.fork()\n    if pid == 0: os._exit(0)\n"
                       "    while os.waitpid(pid, os.WNOHANG) == (0, 0): pass"),
        # The pipe ends when the grandchild has.
        "orphaned": ("r, w = os.pipe()\n    pid = os.fork()\n"
                     "    if pid == 0:\n        if os.fork(): os._exit(0)\n        os._exit(0)\n"
                     "    os.close(w)\n    os.waitpid(pid, 0)\n    os.read(r, 1)\n    os.close(r)"),
    }

    def run_python(self, script, processes):
        message = request(guardtest.PYTHON, "-c", "import os, signal\n" + script)
        message.policy.limits.processes = processes
        return self.client.run_request(message)

    def test_slots_of_those_that_ended_are_given_back(self):
        for name, way in self.WAYS.items():
            outcome = self.run_python(f"for _ in range(120):\n    {way}\nprint('ok')", 50)
            self.assertEqual(outcome.stdout, b"ok\n", (name, outcome))

    def test_those_that_live_are_counted(self):
        script = ("got = 0\n"
                  "try:\n"
                  "    for _ in range(int(%d)):\n"
                  "        pid = os.fork()\n"
                  "        if pid == 0: signal.pause()\n"
                  "        got += 1\n"
                  "except BlockingIOError: pass\n"
                  "print(got)")
        self.assertEqual(self.run_python(script % 40, 100).stdout, b"40\n")
        # The kernel counts the user's other processes too, so how many is not to the number.
        got = int(self.run_python(script % 40, 10).stdout)
        self.assertLess(got, 20)


class Vanishing(guardtest.DaemonTestCase):
    """Callers that go away in the ways that callers have."""

    def client(self, script, *flags, **how):
        process = guardtest.Popen(
            [GUARDCTL, "run", "--env", f"MARKER={self.marker}", *flags, "--", "sh", "-c", script],
            env=guardtest.environment(GUARDD_SOCKET=self.guardd.socket),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)

        def end():
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
            process.kill()
            process.communicate()

        self.addCleanup(end)
        self.assertEqual(process.stdout.readline(), b"up\n")
        return process

    def alive(self):
        """Those of the run, not the client, whose arguments have the marker too."""
        return guardtest.processes_with_env_marker(f"MARKER={self.marker}")

    def test_a_killed_client_takes_three_generations_with_it_at_once(self):
        seconds = []
        for _ in range(7):
            client = self.client(GENERATIONS)
            self.assertGreaterEqual(len(self.alive()), 5)
            client.kill()
            began = time.monotonic()
            self.assertTrue(guardtest.wait_until(lambda: not self.alive()))
            seconds.append(time.monotonic() - began)
        # Polled through all of /proc, on a machine that may be busy.
        self.assertTook(statistics.median(seconds), 0.5)

    def test_a_stopped_client_does_not_stop_the_wall_limit(self):
        client = self.client(GENERATIONS, "--timeout", "1s")
        client.send_signal(signal.SIGSTOP)
        self.assertTrue(guardtest.wait_until(lambda: not self.alive(), 10))
        client.send_signal(signal.SIGCONT)
        self.assertEqual(client.wait(20), guardtest.TIMED_OUT)

    def test_a_closed_terminal_ends_the_run(self):
        environment = guardtest.environment(GUARDD_SOCKET=self.guardd.socket, TERM="dumb")
        pid, terminal = pty.fork()
        if pid == 0:
            try:
                os.execve(GUARDCTL, ["guardctl", "run", "--env", f"MARKER={self.marker}", "--",
                                     "sh", "-c", "echo up; sleep 300; :"], environment)
            finally:
                os._exit(99)
        shown = b""
        while b"up" not in shown:
            shown += os.read(terminal, 4096)
        self.assertTrue(self.alive())
        os.close(terminal)
        self.assertTrue(guardtest.wait_until(lambda: not self.alive()))
        self.assertTrue(guardtest.wait_until(lambda: os.waitpid(pid, os.WNOHANG)[0] == pid))


class OwnDaemon(guardtest.TestCase):
    def alive(self):
        return guardtest.processes_with_env_marker(f"MARKER={self.marker}")

    def ask(self, client, script=GENERATIONS):
        return client.call(request("sh", "-c", script, env={"MARKER": self.marker}))

    def test_guardd_killed_around_a_start_leaves_nothing(self):
        for turn in range(12):
            guardd = self.start_daemon()
            with Client(guardd.socket) as client:
                client.health()  # connected, so that the call is under way at once
                calls = [self.ask(client) for _ in range(3)]
                time.sleep(0.001 * (turn % 4))  # the moments to hit, 0 to 3 ms after the call
                guardd.kill()
                self.assertTrue(guardtest.wait_until(lambda: not self.alive(), 2), f"turn {turn}")
                for call in calls:
                    call.cancel()

    def test_three_generations_die_with_guardd(self):
        guardd = self.start_daemon()
        with Client(guardd.socket) as client:
            call = self.ask(client)
            self.assertEqual(first(call, "output").data, b"up\n")
            self.assertGreaterEqual(len(self.alive()), 5)
            guardd.kill()
            self.assertTrue(guardtest.wait_until(lambda: not self.alive(), 2))

    def test_twenty_clients_of_a_guardd_that_ends_are_told_so_and_get_no_made_up_code(self):
        guardd = self.start_daemon()
        clients = [guardtest.Popen([GUARDCTL, "run", "--", "sh", "-c", "echo up; exec sleep 300"],
                                   env=guardtest.environment(GUARDD_SOCKET=guardd.socket),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE) for _ in range(20)]
        try:
            for client in clients:
                self.assertEqual(client.stdout.readline(), b"up\n")
            guardd.process.terminate()
            for client in clients:
                _, told = client.communicate(timeout=30 * guardtest.SLOW)
                self.assertEqual((client.returncode, b"shut down" in told),
                                 (guardtest.GUARD_FAILED, True), told)
        finally:
            for client in clients:
                client.kill()
                client.communicate()
        self.assertEqual(guardd.process.wait(15), 0)

    def test_a_run_has_not_the_umask_of_guardd(self):
        before = os.umask(0)
        try:
            guardd = self.start_daemon()
        finally:
            os.umask(before)
        with Client(guardd.socket) as client:
            outcome = Outcome()
            for event in client.call(request("sh", "-c", "umask; touch f; stat -c %a f",
                                             cwd=os.fsencode(self.ws), write=[self.ws])):
                outcome.take(event)
        self.assertEqual(outcome.stdout, b"0022\n644\n", outcome)


if __name__ == "__main__":
    guardtest.main()
