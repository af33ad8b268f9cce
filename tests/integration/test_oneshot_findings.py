"""The ways in which a sandbox of this kind was once off without anybody noticing: each is an error
here, before anything runs."""
import errno
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest
from failing_calls import failing
from guardtest import GUARD_FAILED, NOT_EXECUTABLE, oneshot, unconfined

PR_SET_NO_NEW_PRIVS = 38


class NothingRunsByHalf(guardtest.TestCase):
    def attempt(self, text, *failure):
        argv = ["touch", "ran"]
        result = oneshot(argv, "--allow-write", ".", cwd=self.ws, preexec_fn=failing(failure))
        self.assertEqual(result.rc, GUARD_FAILED, result)
        self.assertIn(text, result.err)
        self.assertFalse((self.ws / "ran").exists())
        # The failing call alone stops nobody from running the program.
        self.assertRan(unconfined(argv, cwd=self.ws, preexec_fn=failing(failure)))
        (self.ws / "ran").unlink()

    def test_without_no_new_privs(self):
        self.attempt("NO_NEW_PRIVS", "prctl", errno.EPERM, PR_SET_NO_NEW_PRIVS)

    def test_landlock_that_is_missing_fails_or_only_says_yes(self):
        self.attempt("Landlock", "landlock_create_ruleset", errno.ENOSYS)
        self.attempt("add landlock to lsm=", "landlock_create_ruleset", errno.EOPNOTSUPP)
        self.attempt("landlock_add_rule", "landlock_add_rule", errno.EINVAL)
        self.attempt("restrict_self", "landlock_restrict_self", errno.EPERM)
        self.attempt("does not hold", "landlock_restrict_self", 0)

    def test_a_filter_that_cannot_be_loaded_or_is_not(self):
        self.attempt("seccomp", "seccomp", errno.EINVAL, 1)
        self.attempt("does not hold", "seccomp", 0, 1)


class Findings(guardtest.TestCase):
    def test_dynamically_linked_programs_load_under_a_read_grant(self):
        # Execution is part of a read grant: the loader maps its libraries executable.
        flags = ["--no-default-grants", "--allow-read", "/usr", "--allow-read", "/lib64",
                 "--allow-read", "/etc/ld.so.cache"]
        self.assertRan(oneshot(["/usr/bin/python3", "-c", "import ctypes, ssl; print(1)"], *flags,
                               cwd=self.ws), stdout=b"1\n")

    def test_an_ungranted_interpreter_fails_loudly_and_names_the_flag(self):
        interpreter = self.out / "python"
        interpreter.write_bytes(pathlib.Path("/bin/true").read_bytes())
        interpreter.chmod(0o755)
        script = self.ws / "agent"
        script.write_text(f"#!{interpreter}\n")
        script.chmod(0o755)
        self.assertRan(unconfined([script]))
        result = oneshot([script], "--allow-write", self.ws, cwd=self.ws)
        self.assertEqual(result.rc, NOT_EXECUTABLE, result)
        self.assertIn(f"interpreter '{interpreter}'", result.err)
        self.assertIn(f"--allow-read {interpreter}", result.err)
        self.assertRan(oneshot([script], "--allow-write", self.ws, "--allow-read", interpreter,
                               cwd=self.ws))

    def test_the_loader_of_a_program_is_an_interpreter_too(self):
        result = oneshot(["/usr/bin/true"], "--no-default-grants", "--allow-read", "/usr/bin/true",
                         cwd=self.ws)
        self.assertEqual(result.rc, NOT_EXECUTABLE, result)
        self.assertIn("loader", result.err)
        self.assertIn("--allow-read", result.err)

    def test_a_program_that_is_not_granted_names_the_flag(self):
        program = self.out / "tool"
        program.write_bytes(pathlib.Path("/bin/true").read_bytes())
        program.chmod(0o755)
        result = oneshot([program], cwd=self.ws)
        self.assertEqual(result.rc, NOT_EXECUTABLE, result)
        self.assertIn(f"--allow-read {program}", result.err)

    def test_a_missing_grant_is_an_error_that_names_the_path(self):
        result = oneshot(["mkdir", "made"], "--allow-write", "made", cwd=self.ws)
        self.assertEqual(result.rc, GUARD_FAILED, result)
        self.assertIn(f"{self.ws}/made' does not exist", result.err)
        self.assertIn(f"grant its parent {self.ws}", result.err)

    def test_a_write_grant_on_dev_null_works(self):
        result = oneshot(["sh", "-c", "echo x >/dev/null"], "--allow-write", "/dev/null")
        self.assertRan(result)
        self.assertIn("allow-write: /dev/null", result.err)


if __name__ == "__main__":
    guardtest.main()
