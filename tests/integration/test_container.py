"""Inside a container, or another sandbox: what its filter refuses is refused to all of this script,
guardd and guardctl included."""
import concurrent.futures
import ctypes
import errno
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import failing_calls
import guardtest
from guardtest import BIN, GUARD_FAILED, TIMED_OUT, oneshot, unconfined


def setUpModule():
    failing_calls.failing(*failing_calls.CONTAINER)()


def answer(call, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(failing_calls.number(call), *arguments)
    return errno.errorcode.get(ctypes.get_errno(), "ok")


class InContainer(guardtest.DaemonTestCase):
    def doors(self):
        return oneshot, self.guardd.run

    def test_its_filter_is_what_it_is_meant_to_be(self):
        self.assertEqual(answer("clone3", None, 0), "ENOSYS")
        self.assertEqual(answer("unshare", 0x10000000), "EPERM")
        self.assertEqual(answer("clone", 0x10000011, None, None, None, None), "EPERM")
        self.assertNotEqual(unconfined(["unshare", "-Ur", "true"]).rc, 0)

    def test_sixty_four_runs_at_once(self):
        # None of them goes on before all of them are there.
        script = 'touch "$0"; while set -- *; [ $# -lt 64 ]; do sleep 0.3; done; echo "$0"'

        def run(i):
            return self.guard_run(["sh", "-c", script, str(i)], "--allow-write", ".", cwd=self.ws,
                                  timeout=120)

        with concurrent.futures.ThreadPoolExecutor(64) as pool:
            for i, result in enumerate(pool.map(run, range(64))):
                self.assertRan(result, 0, b"%d\n" % i)

    def test_runs_are_confined_as_ever(self):
        script = f"cat {self.ro}/data; touch f; cat {self.secret}; touch {self.out}/f; echo end"
        for door in self.doors():
            result = door(["sh", "-c", script], "--allow-write", ".", "--allow-read", self.ro,
                          cwd=self.ws)
            self.assertRan(result, 0, b"to be read\nend\n")
            self.assertEqual(result.err.count("Permission denied"), 2, result)
        self.assertFalse((self.out / "f").exists())
        self.assertRan(unconfined(["cat", self.secret]), 0, self.SECRET)

    def test_threads_and_processes_start(self):
        script = """if True:
            import subprocess, threading
            thread = threading.Thread(target=lambda: print('thread', flush=True))
            thread.start(); thread.join()
            print(subprocess.check_output(['echo', 'process']).decode(), end='')"""
        for door in self.doors():
            self.assertRan(door(["python3", "-c", script]), 0, b"thread\nprocess\n")

    def test_a_timeout_leaves_nothing(self):
        result = self.guard_run(["sh", "-c", "setsid sleep 300 & (sleep 300 &) ; sleep 300"],
                                "--timeout", "500ms", "--env", f"MARK={self.marker}", timeout=30)
        self.assertRan(result, TIMED_OUT)
        self.assertEqual(guardtest.processes_with_env_marker(self.marker), [])


class WithoutLandlock(guardtest.TestCase):
    def test_a_filter_that_hides_it_is_named_and_nothing_runs(self):
        for error in (errno.EPERM, errno.ENOSYS):
            result = oneshot(["touch", "ran"], "--allow-write", ".", cwd=self.ws,
                             preexec_fn=failing_calls.failing(("landlock_create_ruleset", error)))
            self.assertRan(result, GUARD_FAILED, b"")
            self.assertIn("a container's system call filter hides it", result.err)
            self.assertIn("--unsafe-no-guard", result.err)
            self.assertFalse((self.ws / "ran").exists())

    def test_guardd_refuses_every_run_and_says_why(self):
        daemon = self.start_daemon(env={"GUARD_LANDLOCK_ABI_MAX": "0"})
        for flags in ([], ["--best-effort"]):
            result = daemon.run(["touch", "ran"], "--allow-write", ".", *flags, cwd=self.ws)
            self.assertRan(result, GUARD_FAILED, b"")
            self.assertIn("cannot enforce file_access", result.err)
            self.assertFalse((self.ws / "ran").exists())


class InSandbox(guardtest.DaemonTestCase):
    """Of our own kind; Landlock and filters nest."""

    GRANTS = ("--allow-read", BIN.parent)

    def test_guardd_says_that_it_cannot_serve_there(self):
        folder = self.ws / "run"
        folder.mkdir(0o700)
        result = oneshot([BIN / "guardd", "--socket", folder / "guardd.sock"], "--allow-write", ".",
                         *self.GRANTS, cwd=self.ws)
        self.assertRan(result, 1, b"")
        self.assertIn("a sandbox around guardd refuses Unix sockets; start it outside", result.err)

    def test_xenarch_guard_in_a_run_narrows_it_and_cannot_widen_it(self):
        guard = [BIN / "xenarch-guard", "-q"]
        script = "import os; os.rename('a/f', 'b/f')"
        for name in ("a", "b"):
            (self.ws / name).mkdir()
        (self.ws / "a/f").write_text("x")
        # Moving between folders is refused by any layer that does not grant it.
        self.assertRan(self.guard_run([*guard, "--allow-write", ".", "--", "python3", "-c", script],
                                      "--allow-write", ".", *self.GRANTS, cwd=self.ws))
        self.assertTrue((self.ws / "b/f").exists())
        for inner in (["--allow-read", self.out], ["--unsafe-no-guard"]):
            result = self.guard_run([*guard, *inner, "--", "cat", self.secret], *self.GRANTS,
                                    cwd=self.ws)
            self.assertRan(result, 1, b"")
            self.assertIn("Permission denied", result.err)


if __name__ == "__main__":
    guardtest.main()
