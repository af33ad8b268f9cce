"""guard.v1 spoken from Python, for the tests of guardd: what an agent framework would do.

Needs python3-grpcio and python3-protobuf; the message classes are made by protoc when this is
imported.
"""
import atexit
import collections
import contextlib
import pathlib
import queue
import shutil
import subprocess
import sys
import tempfile

import grpc

import guardtest

_GENERATED = tempfile.mkdtemp(prefix="guardgrpc-")
atexit.register(shutil.rmtree, _GENERATED, True)
_PROTO = guardtest.SOURCE / "proto"
subprocess.run(["protoc", f"-I{_PROTO}", f"--python_out={_GENERATED}",
                *sorted(map(str, _PROTO.glob("guard/v1/*.proto")))], check=True)
sys.path.insert(0, _GENERATED)

from guard.v1 import guard_pb2, policy_pb2, report_pb2, run_pb2, session_pb2  # noqa: E402

STDOUT, STDERR = run_pb2.STREAM_STDOUT, run_pb2.STREAM_STDERR


class Outcome:
    """All that a run told: started, the output put together, finished."""

    def __init__(self):
        self.started = None
        self.finished = None
        self.streams = collections.defaultdict(bytearray)
        self.run_id = None
        self.order = []

    def take(self, event):
        self.run_id = self.run_id or event.run_id
        assert self.run_id == event.run_id, (self.run_id, event.run_id)
        kind = event.WhichOneof("event")
        assert self.finished is None, f"{kind} after finished"
        self.order.append(kind)
        if kind == "started":
            assert self.started is None and not self.streams, self.order
            self.started = event.started
        elif kind == "output":
            assert self.started is not None, "output before started"
            stream = self.streams[event.output.stream]
            assert event.output.offset == len(stream), (event.output.offset, len(stream))
            assert 0 < len(event.output.data) <= 256 * 1024, len(event.output.data)
            stream += event.output.data
        elif kind == "finished":
            self.finished = event.finished
        else:
            raise AssertionError(f"an unknown event: {event}")

    @property
    def stdout(self):
        return bytes(self.streams[STDOUT])

    @property
    def stderr(self):
        return bytes(self.streams[STDERR])

    @property
    def reason(self):
        return run_pb2.Reason.Name(self.finished.reason).removeprefix("REASON_")

    @property
    def code(self):
        assert self.finished.WhichOneof("ending") == "exit_code", self.finished
        return self.finished.exit_code

    def __repr__(self):
        return f"{self.order}\n{self.finished}\nstdout {self.stdout!r}\nstderr {self.stderr!r}"


def request(*args, env=None, read=(), write=(), wall=None, grace=None, **fields):
    """A RunRequest. `env` is a dict; `read` and `write` are paths; times are seconds."""
    message = run_pb2.RunRequest(args=args, **fields)
    for name, value in {"PATH": "/usr/bin:/bin", **(env or {})}.items():
        if value is not None:
            message.env.add(name=str(name).encode(), value=str(value).encode())
    for path in read:
        message.policy.allow_read.add(path_text=str(path))
    for path in write:
        message.policy.allow_write.add(path_text=str(path))
    if wall is not None:
        message.policy.limits.wall.FromNanoseconds(int(wall * 1e9))
    if grace is not None:
        message.grace.FromNanoseconds(int(grace * 1e9))
    return message


class Client:
    """One channel to one guardd."""

    def __init__(self, socket):
        # Channels of one process share their connection unless their arguments differ.
        self.channel = grpc.insecure_channel(f"unix:{socket}",
                                             options=[("grpc.use_local_subchannel_pool", 1)])
        # Sent with every call, where this guardd wants one.
        self.metadata = []
        with contextlib.suppress(FileNotFoundError):
            cookie = pathlib.Path(socket).with_suffix(".cookie").read_text()
            self.metadata = [("guardd-cookie", cookie)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.channel.close()

    def _unary(self, name, message, reply, service="guard.v1.Guard", timeout=20):
        call = self.channel.unary_unary(f"/{service}/{name}",
                                        request_serializer=type(message).SerializeToString,
                                        response_deserializer=reply.FromString)
        return call(message, timeout=timeout * guardtest.SLOW, metadata=self.metadata)

    def capabilities(self):
        return self._unary("GetCapabilities", guard_pb2.GetCapabilitiesRequest(),
                           guard_pb2.Capabilities)

    def check(self, message):
        return self._unary("Check", message, report_pb2.Report)

    def unary(self, name, message, reply):
        return self._unary(name, message, reply)

    def health(self, timeout=20):
        """1 SERVING, 2 NOT_SERVING, without the stubs of the health service."""
        call = self.channel.unary_unary("/grpc.health.v1.Health/Check")
        reply = call(b"", timeout=timeout * guardtest.SLOW)
        return reply[1] if reply else 0

    def call(self, message, timeout=60):
        """The call object: iterate it for events, cancel() it."""
        method = self.channel.unary_stream("/guard.v1.Guard/Run",
                                           request_serializer=run_pb2.RunRequest.SerializeToString,
                                           response_deserializer=run_pb2.RunEvent.FromString)
        return method(message, timeout=timeout * guardtest.SLOW, metadata=self.metadata)

    def run(self, *args, timeout=60, **fields):
        return self.run_request(request(*args, **fields), timeout)

    def run_request(self, message, timeout=60):
        outcome = Outcome()
        for event in self.call(message, timeout):
            outcome.take(event)
        assert outcome.finished is not None, "the stream ended without a result"
        return outcome

    def stream(self, inputs, timeout=60):
        """RunStream; `inputs` is an iterable of RunInput, its end the half-close."""
        method = self.channel.stream_stream("/guard.v1.Guard/RunStream",
                                            request_serializer=run_pb2.RunInput.SerializeToString,
                                            response_deserializer=run_pb2.RunEvent.FromString)
        return method(iter(inputs), timeout=timeout * guardtest.SLOW, metadata=self.metadata)

    def run_stream(self, inputs, timeout=60):
        outcome = Outcome()
        for event in self.stream(inputs, timeout):
            outcome.take(event)
        assert outcome.finished is not None, "the stream ended without a result"
        return outcome


def start(*args, **fields):
    return run_pb2.RunInput(start=request(*args, **fields))


def stdin(data):
    return run_pb2.RunInput(stdin=data)


class Inputs:
    """Inputs of a RunStream given while it runs; end() half-closes."""

    def __init__(self, *first):
        self.queue = queue.Queue()
        for each in first:
            self.send(each)

    def send(self, message):
        self.queue.put(message)

    def end(self):
        self.queue.put(None)

    def __iter__(self):
        return iter(self.queue.get, None)


def first(call, kind):
    """Iterates to the first event of a kind and returns its body; more can be read from `call`."""
    for event in call:
        if event.WhichOneof("event") == kind:
            return getattr(event, kind)
    raise AssertionError(f"the stream ended without {kind}")


class GrpcTestCase(guardtest.DaemonTestCase):
    """self.client is a channel to the class's guardd."""

    def setUp(self):
        super().setUp()
        self.client = Client(self.guardd.socket)
        self.addCleanup(self.client.channel.close)

    def assertRefused(self, code, *words):
        return _Refusal(self, code, words)


class _Refusal:
    def __init__(self, test, code, words):
        self.test, self.code, self.words = test, code, words

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        self.test.assertIsInstance(error, grpc.RpcError, "nothing was refused")
        self.details = error.details()
        self.test.assertEqual((error.code().name, self.details), (self.code, self.details))
        for word in self.words:
            self.test.assertIn(word, self.details)
        return True
