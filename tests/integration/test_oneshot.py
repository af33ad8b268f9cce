"""xenarch-guard: what it grants and refuses, what it says, how it ends."""
import json
import os
import pathlib
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest
from guardtest import BIN, GUARD_FAILED, NOT_EXECUTABLE, NOT_FOUND, oneshot, unconfined

AGENT = """\
import pathlib, sys
pathlib.Path("workspace/out.txt").write_text("made")
for attempt in (lambda: open("outside.txt", "w"), lambda: open(sys.argv[1])):
    try:
        attempt()
        print("worked")
    except PermissionError as error:
        print("refused")
"""


class OriginalCommandLines(guardtest.TestCase):
    """As printed where the tool was first described."""

    def test_an_agent_writes_its_workspace_and_nothing_else(self):
        (self.ws / "workspace").mkdir()
        (self.ws / "agent.py").write_text(AGENT)
        argv = ["python3", "agent.py", self.secret]
        free = unconfined(argv, cwd=self.ws)
        self.assertRan(free, stdout=b"worked\nworked\n")
        (self.ws / "outside.txt").unlink()
        held = oneshot(argv, "--allow-write", "./workspace", cwd=self.ws)
        self.assertRan(held, stdout=b"refused\nrefused\n")
        self.assertEqual((self.ws / "workspace/out.txt").read_text(), "made")
        self.assertFalse((self.ws / "outside.txt").exists())

    def test_a_skill_step_copies_notes(self):
        (self.ws / "notes").mkdir()
        (self.ws / "notes/a").write_text("a")
        copied = oneshot(["/bin/sh", "-c", "cp -r ./notes ./backup"],
                         "--allow-read", "./notes", "--allow-write", ".", cwd=self.ws)
        self.assertRan(copied)
        compared = oneshot(["/bin/sh", "-c", "diff -r ./notes ./backup"],
                           "--allow-read", "./notes", "--allow-read", "./backup", cwd=self.ws)
        self.assertRan(compared, stdout=b"")


class Report(guardtest.TestCase):
    def lines(self, *flags, **how):
        result = oneshot(["true"], *flags, cwd=self.ws, **how)
        self.assertRan(result)
        return result.err.replace(str(self.work), "WORK").splitlines()

    @guardtest.needs_landlock_abi(6, "a report without weakenings")
    def test_the_summary_is_what_it_was(self):
        (self.ws / "l").symlink_to("../ro")
        lines = self.lines("--allow-read", "../ro", "--allow-read", "?none", "--allow-write", "l",
                           "--allow-connect", "443", env={"SECRET_TOKEN": "x"})
        withheld = 1 + sum(name.endswith("SAN_OPTIONS") for name in guardtest.environment())
        self.assertEqual(lines, [
            "[xenarch-guard] allow-read:  WORK/ws/../ro -> WORK/ro, WORK/ws/none (missing, skipped), "
            "WORK/ws (working directory)",
            "[xenarch-guard] allow-write: WORK/ws/l -> WORK/ro",
            "[xenarch-guard] network:     connect 443 (any host), bind blocked",
            "[xenarch-guard] base:        read and execute system files (-v lists them), "
            "write /dev/null, ...; private HOME and TMPDIR",
            f"[xenarch-guard] env:         2 passed, {withheld} withheld",
        ])

    def test_it_is_never_longer_than_six_lines(self):
        for abi in range(1, 8):
            lines = self.lines("--allow-read", "../ro", "--allow-write", ".", "--env", "NOT_SET",
                               env={"GUARD_LANDLOCK_ABI_MAX": abi})
            self.assertLessEqual(len(lines), 6, lines)
            self.assertTrue(all(line.startswith("[xenarch-guard] ") for line in lines), lines)

    def test_a_check_that_cannot_be_written_fails(self):
        with open("/dev/full", "wb") as full:
            result = oneshot([], "--check", stdout=full)
        self.assertEqual(result.rc, guardtest.GUARD_FAILED)
        self.assertIn("No space left", result.err)

    def test_no_guard_is_said_even_when_quiet(self):
        lines = self.lines("--quiet", "--unsafe-no-guard")
        self.assertIn("DISABLED", lines[0])

    def test_quiet_says_nothing_and_verbose_everything(self):
        self.assertEqual(self.lines("--quiet"), [])
        text = "\n".join(self.lines("-v"))
        for part in ("/usr: read list execute [base]", "file_access: enforced by landlock",
                     "chmod", "/dev/null: read write"):
            self.assertIn(part, text)

    def test_json_has_every_grant_and_protection(self):
        reader, writer = os.pipe()
        try:
            result = oneshot(["sh", "-c", f"ls /proc/self/fd/{writer} 2>&1"], "--quiet",
                             "--json-report", str(writer), "--allow-write", ".", cwd=self.ws,
                             pass_fds=[writer])
        finally:
            os.close(writer)
        with os.fdopen(reader) as pipe:
            report = json.loads(pipe.read())
        self.assertNotEqual(result.rc, 0, "the program must not inherit the report's descriptor")
        self.assertEqual(result.stderr, b"")
        self.assertEqual(report["level"], "default")
        grants = {grant["path"]: grant for grant in report["grants"]}
        self.assertEqual(grants[str(self.ws)]["access"], "write")
        self.assertEqual(grants["/usr"]["origin"], "base")
        self.assertEqual(len(report["protections"]), 11)
        self.assertIn("file_access", [line["name"] for line in report["protections"]])
        self.assertTrue(report["ungoverned"])

    def test_check_runs_nothing_and_makes_nothing(self):
        argv = [BIN / "xenarch-guard", "--check", "--allow-write", ".", "--", "touch", "made"]
        started = time.time() - 1  # pids come again: an older folder of this one is not ours
        with guardtest.Popen(argv, cwd=self.ws, env=guardtest.environment(), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            out, err = process.communicate()
        self.assertEqual((process.returncode, err), (0, ""))
        self.assertIn("allow-write: " + str(self.ws), out)
        self.assertFalse((self.ws / "made").exists())
        for owner in pathlib.Path(f"/var/tmp/guardd-{os.getuid()}").glob("run-*/owner"):
            if owner.stat().st_mtime >= started:
                self.assertNotEqual(owner.read_text().split()[0], str(process.pid))
        self.assertEqual(oneshot(["x"], "--check", "--allow-read", "gone", cwd=self.ws).rc,
                         GUARD_FAILED)

    def test_control_and_bidi_characters_are_shown_escaped(self):
        name = "evil\x1b[2J‮"
        (self.ws / name).mkdir()
        text = "\n".join(self.lines("--allow-read", name))
        self.assertNotIn("\x1b", text)
        self.assertNotIn("‮", text)
        self.assertIn("evil", text)

    def test_a_wide_grant_is_named(self):
        self.assertIn("every device file", "\n".join(self.lines("--allow-write", "/dev")))
        self.assertIn("command lines", "\n".join(self.lines("--allow-read", "/proc")))

    def test_a_home_as_working_directory_is_not_granted(self):
        result = oneshot(["ls", "."], cwd=self.ws, env={"HOME": self.ws})
        self.assertEqual(result.rc, 2, result)
        self.assertIn("working directory is not granted", result.err)
        below = oneshot(["ls", "."], cwd=self.ws, env={"HOME": self.out})
        self.assertRan(below)
        self.assertEqual(oneshot(["ls", "."], "--no-cwd", cwd=self.ws).rc, 2)


class BadInput(guardtest.TestCase):
    """Nothing runs, the message names what is wrong, the code is 125, 126 or 127."""

    def refused(self, flags, text, argv=("touch", "ran"), code=GUARD_FAILED, **how):
        result = oneshot(argv, *flags, cwd=self.ws, **how)
        self.assertEqual(result.rc, code, result)
        self.assertIn(text, result.err)
        self.assertIn("[xenarch-guard] error: ", result.err)
        self.assertEqual(result.stdout, b"")
        self.assertEqual(list(self.ws.iterdir()), [])
        return result

    def test_flags(self):
        allowed = ["--allow-write", "."]
        for flags, text in [
            (["--alow-read", "x"], "did you mean --allow-read"),
            (["--allow-write", ""], "is empty"),
            (["--allow-read="], "is empty"),
            (["--allow-read", "?"], "is empty"),
            (["--allow-read"], "lacks its PATH"),
            (["--allow-connect", "0"], "from 1 to 65535"),
            (["--allow-connect", "65536"], "is no port"),
            (["--allow-bind", "abc"], "is no port"),
            (["--allow-connect", "host:443"], "any host"),
            (["--strict", "--best-effort"], "--strict and --best-effort"),
            (["--unsafe-no-guard", "--strict"], "--strict and --unsafe-no-guard"),
            (["--quiet", "-v"], "contradict"),
            (["--strict=1"], "takes no value"),
            (["--env", "=x"], "no name"),
            (["--env", "GUARDD_SOCKET=/x"], "never passes"),
            (["--deny-read", "x"], "allow list"),
            (["--cd", "gone"], "No such file"),
            (["--cd", "/etc/passwd"], "Not a directory"),
            (["--json-report", "77"], "no open descriptor"),
            (["--json-report", "x"], "no descriptor"),
            (["stray"], "put -- before the command"),
        ]:
            with self.subTest(flags=flags):
                self.refused(allowed + flags, text)

    def test_no_command(self):
        for arguments in ([], ["--allow-write", "."], ["--"]):
            result = guardtest.run([BIN / "xenarch-guard", *arguments], cwd=self.ws)
            self.assertEqual(result.rc, GUARD_FAILED, result)
            self.assertIn("-- python3 agent.py", result.err)

    def test_paths_that_are_not_there(self):
        allowed = ["--allow-write", "."]
        for path, hint in [("gone", "mkdir -p"), ("~/x", "$HOME"), ("sub/**", "patterns"),
                           ("../nowhere/x", "nowhere/x")]:
            with self.subTest(path=path):
                result = self.refused([*allowed, "--allow-read", path], "does not exist")
                self.assertIn(hint, result.err)

    def test_a_missing_grant_beside_good_ones_does_not_weaken_the_rest(self):
        self.refused(["--allow-read", "../ro", "--allow-read", "gone", "--allow-write", "."], "gone")

    def test_a_socket_is_no_grant(self):
        path = self.out / "s"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
            self.refused(["--allow-write", ".", "--allow-read", path], "is a socket")

    def test_guardds_own_folders_are_out_of_reach(self):
        own = f"/var/tmp/guardd-{os.getuid()}"
        oneshot(["true"])
        self.refused(["--allow-write", "/var/tmp"], own)
        self.refused(["--allow-read", own], "guardd's own folder")
        self.refused(["--allow-write", "/"], "guardd's own folder")
        result = oneshot(["cat", own + "/canary"], "--allow-read", "/var/tmp", cwd=self.ws)
        self.assertEqual(result.rc, 1, result)
        self.assertIn("Permission denied", result.err)
        self.assertRan(unconfined(["cat", own + "/canary"]), stdout=b"canary\n")
        self.assertRan(oneshot(["cat", self.secret], "--allow-read", "/var/tmp", cwd=self.ws),
                       stdout=self.SECRET)

    def test_the_longest_arguments_pass(self):
        self.assertRan(oneshot(["true", "x" * 131_071], cwd=self.ws))
        with self.assertRaises(OSError):  # the kernel takes no longer one for xenarch-guard either
            oneshot(["true", "x" * 131_072], cwd=self.ws)

    def test_programs_that_cannot_be_executed(self):
        folder = self.ro
        (folder / "plain").write_text("true\n")
        (folder / "nomagic").write_text("echo ran\n")
        (folder / "badinterpreter").write_text("#!/no/such/interpreter\n")
        (folder / "dos").write_bytes(b"#!/bin/sh\r\necho ran\n")
        for name in ("nomagic", "badinterpreter", "dos"):
            (folder / name).chmod(0o755)
        (folder / "dangling").symlink_to("nowhere")
        os.mkfifo(folder / "fifo", 0o755)
        for program, text, code in [
            ("nosuchprogram", "is not in PATH", NOT_FOUND),
            (folder / "gone", "does not exist", NOT_FOUND),
            (folder / "plain/x", "does not exist", NOT_FOUND),
            (folder / "dangling", "symbolic link", NOT_FOUND),
            (folder, "is a directory", NOT_EXECUTABLE),
            (folder / "plain", "is not executable", NOT_EXECUTABLE),
            (folder / "fifo", "not a regular file", NOT_EXECUTABLE),
            (folder / "nomagic", "#!", NOT_EXECUTABLE),
            (folder / "badinterpreter", "/no/such/interpreter", NOT_FOUND),
            (folder / "dos", "carriage return", NOT_FOUND),
        ]:
            with self.subTest(program=program):
                self.refused(["--allow-read", folder], text, argv=[program], code=code)

    def test_an_abi_variable_that_is_no_number_is_an_error(self):
        self.refused([], "GUARD_LANDLOCK_ABI_MAX", env={"GUARD_LANDLOCK_ABI_MAX": "new"})

    def test_streams_that_reach_further_than_a_stream(self):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        with ours, theirs:
            self.refused([], "datagram socket", argv=["true"], stdin=theirs)
        with socket.socket(socket.AF_UNIX) as lonely:
            self.refused([], "without a peer", argv=["true"], stdin=lonely)
        folder = os.open(self.out, os.O_RDONLY | os.O_DIRECTORY)
        try:
            self.refused([], "is a folder", argv=["true"], stdin=folder)
        finally:
            os.close(folder)
        ours, theirs = socket.socketpair()
        with ours, theirs:
            self.assertRan(oneshot(["true"], stdin=theirs))

    def test_nothing_changes_the_mode_of_a_folder_that_was_there(self):
        before = {path: os.stat(path).st_mode for path in ("/var/tmp", "/tmp", self.ws, self.ro)}
        oneshot(["true"], "--allow-write", self.ws, "--allow-read", self.ro)
        self.assertEqual({path: os.stat(path).st_mode for path in before}, before)


class Paths(guardtest.TestCase):
    def test_names_of_any_bytes(self):
        for name in (b"a b", b"a,b", b"a\nb", b"\xff\xfe", b"-dash", b"quo'te", b"trailing/"):
            with self.subTest(name=name):
                folder = os.path.join(os.fsencode(self.out), name)
                os.makedirs(folder, exist_ok=True)
                result = oneshot(["touch", os.path.join(folder, b"f")],
                                 b"--allow-write=" + name, cwd=self.out)
                self.assertRan(result)
                self.assertTrue(os.path.exists(os.path.join(folder, b"f")))

    def test_dot_dot_and_relative_paths(self):
        (self.ws / "deep").mkdir()
        self.assertRan(oneshot(["touch", self.out / "f"], "--allow-write", "../../out",
                               cwd=self.ws / "deep"))
        self.assertEqual(oneshot(["touch", self.ro / "f"], "--allow-write", "../../out",
                                 cwd=self.ws / "deep").rc, 1)

    def test_flags_are_relative_to_where_they_were_typed_and_the_program_runs_elsewhere(self):
        result = oneshot(["sh", "-c", "pwd; cat data; touch ../ws/f"], "--cd", "../ro",
                         "--allow-write", ".", cwd=self.ws)
        self.assertRan(result, stdout=f"{self.ro}\nto be read\n".encode())
        self.assertTrue((self.ws / "f").exists())

    def test_arguments_of_any_bytes(self):
        result = oneshot(["printf", "%s", b"\xff\xfe"])
        self.assertRan(result, stdout=b"\xff\xfe")

    def test_a_removed_working_directory(self):
        folder = self.work / "gone"
        folder.mkdir()
        script = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
        guard = [BIN / "xenarch-guard"]
        ok = guardtest.run(["sh", "-c", script, "sh", folder, *guard, "--", "echo", "ran"])
        self.assertRan(ok, stdout=b"ran\n")
        folder.mkdir()
        bad = guardtest.run(["sh", "-c", script, "sh", folder, *guard, "--allow-read", "x", "--",
                             "echo", "ran"])
        self.assertEqual(bad.rc, GUARD_FAILED, bad)
        self.assertIn("is gone", bad.err)


class Environment(guardtest.TestCase):
    def env_of(self, *flags, **env):
        result = oneshot(["env"], *flags, env=env, cwd=self.ws)
        self.assertRan(result)
        return dict(line.split("=", 1) for line in result.out.splitlines())

    SECRETS = {"API_KEY": "k", "LD_PRELOAD_X": "1", "BASH_ENV": "/x", "NODE_OPTIONS": "-x",
               "GIT_DIR": "/x", "GUARDD_SOCKET": "/run/x/s", "LISTEN_FDS": "1",
               "NOTIFY_SOCKET": "/n"}

    def test_only_the_list_passes(self):
        env = self.env_of(LC_TIME="C", TERM="dumb", **self.SECRETS)
        self.assertEqual(set(env) - {"PWD", "_"},
                         {"PATH", "LANG", "HOME", "TMPDIR", "LC_TIME", "TERM",
                          "LD_PRELOAD", "GUARD_SHM_DIR"})
        self.assertTrue(env["LD_PRELOAD"].endswith("/libguard-shm.so"), env["LD_PRELOAD"])
        self.assertEqual(env["GUARD_SHM_DIR"], env["TMPDIR"])

    def test_the_shared_memory_shim_can_be_left_out(self):
        self.assertEqual(self.env_of("--env", "LD_PRELOAD=")["LD_PRELOAD"], "")
        self.assertNotIn("LD_PRELOAD", self.env_of("--no-default-grants", "--allow-read", "/usr",
                                                   "--allow-read", "/lib", "--allow-read",
                                                   "/lib64", "--allow-read", "/bin"))

    def test_inherit_env_passes_all_but_the_way_to_the_daemon(self):
        env = self.env_of("--inherit-env", **self.SECRETS)
        self.assertEqual(env["API_KEY"], "k")
        for name in ("GUARDD_SOCKET", "LISTEN_FDS", "NOTIFY_SOCKET"):
            self.assertNotIn(name, env)

    def test_env_passes_or_sets_one(self):
        env = self.env_of("--env", "API_KEY", "--env", "NEW=a=b", "--env=EMPTY=", API_KEY="k")
        self.assertEqual((env["API_KEY"], env["NEW"], env["EMPTY"]), ("k", "a=b", ""))

    def test_home_and_tmpdir_are_private_and_usable(self):
        result = oneshot(["sh", "-c", 'echo x >"$HOME/f" && echo y >"$TMPDIR/f" && pwd -P && '
                                      'stat -c %a "$HOME" "$TMPDIR" && echo "$HOME"'])
        self.assertRan(result)
        lines = result.out.splitlines()
        self.assertEqual(lines[1:3], ["700", "700"])
        self.assertTrue(lines[3].startswith(f"/var/tmp/guardd-{os.getuid()}/run-"), lines)

    def test_real_home_and_an_explicit_home_stay(self):
        self.assertEqual(self.env_of("--real-home", HOME=str(self.out))["HOME"], str(self.out))
        self.assertEqual(self.env_of("--env", "HOME=/x")["HOME"], "/x")
        self.assertEqual(oneshot(["ls", self.out], "--real-home", env={"HOME": self.out},
                                 cwd=self.ws).rc, 2, "it is not granted by that")

    def test_path_is_the_programs_path(self):
        tool = self.ro / "tool"
        tool.write_text("#!/bin/sh\necho found\n")
        tool.chmod(0o755)
        result = oneshot(["tool"], "--allow-read", self.ro, "--env", f"PATH={self.ro}:/usr/bin")
        self.assertRan(result, stdout=b"found\n")


class Search(guardtest.TestCase):
    def test_an_ungranted_shim_is_passed_over_with_a_note(self):
        shims = self.out / "shims"
        shims.mkdir()
        shim = shims / "true"
        shim.write_text("#!/bin/sh\nexit 9\n")
        shim.chmod(0o755)
        path = f"{shims}:/usr/bin:/bin"
        self.assertEqual(unconfined(["env", "true"], env={"PATH": path}).rc, 9)
        result = oneshot(["true"], env={"PATH": path}, cwd=self.ws)
        self.assertRan(result)
        self.assertIn("passed over", result.err)
        self.assertIn(f"--allow-read {shim}", result.err)
        self.assertEqual(oneshot(["true"], "--quiet", env={"PATH": path}, cwd=self.ws).stderr, b"")
        self.assertEqual(oneshot(["true"], "--allow-read", shims, env={"PATH": path},
                                 cwd=self.ws).rc, 9)

    def test_when_nothing_else_is_found_the_refused_one_is_the_error(self):
        shim = self.out / "onlyhere"
        shim.write_text("#!/bin/sh\n")
        shim.chmod(0o755)
        result = oneshot(["onlyhere"], env={"PATH": f"{self.out}:/usr/bin"}, cwd=self.ws)
        self.assertEqual(result.rc, NOT_EXECUTABLE, result)
        self.assertIn("not granted", result.err)
        self.assertIn("--allow-read", result.err)


class OtherVerbs(guardtest.TestCase):
    def test_version_help_and_syscalls(self):
        for arguments, text in [(["--version"], "xenarch-guard 0."), (["--help"], "--allow-write"),
                                (["-h"], "--allow-read"), (["--list-syscalls"], "clone3")]:
            result = guardtest.run([BIN / "xenarch-guard", *arguments])
            self.assertRan(result)
            self.assertIn(text, result.out)
            self.assertEqual(result.stderr, b"")

    def test_the_list_follows_the_policy(self):
        def listed(*flags):
            return guardtest.run([BIN / "xenarch-guard", "--list-syscalls", *flags]).out

        self.assertIn("listen ", listed())
        self.assertNotIn("listen ", listed("--allow-bind", "80"))

    def test_a_full_stdout_is_an_error(self):
        with open("/dev/full", "w") as full:
            self.assertEqual(guardtest.run([BIN / "xenarch-guard", "--help"], stdout=full).rc,
                             GUARD_FAILED)

    def test_unsafe_no_guard_confines_nothing_and_says_so(self):
        result = oneshot(["cat", self.secret], "--unsafe-no-guard", cwd=self.ws)
        self.assertRan(result, stdout=self.SECRET)
        self.assertIn("DISABLED", result.err)

    def test_it_is_static_and_needs_nothing_of_the_machine(self):
        if os.environ.get("ASAN_OPTIONS") or os.environ.get("TSAN_OPTIONS"):
            return  # a sanitizer's runtime is shared
        def has_interpreter(program):  # elf(5): the program headers' types
            data = pathlib.Path(program).read_bytes()
            self.assertEqual(data[:4], b"\x7fELF")
            offset = struct.unpack_from("<Q", data, 32)[0]
            size, count = struct.unpack_from("<HH", data, 54)
            pt_interp = 3
            return pt_interp in [struct.unpack_from("<I", data, offset + n * size)[0]
                                 for n in range(count)]

        self.assertTrue(has_interpreter("/bin/true"))
        self.assertFalse(has_interpreter(BIN / "xenarch-guard"))


if __name__ == "__main__":
    guardtest.main()
