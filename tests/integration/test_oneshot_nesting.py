"""xenarch-guard inside xenarch-guard."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest
from guardtest import BIN, GUARD_FAILED, oneshot

GUARD = [BIN / "xenarch-guard", "-q", "--allow-read", BIN]


class Nesting(guardtest.TestCase):
    def nested(self, depth, argv, *flags):
        """argv below `depth` layers."""
        command = []
        for _ in range(depth):
            command += [*GUARD, *flags, "--"]
        return guardtest.run([*command, *argv], cwd=self.ws)

    def test_the_inner_one_narrows_and_has_a_home_of_its_own(self):
        script = f'cat {self.ro}/data; touch "$HOME/f" "$TMPDIR/f" inner/f && touch f; ls; echo "$HOME"'
        (self.ws / "inner").mkdir()
        outer = [*GUARD, "--allow-write", ".", "--"]
        result = guardtest.run([*outer, *GUARD, "--allow-write", "inner", "--", "sh", "-c", script],
                               cwd=self.ws)
        self.assertIn("Permission denied", result.err)
        lines = result.out.splitlines()
        self.assertEqual(lines[0], "inner", result)
        self.assertTrue((self.ws / "inner/f").exists())
        self.assertFalse((self.ws / "f").exists())
        self.assertEqual(lines[1].count("/guardd-"), 2, "its home is in the outer one's TMPDIR")

    def test_the_inner_one_cannot_widen(self):
        result = guardtest.run([*GUARD, "--", *GUARD, "--allow-read", self.out, "--", "cat",
                                self.secret], cwd=self.ws)
        self.assertEqual((result.rc, result.stdout), (1, b""), result)

    def test_renames_across_folders_work_through_layers(self):
        for name in ("a", "b"):
            (self.ws / name).mkdir()
        (self.ws / "a/f").write_text("x")
        result = self.nested(3, ["python3", "-c", "import os; os.rename('a/f', 'b/f')"],
                             "--allow-write", ".")
        self.assertRan(result)

    def test_the_17th_layer_fails_with_a_clear_message_and_runs_nothing(self):
        argv = ["sh", "-c", "echo ran"]
        self.assertRan(self.nested(16, argv), stdout=b"ran\n")
        result = self.nested(17, argv)
        self.assertEqual(result.rc, GUARD_FAILED, result)
        self.assertIn("17th Landlock layer", result.err)
        self.assertEqual(result.stdout, b"")

    def test_unsafe_inside_stays_inside(self):
        result = oneshot([BIN / "xenarch-guard", "--unsafe-no-guard", "--", "cat", self.secret],
                         "--allow-read", BIN, cwd=self.ws)
        self.assertEqual((result.rc, result.stdout), (1, b""), result)


if __name__ == "__main__":
    guardtest.main()
