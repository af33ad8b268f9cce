"""xenarch-guard on lesser kernels, by GUARD_LANDLOCK_ABI_MAX: what it still refuses, and says."""
import json
import os
import pathlib
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest
from guardtest import GUARD_FAILED, landlock_abi, oneshot, unconfined

ABIS = range(1, min(landlock_abi(), 7) + 1)

# Prints a JSON list of "ok" or the errno's name, one for each attempt.
ATTEMPTS = guardtest.ATTEMPT + """\
import json, os, socket, sys
ws, ro, secret, port, other, bystander = sys.argv[1:]
def connect(to):
    with socket.socket() as client:
        client.connect(("127.0.0.1", int(to)))
def bind():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
print(json.dumps({
    "read": attempt(lambda: open(secret)),
    "write": attempt(lambda: open(f"{ws}/new", "w")),
    "write ro": attempt(lambda: open(f"{ro}/data", "a")),
    "truncate ro": attempt(lambda: os.truncate(f"{ro}/data", 5)),
    "O_TRUNC ro": attempt(lambda: os.open(f"{ro}/data", os.O_RDONLY | os.O_TRUNC)),
    "truncate ws": attempt(lambda: os.truncate(f"{ws}/new", 0)),
    "rename": attempt(lambda: (os.mkdir(f"{ws}/d"), os.rename(f"{ws}/new", f"{ws}/d/new"))),
    "connect": attempt(lambda: connect(port)),
    "connect other": attempt(lambda: connect(other)),
    "bind": attempt(bind),
    "udp": attempt(lambda: socket.socket(type=socket.SOCK_DGRAM)),
    "unix": attempt(lambda: socket.socket(socket.AF_UNIX)),
    "kill all": attempt(lambda: os.kill(-1, 0)),
    "kill one": attempt(lambda: os.kill(int(bystander), 0)),
}))
"""


class Kernels(guardtest.TestCase):
    def setUp(self):
        super().setUp()
        self.granted, self.other = socket.create_server(("127.0.0.1", 0)), \
            socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self.granted.close)
        self.addCleanup(self.other.close)
        self.port = self.granted.getsockname()[1]

    def argv(self):
        return ["python3", "-c", ATTEMPTS, self.ws, self.ro, self.secret, str(self.port),
                str(self.other.getsockname()[1]), str(os.getpid())]

    def attempts(self, abi, *flags):
        result = oneshot(self.argv(), "--allow-write", self.ws, "--allow-read", self.ro, *flags,
                         cwd=self.ro, env={"GUARD_LANDLOCK_ABI_MAX": abi})
        self.assertRan(result)
        return json.loads(result.out), result.err

    def test_unconfined_all_of_it_works(self):
        result = unconfined(self.argv())
        self.assertRan(result)
        self.assertEqual(set(json.loads(result.out).values()), {"ok"})

    def test_every_abi_keeps_files_network_and_sockets(self):
        for abi in ABIS:
            with self.subTest(abi=abi):
                for path in (self.ws / "d/new", self.ws / "new"):
                    path.unlink(missing_ok=True)
                if (self.ws / "d").exists():
                    (self.ws / "d").rmdir()
                got, said = self.attempts(abi)
                self.assertEqual(got["read"], "EACCES")
                self.assertEqual(got["write"], "ok")
                self.assertEqual(got["write ro"], "EACCES")
                self.assertEqual(got["truncate ro"], "EACCES")
                self.assertIn(got["O_TRUNC ro"], ("EACCES", "EPERM"))
                self.assertEqual(got["truncate ws"], "ok" if abi >= 3 else "EACCES")
                self.assertEqual(got["rename"], "ok" if abi >= 2 else "EXDEV")
                for name in ("connect", "connect other", "bind", "udp", "unix"):
                    self.assertEqual(got[name], "EPERM", name)
                # From 6 on the kernel says yes to kill(-1) and signals nobody outside.
                self.assertEqual(got["kill all"], "EPERM" if abi < 6 else "ok")
                self.assertEqual(got["kill one"], "EPERM" if abi >= 6 else "ok")
                self.assertEqual((self.ro / "data").read_bytes(), b"to be read\n")
                self.assertEqual("signals (" in said, abi < 6, said)
                self.assertEqual("device_ioctl (" in said, abi < 5, said)
                self.assertEqual("rename and link" in said, abi < 2, said)
                self.assertEqual("lowered from" in said, abi < landlock_abi(), said)

    def test_ports_are_kept_refused_or_openly_given_up(self):
        for abi in ABIS:
            with self.subTest(abi=abi):
                flags = ["--allow-connect", str(self.port)]
                if abi >= 4:
                    got, said = self.attempts(abi, *flags)
                    self.assertEqual((got["connect"], got["connect other"]), ("ok", "EACCES"))
                    self.assertIn(f"connect {self.port} (any host), bind blocked", said)
                    self.assertEqual(got["bind"], "EACCES")
                    self.assertEqual((got["udp"], got["unix"]), ("EPERM", "EPERM"))
                    continue
                env = {"GUARD_LANDLOCK_ABI_MAX": abi}
                refused = oneshot(["true"], *flags, env=env)
                self.assertEqual(refused.rc, GUARD_FAILED, refused)
                self.assertIn("network", refused.err)
                self.assertIn("--best-effort", refused.err)
                got, said = self.attempts(abi, *flags, "--best-effort")
                self.assertEqual((got["connect"], got["connect other"]), ("ok", "ok"))
                self.assertIn("any port", said)
                self.assertEqual(got["udp"], "EPERM")

    def test_a_granted_bind_port_serves_and_no_other_does(self):
        if landlock_abi() < 4:
            self.skipTest("kernel: port rules need Landlock ABI 4")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        script = """\
import errno, socket, sys
for port in sys.argv[1:]:
    try:
        with socket.create_server(("127.0.0.1", int(port))):
            print("ok")
    except OSError as error:
        print(errno.errorcode[error.errno])
"""
        result = oneshot(["python3", "-c", script, str(port), str(port ^ 1), "0"],
                         "--allow-bind", str(port))
        self.assertRan(result, stdout=b"ok\nEACCES\nEACCES\n")
        anywhere = oneshot(["python3", "-c", script, "0"], "--allow-bind", "0")
        self.assertRan(anywhere, stdout=b"ok\n")

    def test_strict_is_met_from_abi_6_and_says_what_lacks_below(self):
        for abi in ABIS:
            with self.subTest(abi=abi):
                result = oneshot(["true"], "--strict", env={"GUARD_LANDLOCK_ABI_MAX": abi})
                self.assertEqual(result.rc, 0 if abi >= 6 else GUARD_FAILED, result)
                if abi < 6:
                    self.assertIn("signals", result.err)
                    self.assertIn("Linux 6.12", result.err)

    def test_without_landlock_nothing_runs_but_unsafe(self):
        env = {"GUARD_LANDLOCK_ABI_MAX": 0}
        for flags in ([], ["--strict"], ["--best-effort"]):
            result = oneshot(["touch", "ran"], *flags, env=env, cwd=self.ws)
            self.assertEqual(result.rc, GUARD_FAILED, result)
            self.assertIn("Landlock", result.err)
            self.assertIn("--unsafe-no-guard", result.err)
        self.assertEqual(list(self.ws.iterdir()), [])
        result = oneshot(["touch", "ran"], "--unsafe-no-guard", env=env, cwd=self.ws)
        self.assertRan(result)
        self.assertIn("DISABLED", result.err)


if __name__ == "__main__":
    guardtest.main()
