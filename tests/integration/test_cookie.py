"""Where the kernel cannot pin a caller (SO_PEERPIDFD, Linux 6.5), every call needs guardd's cookie."""
import os
import pathlib
import socket
import stat
import sys

import grpc

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest  # noqa: E402
from guardgrpc import Client, guard_pb2, start  # noqa: E402

SO_PEERPIDFD = 77


class Cookie(guardtest.TestCase):
    def setUp(self):
        super().setUp()
        self.daemon = self.start_daemon(under=[guardtest.probe("without_peerpidfd")])
        self.cookie = self.daemon.socket.with_suffix(".cookie")

    def refused(self, call):
        with self.assertRaises(grpc.RpcError) as refusal:
            call()
        self.assertEqual(refusal.exception.code(), grpc.StatusCode.UNAUTHENTICATED)
        self.assertIn("guardd-cookie", refusal.exception.details())

    def test_the_file_is_ours_alone_and_fresh_for_each_start(self):
        first = self.cookie.read_text()
        self.assertRegex(first, r"^[0-9a-f]{64}$")
        self.assertEqual(stat.S_IMODE(self.cookie.stat().st_mode), 0o600)
        self.assertEqual(self.daemon.stop(), 0)
        self.assertFalse(self.cookie.exists())
        with self.start_daemon(under=[guardtest.probe("without_peerpidfd")]):
            self.assertNotEqual(self.cookie.read_text(), first)

    def test_what_a_killed_guardd_left_is_replaced(self):
        first = self.cookie.read_text()
        self.daemon.kill()
        with self.start_daemon(under=[guardtest.probe("without_peerpidfd")]) as daemon:
            self.assertNotEqual(self.cookie.read_text(), first)
            self.assertRan(daemon.run(["echo", "on"]), 0, b"on\n")

    def test_clients_that_read_it_are_served(self):
        self.assertRan(self.daemon.run(["echo", "on"]), 0, b"on\n")
        with Client(self.daemon.socket) as client:
            self.assertEqual(client.run("echo", "on").stdout, b"on\n")
            self.assertEqual(client.run_stream([start("echo", "on")]).stdout, b"on\n")

    def test_every_method_wants_it(self):
        methods = guard_pb2.DESCRIPTOR.services_by_name["Guard"].methods
        self.assertGreaterEqual(len(methods), 12)
        with Client(self.daemon.socket) as client:
            for method in methods:
                for cookie in (None, "", "0" * 64, self.cookie.read_text()[:-1],
                               self.cookie.read_text() + "0"):
                    metadata = [] if cookie is None else [("guardd-cookie", cookie)]
                    with self.subTest(method.name, cookie=cookie):
                        call = client.channel.stream_stream(f"/guard.v1.Guard/{method.name}")
                        self.refused(lambda: list(call(iter([b""]), timeout=20,
                                                       metadata=metadata)))

    def test_nothing_of_a_refused_run_happens(self):
        with Client(self.daemon.socket) as client:
            client.metadata = []
            self.refused(lambda: client.run("touch", str(self.ws / "ran"), write=[self.ws]))
            self.refused(lambda: client.run_stream([start("touch", str(self.ws / "ran"),
                                                          write=[self.ws])]))
        self.assertFalse((self.ws / "ran").exists())

    def test_guardctl_without_it_says_what_is_missing(self):
        self.cookie.rename(self.work / "away")
        result = self.daemon.run(["echo", "ran"])
        self.assertRan(result, guardtest.GUARD_FAILED, b"")
        self.assertIn("guardd-cookie", result.err)
        (self.work / "away").rename(self.cookie)
        self.assertRan(self.daemon.run(["echo", "ran"]), 0, b"ran\n")

    def test_a_run_cannot_read_it(self):
        self.assertRan(guardtest.unconfined(["cat", self.cookie]))
        result = self.daemon.run(["cat", self.cookie], "--allow-read", "/")
        self.assertEqual(result.rc, 1, result)
        self.assertIn("Permission denied", result.err)

    def test_a_run_is_refused_by_its_ancestors_here_too(self):
        script = ("import socket, sys; peer = socket.socket(socket.AF_UNIX);"
                  "peer.connect(sys.argv[1]); sys.exit(0 if peer.recv(1) else 7)")
        command = [guardtest.PYTHON, "-c", script, self.daemon.socket]
        self.assertEqual(self.daemon.run(command, "--unsafe-no-guard").rc, 7)
        self.assertEqual(guardtest.unconfined(command).rc, 0)


class NotNeeded(guardtest.TestCase):
    def test_where_callers_are_pinned_there_is_none(self):
        end, other = socket.socketpair(socket.AF_UNIX)
        with end, other:
            try:
                os.close(end.getsockopt(socket.SOL_SOCKET, SO_PEERPIDFD))
            except OSError:
                self.skipTest("kernel: no SO_PEERPIDFD")
        daemon = self.start_daemon()
        self.assertFalse(daemon.socket.with_suffix(".cookie").exists())
        with Client(daemon.socket) as client:
            client.metadata = [("guardd-cookie", "whatever")]
            self.assertEqual(client.run("echo", "on").stdout, b"on\n")


if __name__ == "__main__":
    guardtest.main()
