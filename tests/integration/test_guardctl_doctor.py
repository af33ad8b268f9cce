"""guardctl doctor on the machine at hand: what it finds, what it leaves alone, and its exit codes."""
import contextlib
import fcntl
import json
import os
import pathlib
import re
import socket
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest  # noqa: E402
from test_guardctl import matches  # noqa: E402

GUARDCTL = guardtest.BIN / "guardctl"
BAD_USAGE, A_PROBLEM = 2, 1
SCHEMA = json.loads((guardtest.SOURCE / "docs/schema/doctor.schema.json").read_text())
PAGE = (guardtest.SOURCE / "docs/doctor.md").read_text()


class DoctorTestCase(guardtest.TestCase):
    def doctor(self, *flags, argv=(), at=None, env=None):
        return guardtest.run([*argv, GUARDCTL, "doctor", *flags], env={
            "GUARDD_SOCKET": at or self.work / "run/guardd.sock", **(env or {})})

    def found(self, *flags, rc=0, **how):
        """The findings by id; the object is as its schema says, each id is in the page."""
        result = self.doctor("--json", *flags, **how)
        self.assertRan(result, rc)
        self.assertEqual(result.out.count("\n"), 1)
        told = json.loads(result.out)
        self.assertTrue(matches(SCHEMA, told, SCHEMA), told)
        self.assertEqual(told["ok"], rc == 0)
        found = {each["id"]: each for each in told["findings"]}
        self.assertEqual(len(found), len(told["findings"]))
        for name in found:
            self.assertIn("`%s`" % re.sub(r"^protection\..*", "protection.NAME", name), PAGE)
        return found

    def assertFound(self, found, name, level, *words):
        self.assertEqual(found[name]["level"], level, found[name])
        for word in words:
            self.assertIn(str(word), found[name]["text"] + " " + found[name]["fix"])


class NoDaemon(DoctorTestCase):
    def setUp(self):
        super().setUp()
        (self.work / "run").mkdir(mode=0o700)

    def test_it_tells_that_none_runs_and_starts_none(self):
        found = self.found()
        self.assertFound(found, "guardd", "note", "guardctl daemon start")
        self.assertFound(found, "guardd_program", "ok", guardtest.BIN / "guardd")
        self.assertFound(found, "guard_launcher", "ok", "guard-launcher")
        self.assertFound(found, "socket_folder", "ok", self.work / "run")
        self.assertFound(found, "socket", "ok", "$GUARDD_SOCKET")
        self.assertEqual(os.listdir(self.work / "run"), [])

    def test_a_missing_folder_is_not_made(self):
        found = self.found(at=self.work / "new/guardd.sock")
        self.assertFound(found, "socket_folder", "ok", "made at the first start")
        self.assertFalse((self.work / "new").exists())
        found = self.found(at=self.work / "no/such/guardd.sock", rc=A_PROBLEM)
        self.assertFound(found, "socket_folder", "problem", self.work / "no", "--socket")

    def test_a_folder_that_is_open_to_others_is_told_with_the_command_and_left_alone(self):
        (self.work / "run").chmod(0o755)
        self.assertFound(self.found(rc=A_PROBLEM), "socket_folder", "problem",
                         f"chmod 700 {self.work / 'run'}")
        self.assertEqual((self.work / "run").stat().st_mode & 0o777, 0o755)

    def test_a_socket_that_cannot_be_one(self):
        self.assertFound(self.found(at="/" + "x" * 120, rc=A_PROBLEM), "socket", "problem", "107")
        self.assertFound(self.found(at="relative", rc=A_PROBLEM), "socket", "problem", "absolute")
        self.assertFound(self.found("--socket", self.work / "run/other.sock"), "socket", "ok",
                         "by --socket")

    def test_the_runtime_folder(self):
        here = self.work / "run"
        found = self.found(env={"GUARDD_SOCKET": None, "XDG_RUNTIME_DIR": here})
        self.assertFound(found, "socket", "ok", f"{here}/guardd/guardd.sock", "$XDG_RUNTIME_DIR")
        self.assertFound(found, "xdg_runtime_dir", "ok")
        self.assertEqual(os.listdir(here), [])
        found = self.found(env={"GUARDD_SOCKET": None, "XDG_RUNTIME_DIR": "/proc"}, rc=A_PROBLEM)
        self.assertFound(found, "xdg_runtime_dir", "problem", "unset XDG_RUNTIME_DIR")
        self.assertFound(self.found(), "xdg_runtime_dir", "note")

    def test_a_kernel_without_landlock_is_a_problem(self):
        found = self.found(env={"GUARD_LANDLOCK_ABI_MAX": "0"}, rc=A_PROBLEM)
        self.assertFound(found, "enforcement", "problem", "file_access")
        self.assertFound(self.found(env={"GUARD_LANDLOCK_ABI_MAX": "x"}, rc=A_PROBLEM), "kernel",
                         "problem", "GUARD_LANDLOCK_ABI_MAX")

    @guardtest.needs_landlock_abi(3, "a kernel to be lowered")
    def test_it_judges_as_the_report_of_a_run_does(self):
        env = {"GUARD_LANDLOCK_ABI_MAX": "2"}
        found = self.found(env=env)
        self.assertFound(found, "landlock", "warning", "GUARD_LANDLOCK_ABI_MAX")
        check = self.doctor_check(env)
        differs = {name for name, status in check.items() if status not in ("enforced", "not_asked")}
        self.assertEqual({name.removeprefix("protection.") for name in found
                          if name.startswith("protection.")}, differs)
        self.assertTrue(differs)

    def doctor_check(self, env):
        """The protections of `guardctl check`, by a guardd on such a kernel."""
        guardd = guardtest.Daemon(self.work / "other", env=env)
        self.addCleanup(guardd.stop)
        report = guardd.guardctl("check", "--json", "--no-cwd", env=env)
        self.assertRan(report)
        return {each["name"]: each["status"] for each in json.loads(report.out)["protections"]}

    def test_limits(self):
        low = ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh"]
        self.assertFound(self.found(argv=low), "open_files", "warning", "64")

    def test_text_for_a_pipe_is_plain(self):
        result = self.doctor(env={"LANG": "C.UTF-8", "TERM": "xterm"})
        self.assertRan(result)
        self.assertTrue(result.out.isascii(), result)
        self.assertNotIn("\x1b", result.out)
        self.assertRegex(result.out, r"(?m)^ok      Linux ")
        self.assertRegex(result.out, r"(?m)^note .*\n        fix: ")
        self.assertRegex(result.out, r"\n0 problems, \d+ warnings?\n$")

    def test_bad_usage(self):
        for flags in (["operand"], ["--nonsense"], ["--socket", ""]):
            self.assertRan(self.doctor(*flags), BAD_USAGE, b"")
        self.assertIn("docs/doctor.md", self.doctor("--help").out)

    def test_inside_a_sandbox(self):
        result = guardtest.oneshot([GUARDCTL, "doctor", "--json"], "--allow-read", guardtest.BIN)
        self.assertRan(result, A_PROBLEM)
        found = {each["id"]: each for each in json.loads(result.out)["findings"]}
        self.assertFound(found, "sandbox", "problem", "xenarch-guard")


class WithDaemon(DoctorTestCase):
    def test_a_guardd_that_runs(self):
        guardd = self.start_daemon()
        found = self.found(at=guardd.socket)
        self.assertFound(found, "guardd", "ok", guardd.pid)
        self.assertNotIn("guardd_landlock", found)

    @guardtest.needs_landlock_abi(3, "a kernel to be lowered")
    def test_one_that_was_started_for_a_lesser_kernel(self):
        guardd = self.start_daemon(env={"GUARD_LANDLOCK_ABI_MAX": "2"})
        self.assertFound(self.found(at=guardd.socket), "guardd_landlock", "warning", "ABI 2")

    def listener(self):
        """A listener that is no guardd, on guardd's socket."""
        (self.work / "run").mkdir(mode=0o700)
        here = socket.socket(socket.AF_UNIX)
        self.addCleanup(here.close)
        here.bind(os.fspath(self.work / "run/guardd.sock"))
        here.listen()
        return here

    def test_a_socket_that_is_held_for_guardd_is_not_called(self):
        held = self.listener()
        (self.work / "run/guardd.lock").touch()  # of an earlier one
        self.assertFound(self.found(), "guardd", "note", "does not run", "guardd.socket")
        held.setblocking(False)
        with self.assertRaises(BlockingIOError):  # systemd would have started guardd
            held.accept()

    def test_a_listener_that_is_no_guardd(self):
        other = self.listener()
        with open(self.work / "run/guardd.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)

            def hang_up():
                with contextlib.suppress(OSError):
                    while True:
                        other.accept()[0].close()

            threading.Thread(target=hang_up, daemon=True).start()
            self.assertFound(self.found(rc=A_PROBLEM), "guardd", "problem", "closed the connection")
        other.shutdown(socket.SHUT_RDWR)


if __name__ == "__main__":
    guardtest.main()
