"""xenarch-guard: what real programs may do below, beside and outside a grant."""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest
from guardtest import NOT_EXECUTABLE, oneshot, unconfined

ATTEMPT = "import os, sys\n" + guardtest.ATTEMPT


class Writes(guardtest.TestCase):
    def sh(self, script, *flags):
        return oneshot(["sh", "-c", script], *flags, cwd=self.ws)

    def test_rename_and_link_across_folders_of_one_grant(self):
        for name in ("a", "b"):
            (self.ws / name).mkdir()
        (self.ws / "a/f").write_text("x")
        # os.rename and ln: mv would hide EXDEV by copying.
        script = "import os; os.rename('a/f', 'b/f'); os.link('b/f', 'a/g')"
        self.assertRan(oneshot(["python3", "-c", script], "--allow-write", ".", cwd=self.ws))
        self.assertTrue((self.ws / "a/g").samefile(self.ws / "b/f"))

    def test_rename_and_link_out_of_a_grant_are_refused(self):
        (self.ws / "f").write_text("x")
        script = ATTEMPT + f"""
print(attempt(lambda: os.rename("f", "{self.out}/f")), attempt(lambda: os.link("f", "{self.out}/f")),
      attempt(lambda: os.link("{self.secret}", "s")), attempt(lambda: os.rename("{self.secret}", "s")))
"""
        free = unconfined(["python3", "-c", script], cwd=self.ws)
        self.assertRan(free, stdout=b"ok ENOENT ok ok\n")
        os.unlink(self.ws / "s")  # renaming one name of a file to the other removes neither
        (self.out / "f").rename(self.ws / "f")
        held = oneshot(["python3", "-c", script], "--allow-write", ".", cwd=self.ws)
        self.assertRan(held)
        self.assertEqual(set(held.out.split()) - {"EACCES", "EXDEV"}, set(), held)
        self.assertEqual(self.secret.read_bytes(), self.SECRET)

    def test_folders_move_and_go_and_files_are_cut(self):
        self.assertRan(self.sh("mkdir -p d/s && mv d e && echo long >e/s/f && : >e/s/f && "
                               "truncate -s 2 e/s/f && rm -r e", "--allow-write", "."))

    def test_a_read_grant_reads_lists_and_executes_and_never_writes(self):
        (self.ro / "tool").write_text("#!/bin/sh\necho ran\n")
        (self.ro / "tool").chmod(0o755)
        script = ATTEMPT + """
print(attempt(lambda: open("data").read()), attempt(lambda: os.listdir(".")))
print(attempt(lambda: open("data", "a")), attempt(lambda: open("new", "w")),
      attempt(lambda: os.unlink("data")), attempt(lambda: os.mkdir("d")),
      attempt(lambda: os.truncate("data", 0)), attempt(lambda: os.symlink("x", "l")),
      attempt(lambda: os.mkfifo("p")), attempt(lambda: os.rename("data", "e")))
"""
        result = oneshot(["python3", "-c", script], "--allow-read", ".", cwd=self.ro)
        self.assertRan(result, stdout=b"ok ok\n" + b" ".join([b"EACCES"] * 8) + b"\n")
        self.assertRan(oneshot([self.ro / "tool"], "--allow-read", self.ro, cwd=self.ws),
                       stdout=b"ran\n")
        free = unconfined(["python3", "-c", script], cwd=self.ro)
        self.assertNotIn("EACCES", free.out)

    def test_a_single_file_is_rewritten_but_not_replaced(self):
        (self.ws / "f").write_text("aa\n")
        result = oneshot(["sh", "-c", "echo b >f && cat f"], "--allow-write", "f", "--no-cwd",
                         "--cd", ".", cwd=self.ws)
        self.assertRan(result, stdout=b"b\n")
        replaced = oneshot(["sed", "-i", "s/b/c/", "f"], "--allow-write", "f", cwd=self.ws)
        self.assertNotEqual(replaced.rc, 0)
        self.assertIn("need its folder", replaced.err)
        self.assertEqual((self.ws / "f").read_text(), "b\n")

    def test_read_above_write_below(self):
        result = self.sh(f"touch {self.ws}/f && cat {self.ro}/data && ! touch {self.ro}/f",
                         "--allow-read", self.work, "--allow-write", self.ws)
        self.assertRan(result, stdout=b"to be read\n")
        self.assertFalse((self.ro / "f").exists())

    def test_a_grant_by_symlink_is_of_its_target(self):
        (self.ws / "l").symlink_to(self.out)
        result = oneshot(["touch", self.out / "made"], "--allow-write", "l", cwd=self.ws)
        self.assertRan(result)
        self.assertIn(f"-> {self.out}", result.err)

    def test_a_symlink_inside_a_grant_leads_nowhere_new(self):
        (self.ws / "l").symlink_to(self.secret)
        self.assertRan(unconfined(["cat", "l"], cwd=self.ws), stdout=self.SECRET)
        result = oneshot(["cat", "l"], "--allow-write", ".", cwd=self.ws)
        self.assertEqual((result.rc, result.stdout), (1, b""), result)

    def test_a_path_swapped_after_the_start_changes_nothing(self):
        (self.work / "granted").mkdir()
        script = f"cd {self.work} && mv granted was && ln -s out granted && cat granted/secret"
        result = oneshot(["sh", "-c", script], "--allow-read", self.work / "granted", cwd=self.ws)
        self.assertNotEqual(result.rc, 0)
        # The same from outside while it runs: the rule is on the folder that was there.
        with guardtest.Popen([guardtest.BIN / "xenarch-guard", "-q", "--allow-read", "../granted", "--",
                               "sh", "-c", f"echo up; read go; cat {self.work}/granted/secret"],
                              cwd=self.ws, env=guardtest.environment(), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), b"up\n")
            (self.work / "granted").rename(self.work / "was")
            (self.work / "granted").symlink_to("out")
            out, err = process.communicate(b"go\n", 30)
        self.assertEqual(out, b"", err)

    def test_a_granted_file_opens_none_of_its_neighbours(self):
        result = oneshot(["sh", "-c", f"cat {self.ro}/data; cat {self.secret}"],
                         "--allow-read", self.ro / "data", cwd=self.ws)
        self.assertEqual((result.rc, result.stdout), (1, b"to be read\n"), result)

    def test_no_default_grants_grants_nothing_but_what_is_asked(self):
        result = oneshot(["/bin/true"], "--no-default-grants", cwd=self.ws)
        self.assertEqual(result.rc, NOT_EXECUTABLE, result)
        self.assertIn("not granted", result.err)
        granted = oneshot(["/usr/bin/true"], "--no-default-grants", "--allow-read", "/usr",
                          cwd=self.ws)
        self.assertRan(granted)


class Files(guardtest.TestCase):
    """Nodes that are no folder, /proc and /dev."""

    def test_device_files_can_be_granted_by_themselves(self):
        for device in ("/dev/null", "/dev/zero"):
            self.assertRan(oneshot(["sh", "-c", f"echo x >{device}"], "--no-default-grants",
                                   "--allow-read", "/usr", "--allow-read", "/bin", "--allow-read",
                                   "/lib64", "--allow-write", device, cwd=self.ws))

    def test_dev_null_works_without_asking_also_for_background_jobs(self):
        self.assertRan(oneshot(["bash", "-c", "echo x >/dev/null; sleep 0 & wait $!; cat </dev/null"]))

    def test_a_fifo_grant_does_not_block_the_start(self):
        os.mkfifo(self.out / "p")
        self.assertRan(oneshot(["echo", "ok"], "--allow-read", self.out / "p"), stdout=b"ok\n")

    def test_random_bytes_for_git(self):
        script = "git init -q r && cd r && echo x >f && git add f && git -c user.name=a " \
                 "-c user.email=a@b commit -qm m && git log --oneline | wc -l"
        self.assertRan(oneshot(["sh", "-c", script], "--allow-write", ".", cwd=self.ws),
                       stdout=b"1\n")

    SHARED = """if True:
        from multiprocessing import Lock, shared_memory
        Lock()
        one = shared_memory.SharedMemory(create=True, size=64)
        two = shared_memory.SharedMemory(one.name)
        one.buf[0] = 7
        assert two.buf[0] == 7
        two.close(); one.close(); one.unlink()
        print('ok')"""

    def test_shared_memory_lies_in_the_private_folder(self):
        self.assertRan(oneshot(["python3", "-c", self.SHARED]), stdout=b"ok\n")

    def test_shared_memory_of_others_is_granted_on_request_only(self):
        bare = ["--env", "LD_PRELOAD="]
        self.assertRan(oneshot(["python3", "-c", self.SHARED], *bare, "--allow-write", "/dev/shm"),
                       stdout=b"ok\n")
        refused = oneshot(["python3", "-c", self.SHARED], *bare)
        self.assertEqual(refused.rc, 1)
        self.assertIn("PermissionError", refused.err)

    def test_standard_streams_by_name_work_for_pipes_and_not_for_files_outside(self):
        self.assertRan(oneshot(["cat", "/dev/stdin"], input=b"piped"), stdout=b"piped")
        with open(self.secret, "rb") as stdin:
            direct = oneshot(["cat"], stdin=stdin)
        self.assertRan(direct, stdout=self.SECRET)  # what is handed over is handed over
        with open(self.secret, "rb") as stdin:
            self.assertEqual(oneshot(["cat", "/dev/stdin"], stdin=stdin).rc, 1)

    def test_no_process_of_proc_and_no_other_terminal(self):
        for path in ("/proc/1/cmdline", "/proc/self/environ", "/proc/net/tcp", "/dev/pts",
                     "/dev/shm", "/tmp", "/run", "/etc/shadow", "/etc/machine-id"):
            with self.subTest(path=path):
                script = ATTEMPT + "print(attempt(lambda: open(sys.argv[1], 'rb') if " \
                         "os.path.isfile(sys.argv[1]) else os.listdir(sys.argv[1])))"
                result = oneshot(["python3", "-c", script, path])
                self.assertIn(result.out.strip(), ("EACCES", "ENOENT"), result)

    def test_names_and_facts_outside_are_visible_and_the_report_says_so(self):
        result = oneshot(["stat", "-c", "%s", self.secret], "-v")
        self.assertRan(result, stdout=b"%d\n" % len(self.SECRET))
        self.assertIn("names and facts of files outside the grants", result.err)
        self.assertNotIn("invisible", result.err)

    def test_the_environment_of_its_caller_cannot_be_read(self):
        # The caller's memory and variables, with /proc granted on purpose.
        script = f"cat /proc/{os.getpid()}/environ"
        self.assertRan(unconfined(["sh", "-c", script]))
        result = oneshot(["sh", "-c", script], "--allow-read", "/proc")
        self.assertEqual((result.rc, result.stdout), (1, b""), result)


class Inherited(guardtest.TestCase):
    def test_no_descriptor_above_two_gets_in_however_high(self):
        secret = os.open(self.secret, os.O_RDONLY)
        self.addCleanup(os.close, secret)
        for number in (60, 200, 1000):
            os.dup2(secret, number)
            self.addCleanup(os.close, number)
            argv = ["python3", "-c", f"import os; print(os.read({number}, 99))"]
            self.assertRan(unconfined(argv, pass_fds=[number]),
                           stdout=repr(self.SECRET).encode() + b"\n")
            os.lseek(secret, 0, os.SEEK_SET)
            result = oneshot(argv, pass_fds=[number], cwd=self.ws)
            self.assertEqual(result.rc, 1, result)
            self.assertIn("Bad file descriptor", result.err)


if __name__ == "__main__":
    guardtest.main()
