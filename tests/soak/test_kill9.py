"""kill -9 by the hundred, of whatever guardd consists of, while it works: nobody of a run survives a
second, no result is lost, invented or given twice, and nothing is kept."""
import operator
import os
import pathlib
import random
import signal
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest  # noqa: E402
import grpc  # noqa: E402
from guardgrpc import Client, Outcome, request, run_pb2  # noqa: E402

SEED = int(os.environ.get("GUARD_SOAK_SEED") or time.time())
SCRIPTS = ("exit 7", "echo out; exit 7", "sleep 0.05; exit 7", "setsid sleep 300 & exit 7",
           "(setsid sleep 300 &); sleep 0.1; exit 7", "(sleep 300 & sleep 300) & sleep 0.02; exit 7")
# What a caller may be told of a run whose monitor was killed, and of one that never began.
LOST = run_pb2.REASON_SUPERVISOR_LOST
MAY_BE_REFUSED = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED)


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
        return True
    except ProcessLookupError:
        return False


class Callers:
    """Threads that run scripts until they are told to stop, and keep what was wrong."""

    def __init__(self, count, socket, marker, seed):
        self.socket, self.marker = socket, marker
        self.stop, self.wrong, self.told = threading.Event(), [], {}
        self.threads = [threading.Thread(target=self._work, args=(random.Random(f"{seed}-{i}"),))
                        for i in range(count)]
        for thread in self.threads:
            thread.start()

    def _work(self, dice):
        with Client(self.socket) as client:
            while not self.stop.is_set():
                message = request("sh", "-c", dice.choice(SCRIPTS), env={"MARKER": self.marker})
                try:
                    self._take(client, message)
                except AssertionError as error:  # an order of events that cannot be
                    self.wrong.append(repr(error))

    def _take(self, client, message):
        outcome = Outcome()
        try:
            for event in client.call(message):
                outcome.take(event)
            told = outcome.reason if outcome.finished is not None else "NOTHING"
            if told == "EXITED" and outcome.finished.exit_code != 7 or told == "NOTHING":
                self.wrong.append(repr(outcome))
        except grpc.RpcError as error:
            told = error.code().name
            if error.code() not in MAY_BE_REFUSED or outcome.finished is not None:
                self.wrong.append(f"{error} after {outcome}")
        self.told[told] = self.told.get(told, 0) + 1

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join(60)
        return not any(thread.is_alive() for thread in self.threads)


class Kill9(guardtest.TestCase):
    def setUp(self):
        super().setUp()
        print(f"GUARD_SOAK_SEED={SEED}", file=sys.stderr)
        self.dice = random.Random(SEED)
        self.guardd = self.start_daemon()

    def gone(self, seconds=1.0):
        return guardtest.wait_until(
            lambda: not guardtest.processes_with_env_marker(self.marker), seconds)

    def serves(self):
        with Client(self.guardd.socket) as client:
            try:
                return client.run("echo", "on").stdout == b"on\n"
            except grpc.RpcError as error:
                self.assertIn(error.code(), MAY_BE_REFUSED)
        return False

    def survivors(self):
        """Those of the runs that live: pid, name, parent, session."""
        found = []
        for pid in guardtest.processes_with_env_marker(self.marker):
            if stat := guardtest._stat(pid):
                found.append((pid, guardtest.comm(pid), guardtest.comm(int(stat[1])), int(stat[3])))
        return found

    def state(self):
        return guardtest.held(self.guardd.pid)

    def zombies(self):
        parents = {self.guardd.pid, *guardtest.descendants(self.guardd.pid)}
        return [pid for pid in guardtest.all_pids()
                if (stat := guardtest._stat(pid)) and stat[0] == b"Z" and int(stat[1]) in parents]

    def named(self, name):
        return [pid for pid in guardtest.descendants(self.guardd.pid)
                if guardtest.comm(pid) == name]

    def kill_under_load(self, monitors, launchers):
        callers = Callers(8, self.guardd.socket, self.marker, self.dice.random())
        left = {"guard-monitor": monitors, "guard-launcher": launchers}
        while any(left.values()):
            name = self.dice.choice([name for name, count in left.items() if count])
            pids = self.named(name)
            if pids and kill(self.dice.choice(pids)):
                left[name] -= 1
            time.sleep(self.dice.uniform(0, 0.05))  # the moment is random, nothing is awaited
        self.assertTrue(callers.end(), "a caller hangs")
        print(f"told: {callers.told}", file=sys.stderr)
        self.assertEqual(callers.wrong, [])
        self.assertGreater(callers.told["EXITED"], monitors)
        self.assertTrue(self.gone(), self.survivors())
        self.assertTrue(guardtest.wait_until(self.serves, 5), "no launcher comes back")

    def test_monitors_and_launchers_under_load(self):
        # The first round is the start: gRPC makes as many threads as the load takes.
        self.kill_under_load(20, 10)
        before, memory = self.state(), guardtest.resident(self.guardd.pid)
        self.kill_under_load(200, 100)
        self.assertTrue(guardtest.wait_until(
            lambda: all(map(operator.le, self.state(), before)), 60), (before, self.state()))
        self.assertTrue(guardtest.wait_until(lambda: not self.zombies(), 5))
        self.assertGrewLess(guardtest.resident(self.guardd.pid) - memory, 32 << 20)

    def test_guardd_at_any_moment(self):
        for turn in range(100):
            callers = Callers(4, self.guardd.socket, self.marker, f"{SEED}-{turn}")
            helpers = guardtest.descendants(self.guardd.pid)
            time.sleep(self.dice.uniform(0, 0.2))  # the moment is random, nothing is awaited
            self.guardd.kill()
            self.assertTrue(self.gone(), f"turn {turn}")
            self.assertTrue(guardtest.wait_until(
                lambda: not any(guardtest.alive(pid) for pid in helpers), 1), "helpers live on")
            self.assertTrue(callers.end(), "a caller hangs")
            self.assertEqual(callers.wrong, [])
            self.guardd = self.start_daemon()


if __name__ == "__main__":
    guardtest.main()
