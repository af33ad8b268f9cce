"""guardctl ps, wait, kill, status and daemon: what they say of runs and of guardd, and their exit codes."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest  # noqa: E402

GUARDCTL = guardtest.BIN / "guardctl"
NO_DAEMON, NO, BAD_USAGE = 5, 1, 2


class RunsTestCase(guardtest.DaemonTestCase):
    def ps(self, *flags):
        """What `ps --json` lists, by run id."""
        listed = self.guardd.guardctl("ps", "--json", *flags)
        self.assertRan(listed)
        runs = [json.loads(line) for line in listed.out.splitlines()]
        return {run["run_id"]: run for run in runs}

    def live(self, run_id, script="echo up; exec sleep 60", *flags):
        """A `guardctl run` whose program has written its first line."""
        process = guardtest.Popen(
            [GUARDCTL, "run", "--run-id", run_id, *flags, "--", "sh", "-c", script],
            env=guardtest.environment(GUARDD_SOCKET=self.guardd.socket),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

        def end():
            process.kill()
            process.communicate()

        self.addCleanup(end)
        self.assertEqual(process.stdout.readline(), b"up\n")
        return process


class Ps(RunsTestCase):
    def test_a_run_that_lives_and_one_that_has_ended(self):
        self.live(self.marker)
        run = self.ps()[self.marker]
        self.assertEqual((run["state"], run["args"][0], run["result"]), ("running", "sh", None))
        self.assertEqual(guardtest.comm(run["pid"]), "sleep")
        self.assertRegex(run["started_at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.guardd.run(["sh", "-c", "exit 3"], "--run-id", "ended-" + self.marker)
        self.assertNotIn("ended-" + self.marker, self.ps())
        ended = self.ps("-a")["ended-" + self.marker]
        self.assertEqual((ended["state"], ended["pid"]), ("finished", None))
        self.assertEqual((ended["result"]["reason"], ended["result"]["exit_code"]), ("EXITED", 3))
        self.assertGreaterEqual(ended["finished_at"], ended["started_at"])

    def test_the_table_tells_how_runs_ended(self):
        for run_id, flags, script in (("code", (), "exit 137"), ("killed", (), "kill -9 $$"),
                                      ("late", ("--timeout", "50ms", "--grace", "1ms"), "sleep 60")):
            self.guardd.run(["sh", "-c", script], "--run-id", run_id + self.marker, *flags)
        self.guardd.run(["no-such-program"], "--run-id", "none" + self.marker)
        table = self.guardd.guardctl("ps", "--all")
        self.assertRan(table)
        heading, *rows = table.out.splitlines()
        self.assertEqual(heading.split(), ["RUN", "ID", "STATE", "PID", "TIME", "COMMAND"])
        states = {row.split()[0]: row[heading.index("STATE"):heading.index("PID")].strip()
                  for row in rows}
        self.assertEqual({name: states[name + self.marker]
                          for name in ("code", "killed", "late", "none")},
                         {"code": "exit 137", "killed": "signal 9", "late": "timeout",
                          "none": "spawn failed"})

    def test_hostile_arguments_cannot_write_to_the_terminal(self):
        self.guardd.run(["echo", "\x1b]0;title\a\n\u202e", b"\xff"], "--run-id", self.marker)
        table = self.guardd.guardctl("ps", "-a")
        self.assertFalse(set(table.out) & {"\x1b", "\a", "\u202e"}, table)
        row = [row for row in table.out.splitlines() if row.startswith(self.marker)]
        self.assertEqual(len(row), 1, "one line a run")
        self.assertIn("args_base64", self.ps("-a")[self.marker])

    def test_what_json_prints_is_as_its_schema_says(self):
        self.live(self.marker)
        self.guardd.run(["true"])
        self.guardd.run(["no-such-program"])
        schema = json.loads((guardtest.SOURCE / "docs/schema/run_info.schema.json").read_text())
        for run in self.ps("-a").values():
            self.assertLessEqual(set(schema["required"]), set(run))
            self.assertLessEqual(set(run), set(schema["properties"]))


class Wait(RunsTestCase):
    def test_it_exits_as_the_run_did(self):
        for script, flags in (("exit 0", ()), ("exit 137", ()), ("kill -9 $$", ()),
                              ("kill -TERM $$", ()), ("exit 124", ()),
                              ("sleep 60", ("--timeout", "50ms", "--grace", "1ms"))):
            run_id = f"{self.marker}-{len(self.ps('-a'))}"
            ran = self.guardd.run(["sh", "-c", script], "--run-id", run_id, *flags)
            waited = self.guardd.guardctl("wait", run_id)
            with self.subTest(script):
                self.assertEqual((waited.rc, waited.stdout, waited.stderr), (ran.rc, b"", ran.stderr))

    def test_also_of_a_program_that_could_not_be_executed(self):
        for argv in (["no-such-program"], ["/etc/passwd"]):
            ran = self.guardd.run(argv, "--run-id", self.marker + argv[0][0].strip("/"))
            waited = self.guardd.guardctl("wait", self.marker + argv[0][0].strip("/"))
            self.assertEqual((waited.rc, waited.stderr), (ran.rc, ran.stderr))
            self.assertIn(ran.rc, (guardtest.NOT_FOUND, guardtest.NOT_EXECUTABLE))

    def test_results_of_the_same_number_stay_apart(self):
        told = set()
        for name, script in (("a", "exit 137"), ("b", "kill -9 $$")):
            self.guardd.run(["sh", "-c", script], "--run-id", name + self.marker)
            waited = self.guardd.guardctl("wait", "--json", name + self.marker)
            self.assertEqual(waited.rc, 137)
            event = json.loads(waited.out)
            self.assertEqual((event["event"], event["run_id"]), ("finished", name + self.marker))
            told.add((event["reason"], event.get("exit_code"), event.get("signal")))
        self.assertEqual(told, {("EXITED", 137, None), ("SIGNALED", None, 9)})

    def test_it_waits_for_a_run_that_lives_and_ending_it_leaves_the_run_alone(self):
        self.live(self.marker, "echo up; trap 'exit 9' USR1; while :; do sleep 0.02; done")
        waits = [subprocess.Popen([GUARDCTL, "wait", self.marker],
                                  env=guardtest.environment(GUARDD_SOCKET=self.guardd.socket))
                 for _ in range(2)]
        for each in waits:
            self.addCleanup(each.wait)
            self.addCleanup(each.kill)
        waits[0].send_signal(signal.SIGINT)
        self.assertEqual(waits[0].wait(10), -signal.SIGINT)
        self.assertEqual(self.ps()[self.marker]["state"], "running")
        self.assertIsNone(waits[1].poll())
        self.assertRan(self.guardd.guardctl("kill", "-s", "USR1", self.marker))
        self.assertEqual(waits[1].wait(10), 9)

    def test_an_unknown_run_is_125_and_named(self):
        waited = self.guardd.guardctl("wait", "nobody")
        self.assertEqual(waited.rc, guardtest.GUARD_FAILED)
        self.assertIn("nobody", waited.err)
        self.assertIn("15 minutes", waited.err)

    def test_the_beginning_of_an_id_is_enough_when_it_is_one_runs(self):
        for name in ("one", "other"):
            self.guardd.run(["sh", "-c", "exit 4"], "--run-id", f"{self.marker}.{name}")
        self.assertEqual(self.guardd.guardctl("wait", self.marker + ".on").rc, 4)
        ambiguous = self.guardd.guardctl("wait", self.marker)
        self.assertEqual(ambiguous.rc, guardtest.GUARD_FAILED)
        for name in ("one", "other"):
            self.assertIn(f"{self.marker}.{name}", ambiguous.err)


class Kill(RunsTestCase):
    def test_the_program_gets_sigterm_or_the_signal_that_is_named(self):
        script = ("trap 'exit 1' TERM; trap 'exit 2' HUP; echo up; while :; do sleep 0.02; done")
        for flags, code in (((), 1), (("-s", "HUP"), 2), (("--signal=sighup",), 2), (("-s", "1"), 2)):
            with self.subTest(flags):
                run_id = f"{self.marker}{len(self.ps('-a'))}"
                process = self.live(run_id, script)
                self.assertRan(self.guardd.guardctl("kill", *flags, run_id), 0, b"")
                self.assertEqual(process.wait(10), code)

    def test_sigkill_ends_all_of_it(self):
        process = self.live(self.marker, "setsid sleep 60 & echo up; wait", "--env",
                            "MARKER=" + self.marker)
        self.assertRan(self.guardd.guardctl("kill", "-s", "KILL", self.marker))
        self.assertEqual(process.wait(10), 137)
        self.assertEqual(guardtest.processes_with_env_marker("MARKER=" + self.marker), [])

    def test_one_that_does_not_live_is_told_and_the_others_get_theirs(self):
        process = self.live(self.marker)
        killed = self.guardd.guardctl("kill", "nobody", self.marker)
        self.assertEqual(killed.rc, NO)
        self.assertIn("nobody", killed.err)
        self.assertEqual(process.wait(10), 128 + signal.SIGTERM)
        self.assertEqual(self.guardd.guardctl("kill", self.marker).rc, NO)

    def test_an_ambiguous_beginning_kills_nobody(self):
        processes = [self.live(f"{self.marker}.{name}") for name in "ab"]
        killed = self.guardd.guardctl("kill", self.marker)
        self.assertEqual(killed.rc, BAD_USAGE)
        self.assertIn(f"{self.marker}.a", killed.err)
        self.assertEqual([process.poll() for process in processes], [None, None])

    def test_bad_usage(self):
        for arguments in ((), ("-s", "NONSENSE", "x"), ("-s", "65", "x"), ("-s", "", "x"), ("--x",)):
            with self.subTest(arguments):
                self.assertEqual(self.guardd.guardctl("kill", *arguments).rc, BAD_USAGE)


class SameId(RunsTestCase):
    def test_the_same_command_again_runs_nothing_and_says_so(self):
        command = ["sh", "-c", f"echo ran >> {self.ws}/trace; echo out; exit 6"]
        flags = ("--run-id", self.marker, "--allow-write", self.ws)
        self.assertRan(self.guardd.run(command, *flags), 6, b"out\n")
        again = self.guardd.run(command, *flags)
        self.assertRan(again, 6, b"")
        self.assertIn("earlier call", again.err)
        self.assertEqual((self.ws / "trace").read_text(), "ran\n")
        other = self.guardd.run(["true"], *flags)
        self.assertRan(other, guardtest.GUARD_FAILED)
        self.assertIn("taken by another request", other.err)

    def test_what_is_no_id_is_refused_here(self):
        for bad in ("", "../x", "a b"):
            refused = self.guardd.run(["true"], "--run-id", bad)
            self.assertRan(refused, guardtest.GUARD_FAILED)
            self.assertIn("--run-id", refused.err)


class Status(RunsTestCase):
    def test_it_tells_what_runs(self):
        self.guardd.run(["true"])
        text = self.guardd.guardctl("status")
        self.assertRan(text)
        for word in (f"pid {self.guardd.pid}", str(self.guardd.socket), os.uname().release,
                     "0 live", "results kept"):
            self.assertIn(word, text.out)
        again = self.guardd.guardctl("daemon", "status")
        self.assertEqual(re.sub(r"uptime .*", "", again.out), re.sub(r"uptime .*", "", text.out))

    def test_as_json(self):
        self.guardd.run(["true"])
        self.live(self.marker)
        line = self.guardd.guardctl("status", "--json")
        self.assertRan(line)
        status = json.loads(line.out)
        schema = json.loads((guardtest.SOURCE / "docs/schema/status.schema.json").read_text())
        self.assertEqual(set(status), set(schema["properties"]))
        self.assertEqual((status["running"], status["pid"], status["socket"], status["runs_live"]),
                         (True, self.guardd.pid, str(self.guardd.socket), 1))
        self.assertGreaterEqual(status["results_kept"], 1)
        self.assertEqual(status["landlock_abi_kernel"], guardtest.landlock_abi())


class WithoutDaemon(guardtest.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = self.work / "run"
        self.socket = self.folder / "guardd.sock"
        self.addCleanup(self.guardctl, "daemon", "stop")

    def guardctl(self, *arguments, **how):
        return guardtest.run([GUARDCTL, *arguments], env={"GUARDD_SOCKET": self.socket}, **how)

    def test_none_of_them_starts_one(self):
        for arguments, code, where in ((["ps"], NO_DAEMON, "err"),
                                       (["kill", "x"], NO_DAEMON, "err"),
                                       (["wait", "x"], guardtest.GUARD_FAILED, "err"),
                                       (["status"], NO, "out"), (["daemon", "status"], NO, "out"),
                                       (["daemon", "stop"], 0, "out")):
            with self.subTest(arguments):
                result = self.guardctl(*arguments)
                self.assertEqual(result.rc, code, result)
                self.assertIn("no guardd", getattr(result, where))
                self.assertIn(str(self.socket), getattr(result, where))
        self.assertFalse(self.folder.exists())

    def test_status_as_json(self):
        result = self.guardctl("status", "--json")
        self.assertRan(result, NO)
        self.assertEqual(json.loads(result.out), {"running": False, "socket": str(self.socket)})

    def test_it_is_started_once_and_stopped(self):
        started = self.guardctl("daemon", "start")
        self.assertRan(started)
        self.assertIn("started guardd", started.out)
        pid = json.loads(self.guardctl("status", "--json").out)["pid"]
        self.assertIn(f"pid {pid}", started.out)
        again = self.guardctl("daemon", "start")
        self.assertRan(again)
        self.assertIn("runs already", again.out)
        self.assertIn(f"pid {pid}", again.out)
        stopped = self.guardctl("daemon", "stop")
        self.assertRan(stopped)
        self.assertIn(f"pid {pid}", stopped.out)
        self.assertFalse(guardtest.alive(pid))
        self.assertFalse(self.socket.exists())
        self.assertRan(self.guardctl("daemon", "stop"))

    def test_stopping_drains(self):
        self.assertRan(self.guardctl("daemon", "start"))
        script = "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.02; done"
        with guardtest.Popen([GUARDCTL, "run", "--", "sh", "-c", script],
                             env=guardtest.environment(GUARDD_SOCKET=self.socket),
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), b"up\n")
            self.assertRan(self.guardctl("daemon", "stop"))
            stdout, stderr = process.communicate(timeout=10)
        self.assertEqual((process.returncode, stdout), (guardtest.GUARD_FAILED, b"bye\n"))
        self.assertIn(b"shut down", stderr)

    def test_bad_usage(self):
        for arguments in (["daemon"], ["daemon", "restart"], ["daemon", "start", "x"],
                          ["ps", "x"], ["status", "x"], ["status", "--socket", ""]):
            with self.subTest(arguments):
                self.assertRan(self.guardctl(*arguments), BAD_USAGE)
        for arguments in (["wait"], ["wait", "a", "b"]):
            with self.subTest(arguments):
                self.assertRan(self.guardctl(*arguments), guardtest.GUARD_FAILED)

    def test_help_of_each(self):
        for verb in ("ps", "wait", "kill", "status", "daemon"):
            asked = self.guardctl(verb, "--help")
            self.assertRan(asked)
            self.assertTrue(asked.out.startswith(f"usage: guardctl {verb}"), asked)
            self.assertEqual(self.guardctl("help", verb).out, asked.out)


if __name__ == "__main__":
    guardtest.main()
