"""guardctl in front of a guardd of another release: it asks, says what it is talking to, and what to do."""
import concurrent.futures
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import grpc  # noqa: E402
import guardtest  # noqa: E402
from guardgrpc import guard_pb2, report_pb2, run_pb2  # noqa: E402

GUARDCTL = guardtest.BIN / "guardctl"


class Other(grpc.GenericRpcHandler):
    """A guardd made of a table: method name to what it answers; any other is unknown to it."""

    def __init__(self, answers):
        self.answers = answers
        self.asked = []

    def service(self, details):
        name = details.method.rsplit("/", 1)[1]
        self.asked.append(name)
        if name not in self.answers:
            return None  # gRPC answers UNIMPLEMENTED

        def answer(_, context):
            reply = self.answers[name]
            if isinstance(reply, str):
                context.abort(grpc.StatusCode.UNIMPLEMENTED, reply)
            return reply.SerializeToString()

        def stream(_, context):
            reply = self.answers[name]
            if isinstance(reply, str):
                context.abort(grpc.StatusCode.UNIMPLEMENTED, reply)
            for event in reply:
                yield event.SerializeToString()

        if name == "RunStream":
            return grpc.stream_stream_rpc_method_handler(stream)
        return grpc.unary_unary_rpc_method_handler(answer)


class Versions(guardtest.TestCase):
    CAPABILITIES = guard_pb2.Capabilities(version="0.0.1", pid=4711, kernel="6.1.0",
                                          tree_kill="sweep")

    def serve(self, **answers):
        other = Other(answers)
        server = grpc.server(concurrent.futures.ThreadPoolExecutor(4), handlers=[other])
        folder = self.work / "run"
        folder.mkdir(mode=0o700)
        self.socket = folder / "guardd.sock"
        server.add_insecure_port(f"unix:{self.socket}")
        server.start()
        self.addCleanup(server.stop, None)
        return other

    def guardctl(self, *arguments):
        return guardtest.run([GUARDCTL, *arguments], env={"GUARDD_SOCKET": self.socket})

    def test_a_method_that_it_does_not_know_is_told_with_its_name_and_the_way_out(self):
        other = self.serve(GetCapabilities=self.CAPABILITIES, List="")  # as C++'s gRPC says it
        listed = self.guardctl("ps")
        self.assertEqual(listed.rc, 5)
        for word in ("guardd 0.0.1 (pid 4711) does not know List", "guardctl daemon stop"):
            self.assertIn(word, listed.err)
        self.assertEqual(other.asked, ["List", "GetCapabilities"])

    def test_a_field_that_it_does_not_know_too(self):
        self.serve(GetCapabilities=self.CAPABILITIES,
                   RunStream="request has a field, number 17, that this guardd does not know")
        ran = self.guardctl("run", "--", "true")
        self.assertEqual(ran.rc, guardtest.GUARD_FAILED)
        for word in ("guardd 0.0.1 (pid 4711)", "number 17", "guardctl daemon stop"):
            self.assertIn(word, ran.err)

    def test_of_the_same_release_it_is_no_matter_of_versions(self):
        same = guard_pb2.Capabilities(version=self.version(), pid=4711)
        self.serve(GetCapabilities=same, RunStream="policy.deny: this guardd does not have it")
        ran = self.guardctl("run", "--", "true")
        self.assertEqual(ran.rc, guardtest.GUARD_FAILED)
        self.assertIn("policy.deny", ran.err)
        self.assertNotIn("daemon stop", ran.err)

    def version(self):
        return guardtest.run([GUARDCTL, "--version"]).out.split()[1]

    def test_a_run_costs_one_call(self):
        finished = run_pb2.RunResult(exit_code=3, reason=run_pb2.REASON_EXITED)
        started = run_pb2.Started(report=report_pb2.Report(level=1))
        other = self.serve(RunStream=[run_pb2.RunEvent(run_id="r", started=started),
                                      run_pb2.RunEvent(run_id="r", finished=finished)])
        ran = self.guardctl("run", "-n", "--", "true")
        self.assertEqual((ran.rc, other.asked), (3, ["RunStream"]), ran)

    def test_status_tells_what_it_can(self):
        self.serve(GetCapabilities=self.CAPABILITIES)
        status = self.guardctl("status")
        self.assertRan(status)
        self.assertIn("0.0.1, pid 4711", status.out)
        self.assertIn(self.version(), status.out)
        self.assertEqual(status.out.count("unknown"), 2)  # uptime, runs


if __name__ == "__main__":
    guardtest.main()
