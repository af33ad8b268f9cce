"""Each door tells truthfully what this kernel gives: neither more nor less than job.json says that
its Landlock ABI is."""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest
from guardtest import GUARD_FAILED, oneshot

JOB = json.loads((guardtest.SOURCE / "job.json").read_text())
ABI = JOB["landlock_abi"]
UNSUPPORTED = 5  # of guardctl's other commands

# name: (status, who does it), by the least ABI that it holds from
EXPECTED = {
    "no_new_privs": {1: ("enforced", "prctl")},
    "file_access": {1: ("enforced", "landlock")},
    "truncate": {1: ("enforced", "seccomp stand-in"), 3: ("enforced", "landlock")},
    "device_ioctl": {1: ("weakened", "seccomp"), 5: ("enforced", "landlock")},
    "network": {1: ("enforced", "seccomp")},
    "unix_sockets": {1: ("enforced", "seccomp")},
    "signals": {1: ("weakened", "seccomp"), 6: ("enforced", "landlock")},
    "processes": {1: ("enforced", "seccomp, landlock")},
    "syscall_filter": {1: ("enforced", "seccomp")},
    "descriptors": {1: ("enforced", "close_range")},
    "tree_kill": {1: ("weakened", "sweeps of /proc"), 6: ("enforced", "landlock")},
}
# The one-shot door kills no tree: it becomes the program.
ONESHOT_TREE_KILL = ("not_asked", "")


def expected():
    return {name: by_abi[max(abi for abi in by_abi if abi <= ABI)]
            for name, by_abi in EXPECTED.items()}


def told(report):
    return {each["name"]: (each["status"], each["by"]) for each in report["protections"]}


class ThisKernel(guardtest.TestCase):
    def test_is_the_one_asked_for(self):
        self.assertEqual(guardtest.landlock_abi(), ABI)
        for name, value in JOB["sysctls"]:
            self.assertEqual(pathlib.Path("/proc/sys", *name.split(".")).read_text().strip(), value)

    @unittest.skipUnless(JOB["sysctls"], "kernel: nothing is forbidden here")
    def test_has_no_user_namespace_to_give(self):
        result = guardtest.unconfined(["unshare", "--user", "true"])
        self.assertNotEqual(result.rc, 0, result)


@unittest.skipUnless(ABI, "kernel: no Landlock")
class WithLandlock(guardtest.DaemonTestCase):
    def reports(self):
        """What each door says that it would do, and what each says that it did."""
        planned = self.guardd.guardctl("check", "--json")
        self.assertRan(planned)
        yield "guardctl check", json.loads(planned.out)
        for flags in (["--check"], []):
            report = self.work / "report.json"
            with open(report, "wb") as file:
                result = oneshot(["true"], *flags, "--json-report", str(file.fileno()),
                                 pass_fds=[file.fileno()])
            self.assertRan(result)
            yield f"xenarch-guard {flags}", json.loads(report.read_text())

    def test_every_report_names_what_is_enforced_and_what_is_not(self):
        for door, report in self.reports():
            with self.subTest(door=door):
                self.assertEqual(report["landlock_abi"], ABI)
                self.assertEqual(report["landlock_abi_kernel"], ABI)
                got, want = told(report), expected()
                if "xenarch" in door:
                    want["tree_kill"] = ONESHOT_TREE_KILL
                self.assertEqual(got, want)
                for each in report["protections"]:
                    self.assertEqual(bool(each["why"]),
                                     each["status"] != "enforced", each)

    def test_a_run_says_what_is_weakened_and_nothing_else(self):
        weakened = [name for name, (status, _) in expected().items() if status == "weakened"]
        result = self.guardd.run(["sh", "-c", "echo ran; exit 3"])
        self.assertRan(result, 3, b"ran\n")
        for name in EXPECTED:
            self.assertEqual(f"{name} (" in result.err, name in weakened, result)
        self.assertEqual("weakened:" in result.err, bool(weakened), result)

    def test_strict_runs_only_where_all_is_in_full(self):
        for door in (oneshot, self.guardd.run):
            with self.subTest(door=door.__name__):
                result = door(["touch", self.ws / "ran"], "--strict", "--allow-write", self.ws)
                self.assertEqual(result.rc, 0 if ABI >= 6 else GUARD_FAILED, result)
                self.assertEqual((self.ws / "ran").exists(), ABI >= 6)
                (self.ws / "ran").unlink(missing_ok=True)


@unittest.skipIf(ABI, "kernel: it has Landlock")
class WithoutLandlock(guardtest.DaemonTestCase):
    WHY = "Landlock is off at boot" if JOB["off_at_boot"] else "has no Landlock"

    def doors(self):
        return oneshot, self.guardd.run

    def test_no_level_runs_anything_and_each_says_why_and_what_would_help(self):
        for door in self.doors():
            for flags in ([], ["--strict"], ["--best-effort"]):
                with self.subTest(door=door.__name__, flags=flags):
                    result = door(["touch", self.ws / "ran"], *flags, "--allow-write", self.ws)
                    self.assertEqual(result.rc, GUARD_FAILED, result)
                    self.assertIn("file_access", result.err)
                    self.assertIn(self.WHY, result.err)
                    self.assertIn("--unsafe-no-guard", result.err)
                    self.assertFalse((self.ws / "ran").exists())

    def test_check_says_the_same(self):
        for result, rc in ((self.guardd.guardctl("check", "--json"), UNSUPPORTED),
                           (oneshot(["true"], "--check"), GUARD_FAILED)):
            self.assertEqual(result.rc, rc, result)
            self.assertIn(self.WHY, result.err)

    def test_unsafe_runs_and_says_that_nothing_confines(self):
        for door in self.doors():
            with self.subTest(door=door.__name__):
                result = door(["cat", self.secret], "--unsafe-no-guard")
                self.assertRan(result, 0, self.SECRET)
                self.assertRegex(result.err, "DISABLED|no sandbox")

    def test_unsafe_through_guardd_still_ends_the_tree(self):
        script = f"setsid sh -c 'exec sleep 1000 {self.marker}' >/dev/null 2>&1 & echo started"
        result = self.guardd.run(["sh", "-c", script.replace("exec sleep", "sleep")],
                                 "--unsafe-no-guard")
        self.assertRan(result, 0, b"started\n")
        self.assertTrue(guardtest.wait_until(
            lambda: not guardtest.processes_matching(self.marker), 10))


if __name__ == "__main__":
    guardtest.main()
