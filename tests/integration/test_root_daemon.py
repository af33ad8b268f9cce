"""What of guardd only root can test: callers of another uid, setuid, root's own capabilities."""
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest  # noqa: E402
from guardgrpc import Client  # noqa: E402

USER = os.environ.get("GUARD_TEST_USER") or "guardtest"


class Root(guardtest.TestCase):
    def setUp(self):
        super().setUp()
        self.user = pwd.getpwnam(USER)
        self.work.chmod(0o755)

    def test_a_caller_of_another_uid_is_refused_even_root(self):
        folder = self.work / "run"
        folder.mkdir(mode=0o700)
        os.chown(folder, self.user.pw_uid, self.user.pw_gid)
        reader, writer = os.pipe()
        with open(self.work / "log", "wb") as log, guardtest.Popen(
                [guardtest.BIN / "guardd", "--socket", folder / "guardd.sock", "--ready-fd",
                 str(writer)], pass_fds=[writer], stderr=log, env=guardtest.environment(),
                user=self.user.pw_uid, group=self.user.pw_gid, extra_groups=[]) as guardd:
            os.close(writer)
            self.assertEqual(os.read(reader, 16), b"ready\n")
            os.close(reader)
            with socket.socket(socket.AF_UNIX) as peer:
                peer.connect(str(folder / "guardd.sock"))
                self.assertEqual(peer.recv(1), b"", "the first word of HTTP/2 was said to root")
            self.assertIn("uid 0", (self.work / "log").read_text())

            def as_user():
                os.setgroups([])
                os.setgid(self.user.pw_gid)
                os.setuid(self.user.pw_uid)

            script = ("import socket, sys; peer = socket.socket(socket.AF_UNIX);"
                      "peer.connect(sys.argv[1]); sys.exit(0 if peer.recv(1) else 1)")
            own = subprocess.run([guardtest.PYTHON, "-c", script, str(folder / "guardd.sock")],
                                 preexec_fn=as_user, timeout=20)
            self.assertEqual(own.returncode, 0)
            guardd.terminate()

    def test_setuid_is_refused(self):
        program = self.work / "guardd"
        shutil.copy(guardtest.BIN / "guardd", program)
        os.chown(program, self.user.pw_uid, self.user.pw_gid)
        program.chmod(0o4755)
        result = guardtest.run([program, "--socket", self.work / "run/guardd.sock"])
        self.assertEqual(result.rc, 1, result)
        self.assertIn("setuid", result.err)
        self.assertFalse((self.work / "run").exists())

    def test_runs_of_roots_guardd_have_no_capabilities_and_cannot_get_any(self):
        script = ("import ctypes, os\n"
                  "libc = ctypes.CDLL(None)\n"
                  "head = (ctypes.c_uint32 * 2)(0x20080522, 0)\n"
                  "data = (ctypes.c_uint32 * 6)()\n"
                  "print(libc.capget(head, data), list(data))\n"
                  "print(sum(libc.prctl(23, cap, 0, 0, 0) == 1 for cap in range(41)))\n")
        with Client(self.start_daemon().socket) as client:
            outcome = client.run(guardtest.PYTHON, "-c", script)
            self.assertEqual(outcome.stdout, b"0 [0, 0, 0, 0, 0, 0]\n0\n", outcome)
        bare = guardtest.unconfined([guardtest.PYTHON, "-c", script])
        self.assertNotIn(b"[0, 0, 0, 0, 0, 0]", bare.stdout)


if __name__ == "__main__":
    guardtest.main()
