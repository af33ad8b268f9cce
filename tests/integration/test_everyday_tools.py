"""Tools whose needs lie elsewhere than one thinks: terminals of their own, repositories in two
places, caches in the home folder, processes that go on in the background."""
import pathlib
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest
from guardtest import GUARD_FAILED, unconfined


def needs(tool):
    return unittest.skipUnless(shutil.which(tool, path="/usr/bin:/bin"),
                               f"kernel: not installed: {tool}")


class BothDoors(guardtest.DaemonTestCase):
    def doors(self):
        return guardtest.oneshot, self.guardd.run


class Terminals(BothDoors):
    """A terminal of the program's own (openpty: script, tmux, expect)."""

    OPENPTY = """\
import os
try:
    ours, its = os.openpty()
    print("opened, a terminal" if os.isatty(its) else "opened")
except OSError as error:
    print(error.strerror)
"""
    BOTH_FOLDERS = ["--allow-write", "/dev/ptmx", "--allow-write", "/dev/pts"]

    def test_none_can_be_made_unless_asked_for(self):
        openpty = ["python3", "-c", self.OPENPTY]
        self.assertRan(unconfined(openpty), stdout=b"opened, a terminal\n")
        for door in self.doors():
            self.assertRan(door(openpty, cwd=self.ws), 0, b"Permission denied\n")
            # Half of what it takes gives none.
            for half in (self.BOTH_FOLDERS[:2], self.BOTH_FOLDERS[2:]):
                self.assertRan(door(openpty, *half, cwd=self.ws), 0, b"Permission denied\n")

    @needs("script")
    def test_script_says_so_and_runs_nothing(self):
        script = ["script", "-qec", "echo in", "/dev/null"]
        self.assertRan(unconfined(script), stdout=b"in\r\n")
        for door in self.doors():
            refused = door(script, cwd=self.ws)
            self.assertRan(refused, 1, b"")
            self.assertIn("failed to create pseudo-terminal: Permission denied", refused.err)

    @needs("script")
    def test_with_both_grants_script_runs(self):
        script = ["script", "-qec", "echo in", "/dev/null"]
        for door in self.doors():
            result = door(script, *self.BOTH_FOLDERS, cwd=self.ws)
            self.assertRan(result)
            self.assertEqual(result.stdout.split(), [b"in"], result)

    @guardtest.needs_landlock_abi(5, "governing the ioctls of devices")
    def test_with_both_grants_what_opens_is_no_terminal_to_programs(self):
        for door in self.doors():
            result = door(["python3", "-c", self.OPENPTY], *self.BOTH_FOLDERS, cwd=self.ws)
            self.assertRan(result)
            self.assertIn(result.stdout, (b"opened\n", b"Permission denied\n"))

    def test_the_grant_says_that_it_opens_every_terminal(self):
        for door in self.doors():
            result = door(["true"], *self.BOTH_FOLDERS, cwd=self.ws)
            self.assertRan(result)
            self.assertIn("/dev/pts (opens every terminal of this user", result.err)


class Worktrees(BothDoors):
    """A linked worktree of git: its .git is a file that names a folder in the main repository."""

    def setUp(self):
        super().setUp()
        self.main, self.tree = self.work / "main", self.work / "tree"
        self.git("init", "-q", "-b", "main", self.main)
        for name, value in (("user.name", "a"), ("user.email", "a@b")):
            self.git("-C", self.main, "config", name, value)
        self.git("-C", self.main, "commit", "-q", "--allow-empty", "-m", "first")
        self.git("-C", self.main, "worktree", "add", "-q", "-b", "side", self.tree)
        self.common = self.main / ".git"

    def git(self, *arguments):
        self.assertRan(unconfined(["git", *arguments]))

    COMMIT = ["sh", "-c", "date >>f && git add f && git commit -q -m more && git status --short"]

    def test_without_the_main_repository_git_names_what_it_misses(self):
        self.assertRan(unconfined(["git", "status", "--short"], cwd=self.tree), stdout=b"")
        for door in self.doors():
            refused = door(["git", "status"], "--allow-write", ".", cwd=self.tree)
            self.assertRan(refused, 128, b"")
            self.assertIn(f"not a git repository: {self.common}/worktrees/tree", refused.err)

    def test_with_a_read_grant_on_it_one_looks_and_does_not_commit(self):
        flags = ["--allow-write", ".", "--allow-read", self.common]
        for door in self.doors():
            looked = door(["sh", "-c", "git status --short && git log --format=%s"], *flags,
                          cwd=self.tree)
            self.assertRan(looked, 0, b"first\n")
            refused = door(self.COMMIT, *flags, cwd=self.tree)
            self.assertRan(refused, 128)
            self.assertIn(f"{self.common}/worktrees/tree/index.lock': Permission denied", refused.err)
            (self.tree / "f").unlink()
        self.assertRan(unconfined(self.COMMIT, cwd=self.tree))

    def test_commits_need_four_folders_of_it_and_neither_hooks_nor_config(self):
        flags = ["--allow-write", ".", "--allow-read", self.common]
        for name in ("worktrees/tree", "objects", "refs", "logs"):
            flags += ["--allow-write", self.common / name]
        attack = ["sh", "-c", f"echo x >{self.common}/hooks/pre-commit; git config a.b c"]
        config = (self.common / "config").read_bytes()
        for door in self.doors():
            self.assertRan(door(self.COMMIT, *flags, cwd=self.tree), 0, b"")
            refused = door(attack, *flags, cwd=self.tree)
            self.assertNotEqual(refused.rc, 0)
            self.assertEqual(refused.err.count("Permission denied"), 2, refused)
            self.assertFalse((self.common / "hooks/pre-commit").exists())
            self.assertEqual((self.common / "config").read_bytes(), config)
        log = unconfined(["git", "log", "--format=%s", "side"], cwd=self.main)
        self.assertRan(log, stdout=b"more\nmore\nfirst\n")
        self.assertRan(unconfined(attack, cwd=self.tree))
        self.assertTrue((self.common / "hooks/pre-commit").exists())


class Caches(BothDoors):
    """Package managers fill caches in the home folder. Theirs is the run's own, and goes with it."""

    def setUp(self):
        super().setUp()
        self.home = self.work / "home"
        self.home.mkdir()
        self.env = {"HOME": self.home}

    def door_runs(self, script, expected):
        for door in self.doors():
            shutil.rmtree(self.ws)
            self.ws.mkdir()
            result = door(["sh", "-ec", script], "--allow-write", ".", cwd=self.ws, env=self.env,
                          timeout=120)
            self.assertRan(result, 0, expected)
            self.assertEqual(list(self.home.iterdir()), [], "the real home was written to")

    def test_what_is_written_below_home_and_the_xdg_folders_is_kept_for_the_run(self):
        script = """
for cache in "${XDG_CACHE_HOME:-$HOME/.cache}/uv" "$HOME/.npm/_cacache" "$HOME/.cargo/registry" \
             "$HOME/go/pkg/mod" "$HOME/.config/tool"; do
  mkdir -p "$cache" && echo cached >"$cache/entry" && cat "$cache/entry"
done
! cat "$HOME/.cache/uv/.git" 2>/dev/null"""
        self.assertRan(unconfined(["sh", "-ec", script], env={"HOME": self.ws}), 0, b"cached\n" * 5)
        self.door_runs(script, b"cached\n" * 5)

    def test_a_cache_folder_of_the_caller_is_not_passed_on(self):
        env = {**self.env, "XDG_CACHE_HOME": self.out, "npm_config_cache": self.out}
        for door in self.doors():
            result = door(["sh", "-c", "echo ${XDG_CACHE_HOME-none} ${npm_config_cache-none}"],
                          cwd=self.ws, env=env)
            self.assertRan(result, 0, b"none none\n")

    def test_a_cache_that_is_granted_and_named_is_kept(self):
        cache = self.work / "cache"
        cache.mkdir()
        script = 'cat "$XDG_CACHE_HOME/entry" 2>/dev/null; echo kept >"$XDG_CACHE_HOME/entry"'
        for door in self.doors():
            (cache / "entry").unlink(missing_ok=True)
            for expected in (b"", b"kept\n"):
                result = door(["sh", "-c", script], "--allow-write", cache, "--env",
                              f"XDG_CACHE_HOME={cache}", cwd=self.ws)
                self.assertRan(result, 0, expected)

    def test_a_private_home_is_empty_each_time(self):
        for door in self.doors():
            for _ in range(2):
                result = door(["sh", "-c", "ls -A ~; mkdir ~/.cache"], cwd=self.ws)
                self.assertRan(result, 0, b"")

    @needs("npm")
    def test_npm_installs_from_a_file(self):
        self.door_runs("""
mkdir part && echo '{"name": "part", "version": "1.0.0"}' >part/package.json
npm pack --silent ./part >/dev/null
echo '{"name": "whole", "version": "1.0.0"}' >package.json
npm install --silent --offline --no-audit --no-fund ./part-1.0.0.tgz >/dev/null
test -d ~/.npm/_cacache && ls node_modules""", b"part\n")

    @needs("pip3")
    def test_pip_keeps_its_cache_in_it(self):
        self.door_runs("""
case $(pip3 cache dir) in "$HOME"/*) echo private;; esac
pip3 download --no-index --dest . no-such-package >out 2>&1 || grep -c 'No matching' out
""", b"private\n1\n")


class Input(guardtest.DaemonTestCase):
    def test_a_file_that_is_handed_over_can_be_opened_by_name_where_it_is_a_pipe(self):
        """`cat /dev/stdin` opens it anew, and a file outside the grants is refused then."""
        for door, read in ((self.guardd.run, self.SECRET), (guardtest.oneshot, b"")):
            with open(self.secret, "rb") as stdin:
                self.assertEqual(door(["cat", "/dev/stdin"], stdin=stdin).stdout, read)
            with open(self.secret, "rb") as stdin:
                self.assertRan(door(["cat"], stdin=stdin), 0, self.SECRET)


class Background(BothDoors):
    """What goes on beside the program: threads and rings of a runtime, detached processes."""

    @needs("node")
    def test_node_runs_when_told_to_use_io_uring(self):
        # Its rings are refused as if the kernel had none; killed for them it would end in silence.
        script = """
const fs = require('fs');
fs.writeFileSync('f', 'written');
fs.promises.readFile('f', 'utf8').then(text => fs.stat('f', (error, facts) =>
  console.log(text, facts.size, error)));"""
        env = {"UV_USE_IO_URING": "1"}
        expected = b"written 7 null\n"
        self.assertRan(unconfined(["node", "-e", script], cwd=self.ws, env=env), 0, expected)
        for door in self.doors():
            result = door(["node", "-e", script], "--allow-write", ".", "--env", "UV_USE_IO_URING",
                          cwd=self.ws, env=env)
            self.assertRan(result, 0, expected)

    def test_what_went_to_the_background_keeps_its_grants_and_gets_no_others(self):
        # Without a daemon it outlives its parent, and may still do what it could before.
        script = (f"setsid sh -c 'sleep 0.3; echo x >in; (echo x >{self.out}/new) 2>err; : >done' "
                  ">/dev/null 2>&1 &")
        result = guardtest.oneshot(["sh", "-c", script], "--allow-write", ".", cwd=self.ws)
        self.assertRan(result)
        self.assertTrue(guardtest.wait_until((self.ws / "done").exists, 20))
        self.assertEqual((self.ws / "in").read_text(), "x\n")
        self.assertIn("Permission denied", (self.ws / "err").read_text())
        self.assertFalse((self.out / "new").exists())


class OwnProcess(BothDoors):
    """/proc/self is whoever opens it, and a grant is opened before the program runs."""

    READ = ["cat", "/proc/self/comm"]

    def test_it_is_the_program_itself_and_no_child_of_it(self):
        granted = ["--allow-read", "/proc/self"]
        self.assertRan(guardtest.oneshot(self.READ, *granted), 0, b"cat\n")
        child = guardtest.oneshot(["sh", "-c", "cat /proc/self/comm; :"], *granted)
        self.assertRan(child, 0, b"")
        self.assertIn("Permission denied", child.err)
        self.assertRegex(child.err, r"/proc/self -> /proc/\d+")
        self.assertRan(unconfined(["sh", "-c", "cat /proc/self/comm; :"]), 0, b"cat\n")

    def test_it_is_never_guardd(self):
        ours = f"/proc/{self.guardd.pid}"
        (self.ws / "way").symlink_to("/proc/self")
        for path in ("/proc/self", "/proc/thread-self", "/dev/fd", "/dev/stdin", "/proc/self/net",
                     ours, f"{ours}/status", self.ws / "way"):
            with self.subTest(path=path):
                result = self.guard_run(["cat", f"{ours}/comm"], "--allow-read", path)
                self.assertRan(result, GUARD_FAILED, b"")
                self.assertIn("leads to guardd's own process", result.err)
        self.assertRan(self.guardd.guardctl("check", "--allow-read", "/proc/self"), 2, b"")
        self.assertRan(unconfined(["cat", f"{ours}/comm"]), 0, b"guardd\n")

    def test_with_all_of_proc_a_run_reads_its_own_and_no_secret_of_guardd(self):
        for door in self.doors():
            result = door(["sh", "-c", "cat /proc/self/comm; :"], "--allow-read", "/proc")
            self.assertRan(result, 0, b"cat\n")
        secret = ["cat", f"/proc/{self.guardd.pid}/environ"]
        self.assertRan(unconfined(secret))
        for door in self.doors():
            result = door(secret, "--allow-read", "/proc")
            self.assertRan(result, 1, b"")
            self.assertIn("Permission denied", result.err)


if __name__ == "__main__":
    guardtest.main()
