"""Output of runs: whole, in order, bounded in memory, and back-pressure to the program."""
import hashlib
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest  # noqa: E402
from guardgrpc import GrpcTestCase, Inputs, Outcome, STDERR, STDOUT, first, request, start, stdin  # noqa: E402

MIB = 1 << 20


# Writes N numbered blocks of 1 KiB to a stream; the same bytes here for comparison.
BLOCKS = ("import sys\n"
          "out = open(int(sys.argv[1]), 'wb', closefd=False)\n"
          "for i in range(int(sys.argv[2])):\n"
          "    out.write(b'%1023d\\n' % i)\n")


def blocks(count):
    return b"".join(b"%1023d\n" % i for i in range(count))


class Output(GrpcTestCase):
    def test_ten_megabytes_on_both_streams_at_once_arrive_whole(self):
        script = (f"{guardtest.PYTHON} -c \"$1\" 2 10240 & {guardtest.PYTHON} -c \"$1\" 1 10240; "
                  "wait")
        outcome = self.client.run("sh", "-c", script, "sh", BLOCKS)
        self.assertEqual(outcome.code, 0, outcome.finished)
        expected = hashlib.sha256(blocks(10240)).hexdigest()
        for stream in (STDOUT, STDERR):
            self.assertEqual(hashlib.sha256(outcome.streams[stream]).hexdigest(), expected)
        self.assertEqual([total.bytes for total in outcome.finished.streams], [10 * MIB] * 2)
        self.assertFalse(any(total.truncated for total in outcome.finished.streams))

    def test_a_slow_reader_gets_every_byte_and_guardd_does_not_grow(self):
        self.client.run("true")
        before = guardtest.resident(self.guardd.pid)
        outcome, most = Outcome(), 0
        for number, event in enumerate(
                self.client.call(request(guardtest.PYTHON, "-c", BLOCKS, "1", "51200"))):
            outcome.take(event)
            if number % 20 == 0:
                time.sleep(0.01)  # the reader is slow; nothing is awaited here
                most = max(most, guardtest.resident(self.guardd.pid))
        self.assertEqual(hashlib.sha256(outcome.stdout).hexdigest(),
                         hashlib.sha256(blocks(51200)).hexdigest())
        self.assertGrewLess(most - before, 16 * MIB)

    def test_a_client_that_does_not_read_blocks_the_program_and_nobody_else(self):
        before = guardtest.resident(self.guardd.pid)
        progress = self.ws / "progress"
        script = ("import sys\n"
                  "log = open(sys.argv[1], 'w')\n"
                  "for i in range(2048):\n"
                  "    sys.stdout.buffer.write(b'x' * 1048576)\n"
                  "    log.seek(0); log.write(str(i)); log.flush()\n")
        call = self.client.call(request(guardtest.PYTHON, "-c", script, str(progress),
                                        write=[self.ws]))
        first(call, "started")
        self.assertTrue(guardtest.wait_until(lambda: progress.exists() and progress.read_text()))

        def standing_still():
            seen = progress.read_text()
            time.sleep(0.3)  # that nothing moves is no event
            return seen == progress.read_text()

        self.assertTrue(guardtest.wait_until(standing_still, 10))
        self.assertLess(int(progress.read_text()), 64)
        self.assertGrewLess(guardtest.resident(self.guardd.pid) - before, 16 * MIB)
        self.assertEqual(self.client.run("echo", "hi").stdout, b"hi\n")
        call.cancel()

    def test_a_client_that_does_not_read_does_not_stop_the_wall_limit(self):
        call = self.client.call(request("sh", "-c", "yes; true", self.marker, wall=0.5))
        first(call, "started")
        self.assertTrue(guardtest.wait_until(
            lambda: not guardtest.processes_matching(self.marker), 5))
        self.assertEqual(first(call, "finished").reason, 3)  # TIMEOUT, when it reads again

    def test_the_window_is_empty_when_the_program_ends_and_nothing_is_lost(self):
        outcome = Outcome()
        for event in self.client.call(request("sh", "-c", "head -c 70000 /dev/zero; echo end >&2")):
            if event.WhichOneof("event") == "started":
                time.sleep(0.2)  # a reader that is late; nothing is awaited
            outcome.take(event)
        self.assertEqual((len(outcome.stdout), outcome.stderr), (70000, b"end\n"))

    def test_many_small_writes_arrive(self):
        outcome = self.client.run("dd", "if=/dev/zero", "bs=1", "count=50000", "status=none")
        self.assertEqual(len(outcome.stdout), 50000)

    def test_output_before_a_timeout_is_delivered(self):
        outcome = self.client.run("sh", "-c", "printf partial; sleep 60", wall=0.3)
        self.assertEqual((outcome.reason, outcome.stdout), ("TIMEOUT", b"partial"))

    def test_the_output_limit_delivers_up_to_it_and_kills(self):
        message = request("sh", "-c", "yes; sleep 60")
        message.policy.limits.output_bytes = 100_000
        outcome = self.client.run_request(message)
        self.assertEqual(outcome.reason, "OUTPUT_LIMIT")
        self.assertEqual(outcome.stdout, b"y\n" * 50_000)
        totals = {total.stream: total for total in outcome.finished.streams}
        self.assertTrue(totals[STDOUT].truncated)
        self.assertGreater(totals[STDOUT].bytes, 100_000)
        self.assertFalse(totals[STDERR].truncated)

    def test_output_of_exactly_the_limit_is_fine(self):
        message = request("head", "-c", "100000", "/dev/zero")
        message.policy.limits.output_bytes = 100_000
        outcome = self.client.run_request(message)
        self.assertEqual((outcome.reason, len(outcome.stdout)), ("EXITED", 100_000))

    def test_a_grandchild_that_keeps_the_pipe_does_not_keep_the_call(self):
        for script in ("sleep 300 & echo ok", "setsid sleep 300 & echo ok"):
            with self.subTest(script):
                began = time.monotonic()
                outcome = self.client.run("bash", "-c", script)
                self.assertEqual((outcome.stdout, outcome.code), (b"ok\n", 0))
                self.assertTook(time.monotonic() - began, 3)


class Input(GrpcTestCase):
    def test_input_and_output_together_through_small_pipes(self):
        data = blocks(4096)
        pieces = [stdin(data[at:at + 100_000]) for at in range(0, len(data), 100_000)]
        outcome = self.client.run_stream([start("cat"), *pieces])
        self.assertEqual(hashlib.sha256(outcome.stdout).hexdigest(),
                         hashlib.sha256(data).hexdigest())

    def test_input_that_is_not_read_is_not_stored(self):
        before = guardtest.resident(self.guardd.pid)
        sent = []

        def pieces():
            yield start("sleep", "60")
            for i in range(1024):
                sent.append(i)
                yield stdin(b"x" * (256 * 1024))

        call = self.client.stream(pieces())
        first(call, "started")
        self.assertTrue(guardtest.wait_until(lambda: len(sent) > 4))

        def standing_still():
            seen = len(sent)
            time.sleep(0.3)  # that nothing moves is no event
            return seen == len(sent)

        self.assertTrue(guardtest.wait_until(standing_still, 10))
        self.assertGrewLess(guardtest.resident(self.guardd.pid) - before, 16 * MIB)
        call.cancel()


if __name__ == "__main__":
    guardtest.main()
