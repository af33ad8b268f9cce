"""Many runs, many callers, much output: one result each, nothing lost, nothing kept."""
import hashlib
import operator
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest  # noqa: E402
from guardgrpc import Client, GrpcTestCase, request  # noqa: E402

MIB = 1 << 20
# Numbered blocks of 1 KiB; the same bytes here for comparison.
BLOCKS = ("import sys\n"
          "for i in range(int(sys.argv[1])):\n"
          "    sys.stdout.buffer.write(b'%1023d\\n' % i)\n")


class Load(GrpcTestCase):
    def state(self):
        return guardtest.held(self.guardd.pid)

    def warm(self):
        for _ in range(4):
            guardtest.at_once(64, lambda _: self.client.run("true"))

    def assertBackAt(self, before, memory_before, limit):
        # Threads of gRPC's pool end a while after the load.
        self.assertTrue(guardtest.wait_until(lambda: all(map(operator.le, self.state(), before)), 60),
                        (before, self.state()))
        self.assertGrewLess(guardtest.resident(self.guardd.pid) - memory_before, limit)

    def test_ten_thousand_runs_through_one_channel(self):
        self.warm()
        before, memory = self.state(), guardtest.resident(self.guardd.pid)
        ids = set()
        for _ in range(10_000):
            outcome = self.client.run("/bin/true")
            self.assertEqual((outcome.order, outcome.code), (["started", "finished"], 0))
            ids.add(outcome.run_id)
        self.assertEqual(len(ids), 10_000)
        self.assertBackAt(before, memory, 32 * MIB)

    def test_sixty_four_clients_at_once(self):
        self.warm()
        before, memory = self.state(), guardtest.resident(self.guardd.pid)

        def caller(number):
            with Client(self.guardd.socket) as client:
                ids = []
                for turn in range(20):
                    code = (number + turn) % 200
                    outcome = client.run("sh", "-c", f"echo {number}; exit {code}")
                    if (outcome.code, outcome.stdout) != (code, b"%d\n" % number):
                        raise AssertionError((number, turn, outcome))
                    ids.append(outcome.run_id)
                return ids

        ids = [each for all_of_one in guardtest.at_once(64, caller) for each in all_of_one]
        self.assertEqual(len(set(ids)), 64 * 20)
        self.assertBackAt(before, memory, 32 * MIB)

    def test_two_hundred_megabytes_through_a_slow_reader(self):
        before, most = guardtest.resident(self.guardd.pid), 0
        expected = hashlib.sha256()
        for i in range(200 * 1024):
            expected.update(b"%1023d\n" % i)
        got, bytes_read, finished = hashlib.sha256(), 0, None
        message = request(guardtest.PYTHON, "-c", BLOCKS, str(200 * 1024))
        for number, event in enumerate(self.client.call(message, timeout=600)):
            if event.WhichOneof("event") == "output":
                self.assertEqual(event.output.offset, bytes_read)
                got.update(event.output.data)
                bytes_read += len(event.output.data)
            elif event.WhichOneof("event") == "finished":
                finished = event.finished
            if number % 50 == 0:
                time.sleep(0.02)  # the reader is slow; nothing is awaited here
                most = max(most, guardtest.resident(self.guardd.pid))
        self.assertEqual(got.hexdigest(), expected.hexdigest())
        self.assertEqual(finished.streams[0].bytes, bytes_read)
        self.assertGrewLess(most - before, 16 * MIB)

    def test_a_stopped_client_harms_nobody_else(self):
        script = ("import sys; sys.path.insert(0, %r)\n"
                  "import guardgrpc\n"
                  "client = guardgrpc.Client(sys.argv[1])\n"
                  "call = client.call(guardgrpc.request('cat', '/dev/zero'), timeout=600)\n"
                  "guardgrpc.first(call, 'started')\n"
                  "print('started', flush=True)\n"
                  "for _ in call: pass\n") % str(guardtest.SOURCE / "tests/support")
        self.warm()
        memory = guardtest.resident(self.guardd.pid)
        with guardtest.Popen([guardtest.PYTHON, "-B", "-c", script, self.guardd.socket],
                             stdout=guardtest.subprocess.PIPE,
                             env=guardtest.environment(GUARD_SOURCE_DIR=guardtest.SOURCE)) as stopped:
            self.assertEqual(stopped.stdout.readline(), b"started\n")
            stopped.send_signal(signal.SIGSTOP)
            for _ in range(500):
                self.assertEqual(self.client.run("true").code, 0)
            self.assertGrewLess(guardtest.resident(self.guardd.pid) - memory, 16 * MIB)
            stopped.kill()
        self.assertTrue(guardtest.wait_until(
            lambda: not guardtest.processes_with_env_marker(self.marker), 5))


if __name__ == "__main__":
    guardtest.main()
