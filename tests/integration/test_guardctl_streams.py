"""`guardctl run` is as if the program had been called directly: input, output, arguments."""
import fcntl
import hashlib
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest

GUARDCTL = guardtest.BIN / "guardctl"


class Case(guardtest.DaemonTestCase):
    def shell(self, script, **how):
        """A bash script in which `run` is `guardctl run`, of this class's daemon."""
        how.setdefault("cwd", self.ws)
        preamble = f"run() {{ '{GUARDCTL}' run \"$@\"; }}\n"
        return guardtest.run(["/bin/bash", "-c", preamble + script],
                             env={"GUARDD_SOCKET": self.guardd.socket}, **how)


class Output(Case):
    def test_stdout_and_stderr_stay_apart(self):
        result = self.guard_run(["sh", "-c", "echo out; echo err >&2"])
        self.assertRan(result, 0, b"out\n")
        self.assertEqual(result.stderr, b"err\n")

    def test_every_byte_passes_unchanged(self):
        every = bytes(range(256)) * 300
        self.assertRan(self.guard_run(["cat"], input=every), 0, every)
        result = self.guard_run(["sh", "-c", "cat >&2"], input=every)
        self.assertEqual(result.stderr, every)

    def test_large_output_on_both_streams_at_once_arrives_whole(self):
        size = 10_000_000
        result = self.guard_run(
            ["sh", "-c", f"head -c {size} /dev/zero & head -c {size} /dev/zero >&2; wait"])
        self.assertRan(result, 0)
        self.assertEqual((len(result.stdout), len(result.stderr)), (size, size))

    def test_output_without_a_newline_at_its_end_is_not_given_one(self):
        self.assertRan(self.guard_run(["printf", "no newline"]), 0, b"no newline")

    def test_a_reader_that_leaves_ends_the_run_as_it_ends_a_direct_one(self):
        script = "{command} 2>/dev/null | head -n 1; echo ${{PIPESTATUS[0]}}"
        direct = self.shell(script.format(command="sh -c 'exec yes'"))
        confined = self.shell(script.format(command=f"run -- yes {self.marker}"))
        self.assertEqual(direct.out.splitlines()[1], "141")
        self.assertEqual(confined.out.splitlines(), [self.marker, "141"], confined)
        self.assertTrue(guardtest.wait_until(
            lambda: not guardtest.processes_matching(self.marker)))

    def test_a_closed_stdout_does_no_harm_to_a_program_that_writes_nothing(self):
        self.assertRan(self.shell("run -- true >&-"), 0)

    def test_output_that_cannot_be_written_is_not_lost_in_silence(self):
        for where in (">&-", ">/dev/full"):
            with self.subTest(where):
                result = self.shell(f"run -- echo hi {where}")
                self.assertRan(result, guardtest.GUARD_FAILED)
                self.assertIn("write standard output", result.err)

    def test_a_non_blocking_stdout_with_a_slow_reader_loses_nothing(self):
        reader, writer = os.pipe()
        fcntl.fcntl(writer, fcntl.F_SETFL, os.O_NONBLOCK)
        with guardtest.Popen([GUARDCTL, "run", "--", "head", "-c", "2000000", "/dev/zero"],
                              stdin=subprocess.DEVNULL, stdout=writer,
                              env=guardtest.environment(GUARDD_SOCKET=self.guardd.socket)) as run:
            os.close(writer)
            got = 0
            while chunk := os.read(reader, 4096):
                got += len(chunk)
            os.close(reader)
        self.assertEqual((run.returncode, got), (0, 2_000_000))


class Input(Case):
    def test_a_hundred_megabytes_arrive(self):
        big = self.work / "big"
        with big.open("wb") as file:
            file.truncate(100 << 20)
        with big.open("rb") as file:
            result = self.guard_run(["wc", "-c"], stdin=file, timeout=240)
        self.assertRan(result, 0, b"104857600\n")

    def test_what_goes_in_comes_out(self):
        data = os.urandom(3_000_000)
        result = self.guard_run(["cat"], input=data)
        self.assertRan(result)
        self.assertEqual(hashlib.sha256(result.stdout).digest(), hashlib.sha256(data).digest())

    def test_the_end_of_input_leaves_the_output_open(self):
        result = self.guard_run(["sh", "-c", "wc -c; echo after; echo err >&2; exit 3"],
                                input=b"x" * (1 << 20))
        self.assertRan(result, 3, b"1048576\nafter\n")
        self.assertEqual(result.stderr, b"err\n")

    def test_a_closed_stdin_and_dev_null_are_empty(self):
        for where in ("<&-", "</dev/null"):
            with self.subTest(where):
                self.assertRan(self.shell(f"run -- wc -c {where}"), 0, b"0\n")

    def test_a_folder_as_stdin_does_no_harm(self):
        self.assertRan(self.shell("run -- true </etc"), 0)

    def test_an_open_stdin_does_not_keep_a_program_that_has_ended(self):
        reader, writer = os.pipe()  # nobody writes and nobody closes
        self.addCleanup(os.close, writer)
        self.addCleanup(os.close, reader)
        self.assertRan(self.guard_run(["echo", "done"], stdin=reader, timeout=20), 0, b"done\n")

    def test_a_program_that_does_not_read_its_input_ends(self):
        with open("/dev/zero", "rb") as endless:
            self.assertRan(self.guard_run(["true"], stdin=endless, timeout=20), 0)

    def test_input_is_relayed_as_it_comes(self):
        with guardtest.Popen([GUARDCTL, "run", "--", "cat"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE,
                              env=guardtest.environment(GUARDD_SOCKET=self.guardd.socket)) as run:
            for line in (b"one\n", b"two\n"):
                run.stdin.write(line)
                run.stdin.flush()
                self.assertEqual(run.stdout.readline(), line)
            run.stdin.close()
            self.assertEqual(run.stdout.read(), b"")
        self.assertEqual(run.returncode, 0)

    def test_a_loop_over_lines_keeps_its_lines_with_no_stdin(self):
        loop = "printf 'a\\nb\\nc\\n' | while read -r x; do run {flag} -- echo $x; done"
        self.assertRan(self.shell(loop.format(flag="--no-stdin")), 0, b"a\nb\nc\n")
        self.assertRan(self.shell(loop.format(flag="-n")), 0, b"a\nb\nc\n")

    def test_nothing_is_read_for_a_program_that_cannot_be_executed(self):
        script = "printf 'kept\\n' | { run -- ./not-there 2>/dev/null; cat; }"
        self.assertRan(self.shell(script), 0, b"kept\n")


class Arguments(Case):
    def test_arguments_that_are_not_utf8_pass_unchanged(self):
        self.assertRan(self.guard_run([b"printf", b"%s", b"\xff\xfe\x80 a\nb"]), 0,
                       b"\xff\xfe\x80 a\nb")

    def test_the_longest_argument_passes_and_a_longer_one_is_named(self):
        result = self.guard_run(["sh", "-c", "echo ${#1}", "sh", "x" * 131_071])
        self.assertRan(result, 0, b"131071\n")
        # A shell cannot even start guardctl with a longer one: the kernel's limit is the same.
        with self.assertRaises(OSError):
            self.guard_run(["true", "x" * 131_072])

    def test_arguments_that_are_too_long_together_are_refused_by_name(self):
        self.assertRan(self.guard_run(["true"] + ["x" * 130_000] * 10), 0)
        result = self.guard_run(["true"] + [""] * 70_000)
        self.assertRan(result, guardtest.GUARD_FAILED)
        self.assertIn("args has 70,001 entries", result.err)

    def test_empty_arguments_and_double_dashes_belong_to_the_program(self):
        self.assertRan(self.guard_run(["printf", "[%s]", "", "--", "-v", "--timeout"]), 0,
                       b"[][--][-v][--timeout]")

    def test_the_working_directory_and_the_umask_are_the_callers(self):
        result = self.shell("umask 027; run -- sh -c 'pwd; umask'")
        self.assertRan(result, 0, f"{self.ws}\n0027\n".encode())

    def test_cd_changes_the_programs_folder_and_not_the_flags(self):
        (self.ws / "below").mkdir()
        result = self.shell("run --cd below --allow-write . -- sh -c 'pwd; echo x >../made'")
        self.assertRan(result, 0, f"{self.ws}/below\n".encode())
        self.assertTrue((self.ws / "made").exists())

    def test_the_environment_is_chosen_by_name(self):
        secret = {"API_KEY": "hunter2", "GUARDD_SOCKET": self.guardd.socket, "LC_ALL": "C"}
        result = guardtest.run([GUARDCTL, "run", "--", "env"], env=secret)
        self.assertRan(result)
        self.assertNotIn("hunter2", result.out)
        self.assertNotIn("GUARDD_SOCKET", result.out)
        self.assertIn("LC_ALL=C\n", result.out)
        result = guardtest.run([GUARDCTL, "run", "--env", "API_KEY", "--env", "X=a=b", "--", "env"],
                               env=secret)
        self.assertIn("API_KEY=hunter2\n", result.out)
        self.assertIn("X=a=b\n", result.out)

    def test_home_is_private_unless_it_is_chosen(self):
        show = ["sh", "-c", "echo $HOME"]
        self.assertIn("/run-", self.guard_run(show).out)
        self.assertRan(self.guard_run(show, "--env", "HOME=/srv"), 0, b"/srv\n")


class Parallel(Case):
    def test_sixteen_runs_at_once_get_their_own_output_and_code(self):
        results = guardtest.at_once(
            16, lambda n: self.guard_run(["sh", "-c", f"echo {n}; exit {n}"]))
        for n, result in enumerate(results):
            self.assertRan(result, n, f"{n}\n".encode())


if __name__ == "__main__":
    guardtest.main()
