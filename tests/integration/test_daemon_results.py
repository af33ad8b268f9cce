"""Results outlive their runs, and a request that is sent twice runs once."""
import pathlib
import signal
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import grpc  # noqa: E402
import guardtest  # noqa: E402
from guardgrpc import (Client, GrpcTestCase, Inputs, first, guard_pb2, request, run_pb2,  # noqa: E402
                       start)

FINISHED, RUNNING = run_pb2.RUN_STATE_FINISHED, run_pb2.RUN_STATE_RUNNING
# Lives until it is told to end: `go` is a line on its standard input.
WAITS = ("sh", "-c", "echo up; read go; exit $go")


def ending(result):
    kind = result.WhichOneof("ending")
    return kind, getattr(result, kind), run_pb2.Reason.Name(result.reason)


class ResultsTestCase(GrpcTestCase):
    def wait(self, run_id, timeout=20):
        return self.client._unary("Wait", run_pb2.RunRef(run_id=run_id), run_pb2.RunResult,
                                  timeout=timeout)

    def get(self, run_id):
        return self.client.unary("Get", run_pb2.RunRef(run_id=run_id), run_pb2.RunInfo)

    def list(self, finished=True):
        return self.client.unary("List", guard_pb2.ListRequest(include_finished=finished),
                                 guard_pb2.ListReply)

    def signal(self, run_id, number):
        self.client.unary("Signal", guard_pb2.SignalRequest(run_id=run_id, signal=number),
                          guard_pb2.SignalReply)

    def waiting(self, run_id):
        """A Wait that has not been answered yet."""
        call = self.client.channel.unary_unary(
            "/guard.v1.Guard/Wait", request_serializer=run_pb2.RunRef.SerializeToString,
            response_deserializer=run_pb2.RunResult.FromString)
        return call.future(run_pb2.RunRef(run_id=run_id), timeout=60)

    def live(self, *args, **fields):
        """A RunStream that has begun, and what steers it."""
        inputs = Inputs(start(*args, **fields))
        self.addCleanup(inputs.end)
        call = self.client.stream(inputs)
        self.addCleanup(call.cancel)
        first(call, "output")
        return call, inputs


class Wait(ResultsTestCase):
    def test_the_result_of_a_run_that_ended_is_kept(self):
        outcome = self.client.run("sh", "-c", "exit 7")
        self.assertEqual(self.wait(outcome.run_id), outcome.finished)
        self.assertEqual(self.wait(outcome.run_id), outcome.finished, "also a second time")

    def test_endings_that_look_alike_stay_apart(self):
        endings = {}
        for name, fields in {"exit 137": {}, "kill -9 $$": {}, "sleep 60": {"wall": 0.05}}.items():
            outcome = self.client.run("sh", "-c", name, grace=0.05, **fields)
            endings[name] = ending(self.wait(outcome.run_id))
        self.assertEqual(endings, {"exit 137": ("exit_code", 137, "REASON_EXITED"),
                                   "kill -9 $$": ("signal", 9, "REASON_SIGNALED"),
                                   "sleep 60": ("signal", 15, "REASON_TIMEOUT")})

    def test_a_program_that_was_never_executed_has_its_report_in_the_result(self):
        outcome = self.client.run("no-such-program")
        result = self.wait(outcome.run_id)
        self.assertEqual(result.spawn_error.exit_code, 127)
        self.assertEqual(result, outcome.finished)
        self.assertTrue(result.report.protections)

    def test_it_answers_at_the_end_of_a_run_that_lives(self):
        call, inputs = self.live(*WAITS, run_id=self.marker)
        waits = [self.waiting(self.marker) for _ in range(3)]
        self.assertEqual(self.get(self.marker).state, RUNNING)
        self.assertFalse(any(each.done() for each in waits))
        inputs.send(run_pb2.RunInput(stdin=b"3\n"))
        finished = first(call, "finished")
        for each in waits:
            self.assertEqual(each.result(20), finished)

    def test_cancelling_it_does_not_touch_the_run(self):
        call, inputs = self.live(*WAITS, run_id=self.marker)
        waiting = self.waiting(self.marker)
        waiting.cancel()
        with self.assertRefused("DEADLINE_EXCEEDED"):
            self.wait(self.marker, timeout=0.05)
        self.assertEqual(self.get(self.marker).state, RUNNING)
        inputs.send(run_pb2.RunInput(stdin=b"4\n"))
        self.assertEqual(first(call, "finished").exit_code, 4)

    def test_a_run_whose_client_has_left_keeps_its_result_too(self):
        call, _ = self.live("sh", "-c", "echo up; sleep 60", run_id=self.marker)
        waiting = self.waiting(self.marker)
        call.cancel()
        self.assertEqual(ending(waiting.result(20)), ("signal", 9, "REASON_CANCELLED"))
        self.assertEqual(ending(self.wait(self.marker))[2], "REASON_CANCELLED")

    def test_an_unknown_run_is_named_and_how_long_results_are_kept(self):
        for method in (self.wait, self.get):
            with self.subTest(method), self.assertRefused("NOT_FOUND", "nobody", "15 minutes"):
                method("nobody")

    def test_what_is_no_id_is_refused(self):
        for bad in ("", "../x", "x" * 129):
            for method in (self.wait, self.get):
                with self.subTest(bad), self.assertRefused("INVALID_ARGUMENT", "run_id"):
                    method(bad)


class Drain(guardtest.TestCase):
    def test_a_stopped_guardd_answers_who_waits(self):
        guardd = self.start_daemon()
        with Client(guardd.socket) as client:
            call = client.call(request("sh", "-c", "trap '' TERM; echo up; sleep 60 & wait; wait",
                                       run_id="r", grace=0.3))
            first(call, "output")
            wait = client.channel.unary_unary(
                "/guard.v1.Guard/Wait", request_serializer=run_pb2.RunRef.SerializeToString,
                response_deserializer=run_pb2.RunResult.FromString)
            waiting = [wait.future(run_pb2.RunRef(run_id="r"), timeout=60) for _ in range(20)]
            client.unary("Get", run_pb2.RunRef(run_id="r"), run_pb2.RunInfo)  # they are under way
            guardd.process.terminate()
            for each in waiting:
                self.assertEqual(ending(each.result(20))[2], "REASON_DAEMON_SHUTDOWN")
            call.cancel()
        self.assertEqual(guardd.process.wait(10), 0)


class GetAndList(ResultsTestCase):
    def test_a_run_that_lives(self):
        call, inputs = self.live(*WAITS, run_id=self.marker)
        info = self.get(self.marker)
        self.assertEqual((info.run_id, info.state), (self.marker, RUNNING))
        self.assertEqual(list(info.args), [arg.encode() for arg in WAITS])
        self.assertFalse(info.args_truncated)
        self.assertEqual(guardtest.comm(info.pid), "sh")
        self.assertGreater(info.started_at.seconds, 0)
        self.assertFalse(info.HasField("result"))
        self.assertTrue(info.report.protections)
        self.assertIn(self.marker, [each.run_id for each in self.list(False).runs])
        inputs.send(run_pb2.RunInput(stdin=b"0\n"))
        first(call, "finished")
        self.assertNotIn(self.marker, [each.run_id for each in self.list(False).runs])

    def test_a_run_that_has_ended(self):
        outcome = self.client.run("sh", "-c", f"touch $HOME/left; echo {'x' * 600}")
        info = self.get(outcome.run_id)
        self.assertEqual((info.state, info.pid), (FINISHED, 0))
        self.assertTrue(info.args_truncated)
        self.assertLessEqual(sum(map(len, info.args)), 512)
        self.assertEqual(info.result, outcome.finished)
        self.assertEqual(info.started_at, outcome.started.at)
        self.assertEqual(info.report, outcome.started.report)
        listed = self.list().runs[0]
        self.assertEqual(listed.run_id, outcome.run_id, "the last that ended comes first")
        self.assertEqual(listed.result.exit_code, 0)
        self.assertFalse(listed.HasField("report"))

    def test_counts_are_of_all(self):
        before = self.list(False)
        self.client.run("true")
        call, inputs = self.live(*WAITS)
        after = self.list(False)
        self.assertEqual((after.live, after.kept), (before.live + 1, before.kept + 1))
        self.assertEqual(len(after.runs), after.live)
        inputs.send(run_pb2.RunInput(stdin=b"0\n"))
        first(call, "finished")

    def test_a_field_that_this_guardd_does_not_know_is_refused(self):
        message = guard_pb2.ListRequest()
        message.MergeFromString(b"\xfa\x3f\x01x")
        with self.assertRefused("UNIMPLEMENTED", "1023"):
            self.client.unary("List", message, guard_pb2.ListReply)

    def test_a_signal_to_a_run_that_has_ended_says_so(self):
        outcome = self.client.run("true")
        with self.assertRefused("NOT_FOUND", outcome.run_id, "ended"):
            self.signal(outcome.run_id, signal.SIGTERM)


class SameRequest(ResultsTestCase):
    def script(self, then="echo out"):
        """Leaves a trace of each execution."""
        return ("sh", "-c", f"echo ran >> {self.ws}/trace; {then}")

    def executions(self):
        trace = self.ws / "trace"
        return trace.read_text().count("ran") if trace.exists() else 0

    def test_the_second_call_gets_the_result_and_none_of_the_output(self):
        how = {"run_id": self.marker, "write": [self.ws]}
        original = self.client.run(*self.script("echo out; exit 5"), **how)
        again = self.client.run(*self.script("echo out; exit 5"), **how)
        self.assertEqual(self.executions(), 1)
        self.assertEqual(original.stdout, b"out\n")
        self.assertFalse(original.started.attached)
        self.assertEqual(again.order, ["started", "finished"])
        self.assertTrue(again.started.attached)
        self.assertEqual(again.finished, original.finished)
        self.assertEqual((again.started.at, again.started.report),
                         (original.started.at, original.started.report))

    def test_many_callers_at_once_make_one_execution(self):
        outcomes, failures = [], []
        barrier = threading.Barrier(8)
        message = request(*self.script("sleep 0.2; exit 6"), run_id=self.marker, write=[self.ws])

        def caller():
            try:
                with Client(self.guardd.socket) as client:
                    client.health()  # connected
                    barrier.wait()
                    outcomes.append(client.run_request(message))
            except Exception as failure:  # noqa: BLE001
                failures.append(failure)

        threads = [threading.Thread(target=caller) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(self.executions(), 1)
        self.assertEqual([outcome.code for outcome in outcomes], [6] * 8)
        self.assertEqual(sorted(outcome.started.attached for outcome in outcomes),
                         [False] + [True] * 7)

    def test_of_a_live_run_the_second_call_gets_started_at_once(self):
        call, inputs = self.live(*WAITS, run_id=self.marker)
        second_inputs = Inputs(start(*WAITS, run_id=self.marker))
        self.addCleanup(second_inputs.end)
        second = self.client.stream(second_inputs)
        self.assertTrue(first(second, "started").attached)
        second_inputs.send(run_pb2.RunInput(stdin=b"9\n"))  # dropped
        inputs.send(run_pb2.RunInput(stdin=b"2\n"))
        self.assertEqual(first(call, "finished").exit_code, 2)
        self.assertEqual([event.WhichOneof("event") for event in second], ["finished"])

    def test_a_signal_of_the_second_call_counts(self):
        script = ("sh", "-c", "trap 'exit 8' USR1; echo up; while :; do sleep 0.02; done")
        call, _ = self.live(*script, run_id=self.marker)
        inputs = Inputs(start(*script, run_id=self.marker),
                        run_pb2.RunInput(signal=int(signal.SIGUSR1)))
        self.addCleanup(inputs.end)
        self.assertEqual(first(self.client.stream(inputs), "finished").exit_code, 8)
        self.assertEqual(first(call, "finished").exit_code, 8)

    def test_only_the_first_calls_cancellation_ends_the_run(self):
        # Not one that reads: cancelled, it may see the end of its input first and end by itself.
        sleeps = ("sh", "-c", "echo up; exec sleep 60")
        call, _ = self.live(*sleeps, run_id=self.marker)
        seconds = []
        for _ in range(2):
            inputs = Inputs(start(*sleeps, run_id=self.marker))
            self.addCleanup(inputs.end)
            seconds.append(self.client.stream(inputs))
            first(seconds[-1], "started")
        seconds[0].cancel()
        with self.assertRaises(grpc.RpcError):
            list(seconds[0])
        self.assertEqual(self.get(self.marker).state, RUNNING)
        call.cancel()
        self.assertEqual(ending(first(seconds[1], "finished"))[2], "REASON_CANCELLED")

    def test_another_request_is_refused_while_it_lives_and_after(self):
        call, inputs = self.live(*WAITS, run_id=self.marker)
        others = {
            "arguments": lambda: self.client.run("true", run_id=self.marker),
            "a grant more": lambda: self.client.run_stream(
                [start(*WAITS, run_id=self.marker, read=[self.ro])]),
            "the other method": lambda: self.client.run(*WAITS, run_id=self.marker)}
        for name, other in others.items():
            with self.subTest(name), self.assertRefused("ALREADY_EXISTS", self.marker):
                other()
        inputs.send(run_pb2.RunInput(stdin=b"0\n"))
        first(call, "finished")
        with self.assertRefused("ALREADY_EXISTS", self.marker):
            self.client.run("true", run_id=self.marker)

    def test_the_same_request_may_be_spelt_otherwise(self):
        self.client.run("sh", "-c", "exit 3", run_id=self.marker)
        message = request(run_id=self.marker, grace=0.25)  # the default
        message.args_bytes.extend([b"sh", b"-c", b"exit 3"])
        self.assertTrue(self.client.run_request(message).started.attached)

    def test_when_nothing_ran_the_id_is_free_again(self):
        missing = self.work / "later"
        message = request("true", run_id=self.marker, read=[missing])
        with self.assertRefused("NOT_FOUND", "later"):
            self.client.run_request(message)
        missing.mkdir()
        self.assertFalse(self.client.run_request(message).started.attached)

    def test_a_program_that_cannot_be_executed_is_told_to_both(self):
        original, again = (self.client.run("no-such-program", run_id=self.marker)
                           for _ in range(2))
        self.assertEqual(again.order, ["finished"])
        self.assertEqual(again.finished, original.finished)


if __name__ == "__main__":
    guardtest.main()
