"""The test library itself: what it reports about processes is true, and it cannot pass by accident."""
import os
import pathlib
import subprocess
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import guardtest


class Running(guardtest.TestCase):
    def test_result_has_exit_code_and_output(self):
        result = guardtest.run(["sh", "-c", "cat; echo err >&2; exit 7"], input=b"in")
        self.assertEqual((result.rc, result.stdout, result.stderr), (7, b"in", b"err\n"))

    def test_signal_is_128_plus_n(self):
        result = guardtest.run(["sh", "-c", "kill -TERM $$"])
        self.assertEqual((result.rc, result.signal), (143, 15))

    def test_timeout_kills_the_group_and_fails(self):
        with self.assertRaisesRegex(AssertionError, "still running"):
            guardtest.run(["sh", "-c", "sleep 97 & sleep 97; :"], timeout=0.3)

    def test_environment_is_the_same_everywhere(self):
        os.environ["GUARDTEST_LEAK"] = "1"
        self.addCleanup(os.environ.pop, "GUARDTEST_LEAK")
        result = guardtest.run(["env"], env={"HOME": None, "EXTRA": "2"})
        self.assertNotIn(b"GUARDTEST_LEAK", result.stdout)
        self.assertNotIn(b"HOME=", result.stdout)
        self.assertIn(b"EXTRA=2", result.stdout)


class Processes(guardtest.TestCase):
    def test_a_zombie_is_not_alive(self):
        child = subprocess.Popen(["true"])
        self.addCleanup(child.wait)
        self.assertTrue(guardtest.wait_until(lambda: not guardtest.alive(child.pid)))
        self.assertTrue(os.path.exists(f"/proc/{child.pid}"))  # not reaped: it is a zombie

    def test_finds_by_argument_environment_and_descent(self):
        child = subprocess.Popen(["sh", "-c", "sleep 60; : " + self.marker], env={"MARK": self.marker})
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        self.assertTrue(guardtest.wait_until(lambda: guardtest.descendants(child.pid)))
        grandchild, = guardtest.descendants(child.pid)
        self.addCleanup(os.kill, grandchild, 9)
        self.assertIn(child.pid, guardtest.processes_matching(self.marker))
        self.assertEqual(sorted([child.pid, grandchild]),
                         guardtest.processes_with_env_marker("MARK=" + self.marker))
        self.assertIn(grandchild, guardtest.descendants(os.getpid()))

    def test_wait_until_gives_up(self):
        self.assertFalse(guardtest.wait_until(lambda: False, 0.02))

    def test_runs_as_an_ordinary_user_when_one_is_named(self):
        self.assertTrue(os.getuid() != 0 or not os.environ.get("GUARD_TEST_USER"))


class Main(guardtest.TestCase):
    def file_with(self, body, **env):
        script = self.ws / "test_x.py"
        script.write_text(textwrap.dedent(f"""
            import sys, unittest
            sys.path.insert(0, {os.path.dirname(guardtest.__file__)!r})
            import guardtest
            class T(unittest.TestCase):
                {body}
            guardtest.main()
            """))
        return guardtest.run([guardtest.PYTHON, "-B", script], env=env).rc

    def test_passes_and_fails(self):
        self.assertEqual(self.file_with("def test_a(self): pass"), 0)
        self.assertEqual(self.file_with("def test_a(self): self.fail()"), 1)

    def test_a_file_without_tests_fails(self):
        self.assertEqual(self.file_with("pass"), 1)

    def test_a_skip_is_a_failure_where_that_is_asked_unless_the_kernel_lacks_the_feature(self):
        lazy, kernel = ("def test_a(self): self.skipTest('%s')" % why for why in ("root", "kernel: x"))
        self.assertEqual(self.file_with(lazy), 77)
        self.assertEqual(self.file_with(lazy, GUARD_SKIP_IS_FAILURE="1"), 1)
        self.assertEqual(self.file_with(kernel, GUARD_SKIP_IS_FAILURE="1"), 77)


if __name__ == "__main__":
    guardtest.main()
