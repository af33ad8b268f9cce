"""xenarch-guard started by root: the command owns root's files and has none of root's powers."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest
from guardtest import oneshot, unconfined

# Effective, permitted and inheritable sets, whether anything is left in the bounding set.
CAPABILITIES = """\
import ctypes
libc = ctypes.CDLL(None)
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
data = (ctypes.c_uint32 * 6)()
assert libc.capget(header, data) == 0
print(any(data), any(libc.prctl(23, n, 0, 0, 0) == 1 for n in range(41)))
"""


class Root(guardtest.TestCase):
    def setUp(self):
        super().setUp()
        if os.getuid() != 0:
            self.skipTest("not root")

    def test_no_capability_is_left_and_none_comes_back_by_exec(self):
        self.assertRan(unconfined(["python3", "-c", CAPABILITIES]), stdout=b"True True\n")
        self.assertRan(oneshot(["sh", "-c", 'exec python3 -c "$1"', "sh", CAPABILITIES]),
                       stdout=b"False False\n")

    def test_root_reads_what_it_owns_and_not_what_others_keep(self):
        os.chmod(self.secret, 0o600)
        other = self.ro / "other"
        other.write_bytes(b"x")
        other.chmod(0o600)
        os.chown(other, 65534, 65534)
        flags = ["--allow-read", self.work]
        self.assertRan(oneshot(["cat", self.secret], *flags, cwd=self.ws), stdout=self.SECRET)
        self.assertRan(unconfined(["cat", other]), stdout=b"x")
        self.assertEqual(oneshot(["cat", other], *flags, cwd=self.ws).rc, 1)

    def test_root_cannot_become_somebody_else_or_mount(self):
        script = """\
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
try:
    os.setuid(65534)
except OSError as error:
    print(errno.errorcode[error.errno])
print(libc.chroot(b"/"), libc.mount(b"none", b"/mnt", b"tmpfs", 0, None))
"""
        self.assertRan(oneshot(["python3", "-c", script]), stdout=b"EPERM\n-1 -1\n")


if __name__ == "__main__":
    guardtest.main()
