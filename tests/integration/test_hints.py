"""What a person is told, by both doors, when a grant or a flag does not do what one might think."""
import json
import os
import pathlib
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest
from guardtest import GUARD_FAILED, NOT_EXECUTABLE, unconfined


class BothDoors(guardtest.DaemonTestCase):
    def doors(self):
        return guardtest.oneshot, self.guardd.run


class SingleFiles(BothDoors):
    """A write grant on one file. What saves by a new file beside it gets no further than the
    program's own error, which names neither the grant nor the folder."""

    SED = ["sed", "-i", "s/old/new/", "config"]
    INSERT = ["python3", "-c", "import sqlite3; base = sqlite3.connect('base'); "
                               "base.execute('insert into t values (1)'); base.commit()"]

    def setUp(self):
        super().setUp()
        (self.ws / "config").write_text("old\n")
        with sqlite3.connect(self.ws / "base") as base:
            base.execute("create table t (x)")
        base.close()

    def rows(self):
        base = sqlite3.connect(self.ws / "base")
        try:
            return base.execute("select count(*) from t").fetchone()[0]
        finally:
            base.close()

    def test_sed_in_place_is_told_to_need_the_folder(self):
        for door in self.doors():
            (self.ws / "config").write_text("old\n")
            refused = door(self.SED, "--allow-write", "config", cwd=self.ws)
            self.assertNotEqual(refused.rc, 0)
            self.assertIn("couldn't open temporary file", refused.err)
            self.assertIn(f"need its folder: --allow-write {self.ws}", refused.err)
            self.assertEqual((self.ws / "config").read_text(), "old\n")
            advised = door(self.SED, "--allow-write", self.ws, cwd=self.ws)
            self.assertRan(advised)
            self.assertNotIn("need its folder", advised.err)
            self.assertEqual((self.ws / "config").read_text(), "new\n")
        (self.ws / "config").write_text("old\n")
        self.assertRan(unconfined(self.SED, cwd=self.ws))

    def test_sqlite_is_told_to_need_the_folder(self):
        self.assertRan(unconfined(self.INSERT, cwd=self.ws))
        expected = 1
        for door in self.doors():
            refused = door(self.INSERT, "--allow-write", "base", cwd=self.ws)
            self.assertRan(refused, 1)
            self.assertIn("attempt to write a readonly database", refused.err)
            self.assertIn(f"need its folder: --allow-write {self.ws}", refused.err)
            self.assertEqual(self.rows(), expected)
            self.assertRan(door(self.INSERT, "--allow-write", self.ws, cwd=self.ws))
            expected += 1
            self.assertEqual(self.rows(), expected)

    def test_what_rewrites_in_place_works_and_reading_needs_no_advice(self):
        for door in self.doors():
            self.assertRan(door(["sh", "-c", "echo new >config"], "--allow-write", "config",
                                cwd=self.ws))
            read = door(["cat", "config"], "--allow-read", "config", cwd=self.ws)
            self.assertRan(read, stdout=b"new\n")
            self.assertNotIn("folder", read.err)


class Links(BothDoors):
    """A link in a granted folder to something that is not. The kernel judges where it leads, and
    the program says "Permission denied" of a path that looks granted."""

    def setUp(self):
        super().setUp()
        self.etc = self.work / "etc"
        self.etc.mkdir()
        self.link = self.etc / "resolv.conf"
        self.link.symlink_to("../out/secret")

    def test_an_argument_that_leads_out_is_named_with_its_target_and_the_flag(self):
        read = ["cat", self.link]
        self.assertRan(unconfined(read), stdout=self.SECRET)
        told = (f"the link {self.link} leads to {self.secret}, which is not granted: "
                f"--allow-read {self.secret}")
        for door in self.doors():
            refused = door(read, "--allow-read", self.etc, cwd=self.ws)
            self.assertRan(refused, 1, b"")
            self.assertIn("Permission denied", refused.err)
            self.assertIn(told, refused.err)
            advised = door(read, "--allow-read", self.etc, "--allow-read", self.secret, cwd=self.ws)
            self.assertRan(advised, 0, self.SECRET)
            self.assertNotIn("leads to", advised.err)

    def test_one_on_the_way_is_named(self):
        (self.etc / "conf.d").symlink_to(self.out)
        read = ["cat", "conf.d/secret"]
        self.assertRan(unconfined(read, cwd=self.etc), stdout=self.SECRET)
        for door in self.doors():
            refused = door(read, cwd=self.etc)
            self.assertRan(refused, 1, b"")
            self.assertIn(f"the link {self.etc}/conf.d leads to {self.secret}", refused.err)

    def test_one_to_write_through_is_named_though_its_target_is_not_there_yet(self):
        (self.ws / "log").symlink_to(self.out / "log")
        for door in self.doors():
            refused = door(["touch", "log"], "--allow-write", ".", cwd=self.ws)
            self.assertRan(refused, 1)
            self.assertIn(f"the link {self.ws}/log leads to {self.out}/log", refused.err)
        self.assertRan(unconfined(["touch", "log"], cwd=self.ws))

    def test_the_program_itself_is_an_error_that_names_both(self):
        (self.out / "tool").write_bytes(pathlib.Path("/bin/true").read_bytes())
        (self.out / "tool").chmod(0o755)
        (self.ws / "tool").symlink_to(self.out / "tool")
        self.assertRan(unconfined([self.ws / "tool"]))
        for door in self.doors():
            refused = door([self.ws / "tool"], "--allow-read", self.ws, cwd=self.ws)
            self.assertRan(refused, NOT_EXECUTABLE)
            self.assertIn(f"'{self.ws}/tool', which leads to '{self.out}/tool'", refused.err)
            self.assertIn(f"--allow-read {self.out}/tool", refused.err)
            self.assertEqual(refused.err.count("leads to"), 1, refused)

    def test_one_that_stays_inside_and_words_that_are_no_paths_are_not_talked_about(self):
        (self.ws / "data").symlink_to(self.ro / "data")
        for door in self.doors():
            result = door(["sh", "-c", "cat data", "/bin/sh", "word", "../out/secret", ""],
                          "--allow-write", ".", "--allow-read", self.ro, cwd=self.ws)
            self.assertRan(result, 0, b"to be read\n")
            self.assertNotIn("leads to", result.err)

    def test_a_look_ahead_and_the_json_report_say_it_too(self):
        told = f"the link {self.link} leads to {self.secret}"
        read = ["cat", self.link]
        ahead = guardtest.oneshot(read, "--check", "--allow-read", self.etc, cwd=self.ws)
        self.assertRan(ahead)
        self.assertIn(told, ahead.out)
        ahead = self.guardd.guardctl("check", "--allow-read", self.etc, "--", *read, cwd=self.ws)
        self.assertRan(ahead)
        self.assertIn(told, ahead.out)
        events = self.guard_run(read, "--json", "--allow-read", self.etc, cwd=self.ws).out
        report = json.loads(events.splitlines()[0])["report"]
        self.assertIn(told, " ".join(report["warnings"]))


class Defaults(BothDoors):
    def test_the_working_directory_has_a_flag_of_its_own(self):
        bare = ["--no-default-grants"]
        for path in ("/usr", "/bin", "/lib64", "/etc/ld.so.cache"):
            bare += ["--allow-read", path]
        (self.ws / "data").write_text("here\n")
        self.assertRan(unconfined(["cat", "data"], cwd=self.ws), stdout=b"here\n")
        for door in self.doors():
            for flags in ([], bare):
                self.assertRan(door(["cat", "data"], *flags, cwd=self.ws), 0, b"here\n")
                refused = door(["cat", "data"], *flags, "--no-cwd", cwd=self.ws)
                self.assertRan(refused, 1, b"")
                self.assertIn("Permission denied", refused.err)


class Paths(BothDoors):
    def test_a_path_that_the_shell_did_not_expand_is_an_error_and_never_passed_over(self):
        for door in self.doors():
            for path, text in (("~/x", 'write "$HOME/..."'), ("ws/**", "patterns are not expanded"),
                               ("w?", "patterns are not expanded"), ("ws,ro", "mkdir -p"),
                               (" ws", "mkdir -p"), ("ws\n", "mkdir -p")):
                with self.subTest(path=path):
                    result = door(["touch", "ws/ran"], "--allow-write", "ws", "--allow-read", path,
                                  cwd=self.work)
                    self.assertRan(result, GUARD_FAILED, b"")
                    self.assertIn(text, result.err)
        self.assertFalse((self.ws / "ran").exists())

    def test_names_of_any_bytes_are_granted_as_they_are(self):
        for door in self.doors():
            for name in (b"a b", b"a,b", b"a\nb", b"\xff\xfe", b"*", b"~", b"-dash", b"quo'te"):
                with self.subTest(name=name):
                    folder = os.path.join(os.fsencode(self.out), name)
                    os.makedirs(folder, exist_ok=True)
                    self.assertRan(door([b"touch", os.path.join(folder, b"f")],
                                        b"--allow-write=" + name, cwd=self.out))
                    os.unlink(os.path.join(folder, b"f"))


class Architectures(BothDoors):
    def test_the_signal_that_ends_32_bit_programs_is_told(self):
        self.assertRan(unconfined(["sh", "-c", "kill -SYS $$"]), 128 + 31)
        result = self.guard_run(["sh", "-c", "kill -SYS $$"])
        self.assertRan(result, 128 + 31, b"")
        self.assertIn("ended by SIGSYS, as every 32-bit program is here", result.err)


class Flags(BothDoors):
    def refused(self, door, flags, *texts):
        with self.subTest(flags=flags):
            result = door(["touch", "ran"], *flags, cwd=self.ws)
            self.assertRan(result, GUARD_FAILED, b"")
            for text in texts:
                self.assertIn(text, result.err)
            self.assertFalse((self.ws / "ran").exists())

    def test_of_two_values_none_is_chosen(self):
        for door in self.doors():
            self.refused(door, ["--cd", self.ro, "--cd", self.ws], "--cd is given twice")
            self.refused(door, ["--cd", self.ro, f"--cd={self.ro}"], "--cd is given twice")
        for flag, one, two in (("--timeout", "1s", "2s"), ("--grace", "1s", "2s"),
                               ("--socket", "/a", "/b"), ("--timeout", "none", "1s")):
            self.refused(self.guardd.run, [flag, one, flag, two], f"{flag} is given twice")
        self.refused(guardtest.oneshot, ["--json-report", "1", "--json-report", "2"],
                     "--json-report is given twice")
        self.assertRan(self.guardd.guardctl("check", "--cd", "/", "--cd", "/"), 2, b"")

    def test_what_may_be_repeated_still_may(self):
        for door in self.doors():
            result = door(["sh", "-c", "cat ../ro/data; echo $A; touch f"], "--allow-read", self.ro,
                          "--allow-write", ".", "--allow-read", self.ro, "--env", "A=1", "--env",
                          "A=2", "-v", "-v", "--no-cwd", "--no-cwd", cwd=self.ws)
            self.assertRan(result, 0, b"to be read\n2\n")

    def test_flags_of_the_other_door_say_what_to_use_here(self):
        for flags, text in ((["--timeout", "1s"], "guardctl run has --timeout"),
                            (["--timeout=1s"], "guardctl run has --timeout"),
                            (["--grace", "1s"], "guardctl run has --grace"),
                            (["--no-stdin"], "</dev/null"), (["-n"], "</dev/null"),
                            (["--json"], "--json-report FD"),
                            (["--socket", "/x"], "guardctl run has --socket")):
            self.refused(guardtest.oneshot, flags, f"unknown flag '{flags[0].split('=')[0]}'", text)
        for flag, text in (("--check", "guardctl check"), ("--quiet", "-v asks"), ("-q", "-v asks"),
                           ("--json-report=3", "--json"), ("--list-syscalls", "xenarch-guard"),
                           ("--version", "guardctl version"),
                           ("--allow-tty-modes", "xenarch-guard has --allow-tty-modes")):
            self.refused(self.guardd.run, [flag], f"unknown flag '{flag.split('=')[0]}'", text)
        result = self.guardd.guardctl("check", "--timeout", "1s")
        self.assertRan(result, 2, b"")
        self.assertIn("guardctl run has it", result.err)

    def test_grace_without_a_timeout_counts_when_guardd_ends(self):
        daemon = self.start_daemon()
        script = "trap 'sleep 0.6; echo cleaned; exit 0' TERM; touch up; while :; do sleep 0.05; done"
        with guardtest.Popen([guardtest.BIN / "guardctl", "run", "--grace", "2500ms",
                              "--allow-write", ".", "--", "sh", "-c", script], cwd=self.ws,
                             env=guardtest.environment(GUARDD_SOCKET=daemon.socket),
                             stdin=-3, stdout=-1, stderr=-1) as run:
            self.assertTrue(guardtest.wait_until((self.ws / "up").exists, 20))
            self.assertEqual(daemon.stop(), 0)
            out, err = run.communicate(timeout=20 * guardtest.SLOW)
        self.assertEqual(out, b"cleaned\n", err)


if __name__ == "__main__":
    guardtest.main()
