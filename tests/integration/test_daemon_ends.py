"""How runs end when they do not end by themselves, and that nothing of them is left."""
import operator
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest  # noqa: E402
import grpc  # noqa: E402
from guardgrpc import Client, GrpcTestCase, Inputs, Outcome, first, request, run_pb2, start  # noqa: E402

TREE = "setsid sleep 300 & (sleep 300 &) ; sleep 300; :"


class Ends(GrpcTestCase):
    def gone(self, seconds=1.0):
        """Every process of the test's runs has ended within `seconds`."""
        return guardtest.wait_until(
            lambda: not guardtest.processes_with_env_marker(self.marker), seconds)

    def tree(self, script=TREE, **fields):
        return request("sh", "-c", script, env={"MARKER": self.marker}, **fields)

    def started(self, client, message):
        call = client.call(message)
        first(call, "started")
        return call

    def test_a_timeout_gives_its_grace(self):
        script = "trap 'echo term; exit 9' TERM; echo up; while :; do sleep 0.02; done"
        outcome = self.client.run("sh", "-c", script, wall=0.4, grace=5)
        self.assertEqual((outcome.reason, outcome.code), ("TIMEOUT", 9))
        self.assertEqual(outcome.stdout, b"up\nterm\n")

    def test_a_timeout_kills_who_ignores_the_grace(self):
        began = time.monotonic()
        outcome = self.client.run_request(self.tree("trap '' TERM; " + TREE, wall=0.3, grace=0.2))
        self.assertEqual(outcome.reason, "TIMEOUT")
        self.assertEqual(outcome.finished.signal, signal.SIGKILL)
        self.assertTook(time.monotonic() - began, 2)
        self.assertTrue(self.gone(0))

    def test_when_the_result_comes_nothing_lives(self):
        outcome = self.client.run_request(self.tree("setsid sleep 300 & (sleep 300 &); exit 0"))
        self.assertTrue(self.gone(0), "the result came before the end")
        self.assertEqual(outcome.reason, "EXITED")
        self.assertGreaterEqual(outcome.finished.killed, 1)

    def test_cancelling_kills_the_run(self):
        call = self.started(self.client, self.tree())
        self.assertFalse(self.gone(0))
        call.cancel()
        self.assertTrue(self.gone())

    def test_the_callers_deadline_kills_the_run(self):
        with self.assertRefused("DEADLINE_EXCEEDED"):
            for _ in self.client.call(self.tree(), timeout=0.5):
                pass
        self.assertTrue(self.gone())

    def test_a_client_that_is_killed_takes_its_run_with_it(self):
        script = ("import sys; sys.path[:0] = [%r, %r]\n"
                  "import guardgrpc\n"
                  "client = guardgrpc.Client(sys.argv[1])\n"
                  "message = guardgrpc.request('sh', '-c', sys.argv[2], env={'MARKER': sys.argv[3]})\n"
                  "call = client.call(message)\n"
                  "guardgrpc.first(call, 'started')\n"
                  "print('started', flush=True)\n"
                  "list(call)\n") % (str(guardtest.SOURCE / "tests/support"), "")
        with guardtest.Popen([guardtest.PYTHON, "-B", "-c", script, self.guardd.socket, TREE,
                               self.marker], stdout=subprocess.PIPE,
                              env=guardtest.environment(GUARD_SOURCE_DIR=guardtest.SOURCE)) as client:
            self.assertEqual(client.stdout.readline(), b"started\n")
            self.assertFalse(self.gone(0))
            client.kill()
            self.assertTrue(self.gone())

    def test_cancelled_between_accept_and_started_nothing_leaks(self):
        for i in range(100):
            call = self.client.call(self.tree("sleep 60"))
            time.sleep(0.0002 * (i % 20))  # the moments to hit, 0 to 4 ms after the call
            call.cancel()
        self.assertTrue(self.gone(3))
        self.assertEqual(self.client.run("echo", "on").stdout, b"on\n")

    def test_a_lost_monitor_is_told_and_its_run_is_killed(self):
        call = self.started(self.client, self.tree())
        monitors = [pid for pid in guardtest.descendants(self.guardd.pid)
                    if guardtest.comm(pid) == "guard-monitor"
                    and any(child in guardtest.processes_with_env_marker(self.marker)
                            for child in guardtest.descendants(pid))]
        self.assertEqual(len(monitors), 1)
        os.kill(monitors[0], signal.SIGKILL)
        finished = first(call, "finished")
        self.assertEqual(run_pb2.Reason.Name(finished.reason), "REASON_SUPERVISOR_LOST")
        self.assertIn("monitor", finished.detail)
        self.assertTrue(self.gone())


class OwnDaemon(guardtest.TestCase):
    """What needs a guardd of its own, because it ends or is hurt."""

    gone = Ends.gone
    tree = Ends.tree

    def setUp(self):
        super().setUp()
        self.guardd = self.start_daemon()
        self.client = Client(self.guardd.socket)
        self.addCleanup(self.client.channel.close)

    def launcher(self):
        found = [pid for pid in guardtest.descendants(self.guardd.pid)
                 if guardtest.comm(pid) == "guard-launcher"]
        self.assertEqual(len(found), 1)
        return found[0]

    def test_kill_9_of_guardd_takes_every_run_with_it(self):
        calls = [self.client.call(self.tree()) for _ in range(4)]
        for call in calls:
            first(call, "started")
        helpers = guardtest.descendants(self.guardd.pid)
        self.guardd.kill()
        self.assertTrue(self.gone())
        self.assertTrue(guardtest.wait_until(
            lambda: not any(guardtest.alive(pid) for pid in helpers), 2), "helpers live on")
        for call in calls:
            with self.assertRaises(grpc.RpcError) as caught:
                list(call)
            self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAVAILABLE)

    def test_sigterm_ends_runs_with_a_result_and_exit_code_0(self):
        calls = [self.client.call(self.tree()) for _ in range(8)]
        for call in calls:
            first(call, "started")
        self.guardd.process.terminate()
        for call in calls:
            finished = first(call, "finished")
            self.assertEqual(run_pb2.Reason.Name(finished.reason), "REASON_DAEMON_SHUTDOWN")
        self.assertEqual(self.guardd.process.wait(10), 0)
        self.assertTrue(self.gone(0))
        self.assertFalse(self.guardd.socket.exists())

    def test_while_it_drains_new_runs_are_refused_and_health_says_so(self):
        script = "trap '' TERM; echo up; while :; do sleep 0.05; done"
        call = self.client.call(self.tree(script, grace=1.5))
        first(call, "output")
        self.guardd.process.terminate()
        self.assertTrue(guardtest.wait_until(lambda: self.client.health() == 2))
        with self.assertRaises(grpc.RpcError) as caught:
            self.client.run("true")
        self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAVAILABLE)
        self.assertIn("shutting down", caught.exception.details())
        self.assertEqual(first(call, "finished").reason, run_pb2.REASON_DAEMON_SHUTDOWN)
        self.assertEqual(self.guardd.process.wait(10), 0)

    def test_a_second_signal_ends_it_at_once(self):
        call = self.client.call(self.tree("trap '' TERM; echo up; while :; do sleep 0.05; done",
                                          grace=30))
        first(call, "output")
        self.guardd.process.terminate()
        self.assertTrue(guardtest.wait_until(lambda: "ending" in self.guardd.log()))
        self.guardd.process.terminate()
        self.assertEqual(self.guardd.process.wait(2), 0)
        self.assertTrue(self.gone())

    def test_a_client_that_does_not_read_does_not_keep_it(self):
        call = self.client.call(self.tree("yes"))
        first(call, "output")
        self.assertEqual(self.guardd.stop(), 0)
        self.assertTrue(self.gone())
        call.cancel()

    def test_the_launchers_death_costs_new_runs_for_a_moment_only(self):
        inputs = Inputs(start("sh", "-c", "echo up; read x; echo $x", env={"MARKER": self.marker}))
        call = self.client.stream(inputs)
        first(call, "output")
        before = self.launcher()
        os.kill(before, signal.SIGKILL)

        def again():
            try:
                return self.client.run("echo", "on").stdout == b"on\n"
            except grpc.RpcError as error:
                self.assertEqual(error.code(), grpc.StatusCode.UNAVAILABLE)
                return False

        self.assertTrue(guardtest.wait_until(again, 3))
        self.assertNotEqual(self.launcher(), before)
        inputs.send(run_pb2.RunInput(stdin=b"still here\n"))
        self.assertEqual(first(call, "output").data, b"still here\n")
        self.assertEqual(first(call, "finished").exit_code, 0)
        inputs.end()

    def test_it_ends_when_it_was_idle_for_long_enough(self):
        daemon = guardtest.Daemon(self.work / "idle", "--idle-exit", "300ms")
        self.addCleanup(daemon.stop)
        with Client(daemon.socket) as client:
            # Longer than the idle time: it is not idle while a run lives.
            self.assertEqual(client.run("sleep", "0.7").code, 0)
        self.assertEqual(daemon.process.wait(10), 0)
        self.assertFalse(daemon.socket.exists())

    def test_nothing_of_a_thousand_runs_stays(self):
        def state():
            return guardtest.held(self.guardd.pid)

        for _ in range(100):  # warm: pools, caches, gRPC's threads
            self.client.run("true")
        before, memory_before = state(), guardtest.resident(self.guardd.pid)
        for _ in range(1000):
            outcome = self.client.run("/bin/true")
            self.assertEqual((outcome.order, outcome.code), (["started", "finished"], 0))
        self.assertTrue(guardtest.wait_until(lambda: all(map(operator.le, state(), before)), 5),
                        (before, state()))
        self.assertGrewLess(guardtest.resident(self.guardd.pid) - memory_before, 8 << 20)
        zombies = [pid for pid in guardtest.all_pids()
                   if (stat := guardtest._stat(pid)) and int(stat[1]) == self.guardd.pid
                   and stat[0] == b"Z"]
        self.assertEqual(zombies, [])

    def test_sixty_four_parallel_runs_have_one_result_each(self):
        calls = [self.client.call(request("sh", "-c", f"echo {i}; exit {i}")) for i in range(64)]
        for i, call in enumerate(calls):
            outcome = Outcome()
            for event in call:
                outcome.take(event)
            self.assertEqual((outcome.code, outcome.stdout), (i, b"%d\n" % i))

    def test_beyond_its_limit_runs_are_refused_and_later_taken(self):
        calls = [self.client.call(self.tree("echo up; sleep 300")) for _ in range(256)]
        for call in calls:
            first(call, "started")
        with self.assertRaises(grpc.RpcError) as caught:
            self.client.run("true")
        self.assertEqual(caught.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
        calls.pop().cancel()

        def taken():
            try:
                return self.client.run("true").code == 0
            except grpc.RpcError:
                return False

        self.assertTrue(guardtest.wait_until(taken, 5))
        for call in calls:
            call.cancel()
        self.assertTrue(self.gone(10))


if __name__ == "__main__":
    guardtest.main()
