"""Port grants by both doors: each opens what it names and nothing of the other kind."""
import itertools
import pathlib
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest
from guardtest import unconfined

# What became of connecting to the first port and of listening on the second one and on any.
ATTEMPTS = guardtest.ATTEMPT + """\
import socket, sys
def connect():
    with socket.socket() as client:
        client.connect(("127.0.0.1", int(sys.argv[1])))
def listen(port):
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", int(port)))
        server.listen()
print(attempt(connect), attempt(lambda: listen(sys.argv[2])), attempt(lambda: listen(0)))
"""


@guardtest.needs_landlock_abi(4, "granting ports")
class Ports(guardtest.DaemonTestCase):
    def setUp(self):
        super().setUp()
        self.server = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.addCleanup(self.server.close)
        self.connect = str(self.server.getsockname()[1])
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.bind = str(free.getsockname()[1])
        self.argv = ["python3", "-c", ATTEMPTS, self.connect, self.bind]

    def attempts(self, door, *flags, **how):
        result = door(self.argv, *flags, **how)
        self.assertRan(result)
        return tuple(result.out.split())

    def test_every_combination_of_grants(self):
        self.assertEqual(self.attempts(unconfined), ("ok", "ok", "ok"))
        for door in (guardtest.oneshot, self.guardd.run):
            for connect, bind, any_bind in itertools.product((False, True), repeat=3):
                flags = ["--allow-connect", self.connect] if connect else []
                flags += ["--allow-bind", self.bind] if bind else []
                flags += ["--allow-bind", "0"] if any_bind else []
                # Without any there is not even a socket.
                no = "EACCES" if flags else "EPERM"
                with self.subTest(door=door.__name__, flags=flags):
                    self.assertEqual(self.attempts(door, *flags),
                                     tuple("ok" if granted else no
                                           for granted in (connect, bind, any_bind)))

    def test_a_grant_of_one_kind_is_none_of_the_other(self):
        for door in (guardtest.oneshot, self.guardd.run):
            self.assertEqual(self.attempts(door, "--allow-connect", self.bind),
                             ("EACCES", "EACCES", "EACCES"))
            self.assertEqual(self.attempts(door, "--allow-bind", self.connect)[0], "EACCES")

    def test_a_proxy_of_the_caller_does_not_stand_between(self):
        script = ("import os, urllib.request; print(sorted(urllib.request.getproxies()), "
                  "'no_proxy' in os.environ)")
        proxies = {"http_proxy": "http://127.0.0.1:1", "HTTPS_PROXY": "http://127.0.0.1:1",
                   "no_proxy": "x"}
        for door in (guardtest.oneshot, self.guardd.run):
            result = door(["python3", "-c", script], env=proxies)
            self.assertRan(result, 0, b"[] False\n")


if __name__ == "__main__":
    guardtest.main()
