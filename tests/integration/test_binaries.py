"""What the build leaves in bin/: static where that is promised, and without traces of the machine."""
import pathlib
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest

PT_INTERP = 3
STATIC = ("guardctl", "guard-launcher", "xenarch-guard")


def program_headers(image):
    """The types of an ELF64 file's program headers."""
    offset, = struct.unpack_from("<Q", image, 32)
    size, count = struct.unpack_from("<HH", image, 54)
    return [struct.unpack_from("<I", image, offset + index * size)[0] for index in range(count)]


class Binaries(unittest.TestCase):
    def image(self, name):
        return (guardtest.BIN / name).read_bytes()

    def test_all_are_there_with_their_aliases(self):
        for name in ("guardd", *STATIC):
            self.assertTrue((guardtest.BIN / name).is_file(), name)
        for alias in ("xenarchos", "agentkit"):
            self.assertEqual((guardtest.BIN / alias).readlink(), pathlib.Path("guardctl"))

    def test_static_ones_need_no_loader(self):
        if b"__asan_init" in self.image("guardd") or b"__tsan_init" in self.image("guardd"):
            self.skipTest("a sanitizer's build is never static")
        for name in STATIC:
            self.assertNotIn(PT_INTERP, program_headers(self.image(name)), name)
        # and the check can tell:
        self.assertIn(PT_INTERP, program_headers(self.image("guardd")))

    def test_what_forks_or_confines_has_no_grpc_in_it(self):
        self.assertIn(b"grpc", self.image("guardctl"))
        for name in ("guard-launcher", "xenarch-guard"):
            for library in (b"grpc", b"protobuf", b"boost"):
                self.assertNotIn(library, self.image(name), name)

    def test_none_knows_where_it_was_built(self):
        place = str(guardtest.SOURCE).encode()
        for name in ("guardd", *STATIC):
            self.assertNotIn(place, self.image(name), name)


if __name__ == "__main__":
    guardtest.main()
