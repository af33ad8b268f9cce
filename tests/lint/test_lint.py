"""The lints hold for this checkout, and each catches what it is there to catch."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

LINT = pathlib.Path(__file__).resolve().parent
ROOT = LINT.parents[1]


def lint(name, root):
    return subprocess.run([LINT / name, root], capture_output=True, text=True, check=False)


class Lint(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="guard-lint-"))
        self.addCleanup(shutil.rmtree, self.root)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def assertPasses(self, name, root):
        result = lint(name, root)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def assertFinds(self, name, finding):
        result = lint(name, self.root)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (1, finding + "\n", ""))


class Layering(Lint):
    def setUp(self):
        super().setUp()
        self.write("tests/lint/layering.table",
                   "common/base: <fmt>\ncommon/os: common/base  # and no more\ndaemon/launcher: common/os\n")
        self.write("common/base/a.h", "#include <fmt/format.h>\n#include <vector>\n")

    def test_this_checkout_is_layered(self):
        self.assertPasses("layering", ROOT)

    def test_allows_what_the_table_allows(self):
        self.write("common/os/b.cc", '#include "common/os/b.h"\n#include <fcntl.h>\n'
                   '#include <linux/landlock.h>\n#include <sys/stat.h>\n#include "common/base/a.h"\n')
        self.assertPasses("layering", self.root)

    def test_catches_an_include_against_the_direction(self):
        self.write("common/base/b.cc", '#include "common/base/b.h"\n\n#include "common/os/sys.h"\n')
        self.assertFinds("layering", "common/base/b.cc:3: common/base may not include common/os/sys.h")

    def test_catches_an_include_that_skips_a_layer(self):
        self.write("daemon/launcher/c.h", '#  include "common/base/a.h"\n')
        self.assertFinds("layering", "daemon/launcher/c.h:1: daemon/launcher may not include common/base/a.h")

    def test_catches_a_library_where_it_does_not_belong(self):
        self.write("daemon/launcher/c.cc", "#include <boost/asio.hpp>\n")
        self.assertFinds("layering", "daemon/launcher/c.cc:1: daemon/launcher may not include boost/asio.hpp")

    def test_catches_a_library_of_a_single_header(self):
        self.write("common/os/c.cc", "#include <seccomp.h>\n")
        self.assertFinds("layering", "common/os/c.cc:1: common/os may not include seccomp.h")

    def test_catches_a_folder_without_a_row(self):
        self.write("client/misc/d.h", "#pragma once\n")
        self.assertFinds("layering",
                         "client/misc/d.h:1: client/misc has no row in tests/lint/layering.table")

    def test_a_broken_table_is_an_error_and_not_a_pass(self):
        self.write("tests/lint/layering.table", "common/base <fmt>\n")
        self.assertNotEqual(lint("layering", self.root).returncode, 0)


class Hygiene(Lint):
    def test_this_checkout_is_clean(self):
        self.assertPasses("hygiene", ROOT)

    def test_catches_a_machine_path(self):
        self.write("docs/a.md", "see\n" + "/".join(["", "work", "shared", "x"]) + "\n")
        self.assertFinds("hygiene", "docs/a.md:2: a path of one machine: /work/shared")

    def test_catches_the_place_of_the_checkout(self):
        self.write("README.md", f"run {self.root}/dev\n")
        self.assertFinds("hygiene", f"README.md:1: a path of one machine: {self.root}")

    def test_catches_a_file_that_is_too_long(self):
        self.write("common/a.cc", "//\n" * 601)
        self.assertFinds("hygiene", "common/a.cc:601: more than 600 lines: look for the second idea")


class ProtoApi(Lint):
    PROTO = """syntax = "proto3";
package guard.v1;
enum E { E_UNSPECIFIED = 0; E_ONE = 1; }
message M { string a = 1; repeated bytes b = 2; oneof o { E c = 3; } }
service S { rpc R(M) returns (stream M); }
"""

    def setUp(self):
        super().setUp()
        (self.root / "tests/lint").mkdir(parents=True)
        self.change("", "")
        subprocess.run([LINT / "proto_api", "--update", self.root], check=True)

    def change(self, old, new):
        self.write("proto/guard/v1/x.proto", self.PROTO.replace(old, new))

    def test_this_checkout_breaks_nothing(self):
        self.assertPasses("proto_api", ROOT)

    def test_passes_what_is_as_it_was(self):
        self.assertPasses("proto_api", self.root)

    def test_catches_every_kind_of_break(self):
        for old, new, finding in (
                ("string a = 1;", "", "field guard.v1.M.a was removed"),
                ("string a = 1", "string a = 9", "field guard.v1.M.a was '1 string' and is '9 string'"),
                ("string a", "bytes a", "field guard.v1.M.a was '1 string' and is '1 bytes'"),
                ("repeated bytes b", "bytes b",
                 "field guard.v1.M.b was '2 repeated bytes' and is '2 bytes'"),
                ("oneof o { E c = 3; }", "E c = 3;",
                 "field guard.v1.M.c was '3 guard.v1.E in o' and is '3 guard.v1.E'"),
                ("E_ONE = 1", "E_ONE = 2", "value guard.v1.E.E_ONE was '1' and is '2'"),
                ("E_ONE = 1;", "", "value guard.v1.E.E_ONE was removed"),
                ("(stream M)", "(M)", "rpc guard.v1.S.R was '(guard.v1.M) returns (stream guard.v1.M)'"
                                      " and is '(guard.v1.M) returns (guard.v1.M)'"),
                ("rpc R(M) returns (stream M);", "", "rpc guard.v1.S.R was removed")):
            with self.subTest(finding):
                self.change(old, new)
                self.assertFinds("proto_api", finding)
                update = subprocess.run([LINT / "proto_api", "--update", self.root], check=False,
                                        capture_output=True, text=True)
                self.assertEqual((update.returncode, update.stdout), (1, finding + "\n"))
                self.change("", "")
                self.assertPasses("proto_api", self.root)

    def test_what_is_new_is_written_down_by_one_command(self):
        self.change("string a = 1;", "string a = 1; int32 d = 4;")
        self.assertFinds("proto_api", "field guard.v1.M.d is new: tests/lint/proto_api --update")
        subprocess.run([LINT / "proto_api", "--update", self.root], check=True)
        self.assertPasses("proto_api", self.root)
        self.change("", "")
        self.assertFinds("proto_api", "field guard.v1.M.d was removed")


if __name__ == "__main__":
    unittest.main()
