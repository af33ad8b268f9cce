"""`guardctl run`: exit codes, what is said when something is wrong, time limits, usage."""
import base64
import json
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest

GUARDCTL = guardtest.BIN / "guardctl"


class ExitCodes(guardtest.DaemonTestCase):
    def test_they_are_those_of_the_direct_command(self):
        scripts = ["true", "false", "exit 7", "exit 124", "exit 125", "exit 137", "exit 255",
                   "kill -KILL $$", "kill -TERM $$", "kill -SEGV $$", "kill -INT $$",
                   "kill -USR1 $$", "kill -PIPE $$"]
        for script in scripts:
            with self.subTest(script):
                direct = guardtest.unconfined(["sh", "-c", script])
                self.assertRan(self.guard_run(["sh", "-c", script]), direct.rc)

    def test_a_signal_is_told_from_an_exit_code_that_looks_like_it(self):
        def ending(script):
            lines = self.guard_run(["sh", "-c", script], "--json").out.splitlines()
            last = json.loads(lines[-1])
            return {key: last.get(key) for key in ("exit_code", "signal", "reason")}

        self.assertEqual(ending("exit 137"),
                         {"exit_code": 137, "signal": None, "reason": "EXITED"})
        self.assertEqual(ending("kill -KILL $$"),
                         {"exit_code": None, "signal": 9, "reason": "SIGNALED"})


class NotStarted(guardtest.DaemonTestCase):
    """Nothing ran, one line says why, and one what to do about it."""

    def script(self, name, text, mode=0o755):
        path = self.ws / name
        path.write_text(text)
        path.chmod(mode)
        return path

    def assertRefused(self, result, rc, *texts):
        self.assertRan(result, rc, b"")
        for text in texts:
            self.assertIn(text, result.err)
        self.assertLessEqual(len(result.err.splitlines()), 2, result)

    def test_a_program_that_is_not_in_path(self):
        self.assertRefused(self.guard_run(["no-such-program"]), guardtest.NOT_FOUND,
                           "'no-such-program' is not in PATH")

    def test_a_path_that_does_not_exist(self):
        self.assertRefused(self.guard_run([self.ws / "nope"]), guardtest.NOT_FOUND,
                           f"'{self.ws}/nope' does not exist")
        self.assertRefused(self.guard_run(["/etc/passwd/x"]), guardtest.NOT_FOUND,
                           "a folder on the way is a file")

    def test_a_folder(self):
        self.assertRefused(self.guard_run(["/usr"]), guardtest.NOT_EXECUTABLE, "is a directory")

    def test_a_file_that_is_not_executable(self):
        path = self.script("tool", "#!/bin/sh\n", 0o644)
        self.assertRefused(self.guard_run([path], "--allow-read", self.ws),
                           guardtest.NOT_EXECUTABLE, "is not executable", f"chmod +x {path}")

    def test_an_interpreter_that_does_not_exist(self):
        path = self.script("tool", "#!/no/such/interpreter\n")
        self.assertRefused(self.guard_run([path], "--allow-read", self.ws), guardtest.NOT_FOUND,
                           f"interpreter '/no/such/interpreter' of '{path}' does not exist")

    def test_a_script_without_its_first_line(self):
        path = self.script("tool", "echo hi\n")
        self.assertRefused(self.guard_run([path], "--allow-read", self.ws),
                           guardtest.NOT_EXECUTABLE, "neither a program nor a script",
                           f"sh {path}")

    def test_a_program_that_is_not_granted_names_the_grant(self):
        path = self.script("tool", "#!/bin/sh\necho ran\n")
        self.assertRan(guardtest.unconfined([path]), 0, b"ran\n")
        self.assertRefused(self.guard_run([path]), guardtest.NOT_EXECUTABLE,
                           f"'{path}' is not granted", f"--allow-read {path}")
        self.assertRan(self.guard_run([path], "--allow-read", path), 0, b"ran\n")

    def test_an_interpreter_that_is_not_granted_names_the_grant(self):
        interpreter = self.out / "prefix" / "bin" / "interpreter"
        interpreter.parent.mkdir(parents=True)
        interpreter.write_bytes(pathlib.Path("/bin/sh").read_bytes())
        interpreter.chmod(0o755)
        path = self.script("tool", f"#!{interpreter}\necho ran\n")
        self.assertRan(guardtest.unconfined([path]), 0, b"ran\n")
        self.assertRefused(self.guard_run([path], "--allow-read", self.ws),
                           guardtest.NOT_EXECUTABLE, f"interpreter '{interpreter}'",
                           f"--allow-read {self.out}/prefix")
        granted = ["--allow-read", self.ws, "--allow-read", self.out / "prefix"]
        self.assertRan(self.guard_run([path], *granted), 0, b"ran\n")

    def test_a_grant_that_does_not_exist(self):
        missing = self.work / "missing"
        self.assertRefused(self.guard_run(["echo", "ran"], "--allow-write", missing),
                           guardtest.GUARD_FAILED, f"'{missing}'", f"mkdir -p {missing}")
        self.assertRan(self.guard_run(["echo", "ran"], "--allow-write", f"?{missing}"), 0, b"ran\n")

    def test_a_working_directory_that_does_not_exist_or_is_a_file(self):
        self.assertRefused(self.guard_run(["echo", "ran"], "--cd", self.work / "missing"),
                           guardtest.GUARD_FAILED, f"{self.work}/missing")
        self.assertRefused(self.guard_run(["echo", "ran"], "--cd", self.secret),
                           guardtest.GUARD_FAILED, str(self.secret))

    def test_a_working_directory_that_was_removed(self):
        result = guardtest.run(
            ["sh", "-c", f"mkdir gone; cd gone; rmdir ../gone; exec '{GUARDCTL}' run -- echo ran"],
            cwd=self.ws, env={"GUARDD_SOCKET": self.guardd.socket})
        self.assertRefused(result, guardtest.GUARD_FAILED, "working directory is gone")

    def test_hostile_names_cannot_write_to_the_terminal(self):
        result = self.guard_run(["/no/\x1b[2J\u202e\nsuch"])
        self.assertRefused(result, guardtest.NOT_FOUND, "\\e[2J\\u{202e}\\nsuch")
        self.assertNotIn(b"\x1b", result.stderr)


class Usage(guardtest.DaemonTestCase):
    CASES = [
        (["--alow-read", "/x", "--", "true"], "did you mean --allow-read?"),
        (["--time-out", "1s", "--", "true"], "did you mean --timeout?"),
        (["--nonsense", "--", "true"], "unknown flag '--nonsense'"),
        (["--deny", "/x", "--", "true"], "allow list"),
        (["true"], "put -- before the command"),
        ([], "there is no command"),
        (["--"], "nothing comes after --"),
        (["--", ""], "args[0] is empty"),
        (["--allow-read", "", "--", "true"], "--allow-read '' is empty"),
        (["--allow-read"], "--allow-read lacks its PATH"),
        (["--allow-read", "--", "true"], "--allow-read lacks its PATH"),
        (["--timeout", "-1", "--", "true"], "'-1' is negative"),
        (["--timeout", "0", "--", "true"], "'0' is zero"),
        (["--timeout", "", "--", "true"], "empty duration"),
        (["--timeout", "soon", "--", "true"], "'soon' is not a duration"),
        (["--timeout", "99999999999999999999h", "--", "true"], "is too long"),
        (["--grace", "61s", "--", "true"], "at most 1m"),
        (["--allow-connect", "0", "--", "true"], "--allow-connect"),
        (["--allow-connect", "65536", "--", "true"], "--allow-connect"),
        (["--env", "=x", "--", "true"], "has no name"),
        (["--env", "GUARDD_SOCKET=/x", "--", "true"], "never passes into a run"),
        (["--strict", "--best-effort", "--", "true"], "contradict each other"),
        (["--json=yes", "--", "true"], "--json takes no value"),
        (["--socket", "", "--", "true"], "--socket '' is empty"),
        (["--socket", "here.sock", "--", "true"], "is not absolute"),
        (["--socket", "/" + "x" * 107, "--", "true"], "at most 107"),
    ]

    def test_bad_usage_is_told_and_runs_nothing(self):
        for arguments, text in self.CASES:
            with self.subTest(arguments):
                result = self.guardd.guardctl("run", *arguments, cwd=self.ws)
                self.assertRan(result, guardtest.GUARD_FAILED, b"")
                self.assertIn(text, result.err)

    def test_an_unknown_command_gets_the_nearest_one(self):
        result = self.guardd.guardctl("rnu")
        self.assertRan(result, 2, b"")
        self.assertIn("did you mean run?", result.err)

    def test_no_command_prints_the_overview_as_an_error(self):
        result = self.guardd.guardctl()
        self.assertRan(result, 2, b"")
        self.assertIn("usage: guardctl", result.err)

    def test_help_and_version_need_no_daemon(self):
        away = {"GUARDD_SOCKET": self.work / "nowhere" / "guardd.sock"}
        for arguments in (["help"], ["--help"], ["help", "run"], ["run", "--help"], ["run", "-h"],
                          ["check", "--help"]):
            with self.subTest(arguments):
                result = self.guardd.guardctl(*arguments, env=away)
                self.assertRan(result, 0)
                self.assertIn("usage: guardctl", result.out)
                self.assertEqual(result.err, "")
        result = self.guardd.guardctl("version", env=away)
        self.assertRegex(result.out, r"^guardctl \d+\.\d+\.\d+\n$")
        self.assertFalse((self.work / "nowhere").exists())

    def test_the_help_of_run_names_every_flag_that_it_takes(self):
        text = self.guardd.guardctl("help", "run").out
        for flag in ("--allow-read", "--allow-write", "--allow-connect", "--allow-bind", "--env",
                     "--inherit-env", "--no-cwd", "--real-home", "--no-default-grants", "--strict",
                     "--best-effort", "--unsafe-no-guard", "--cd", "--timeout", "--grace",
                     "--no-stdin", "--json", "--verbose", "--socket"):
            self.assertRegex(text, rf"(?m)^  {flag}\b")

    def test_names_that_are_not_built_yet_say_so(self):
        for name in ("xenarchos", "agentkit"):
            result = guardtest.run([guardtest.BIN / name, "run"])
            self.assertRan(result, 2, b"")
            self.assertIn("not built yet", result.err)


class Quiet(guardtest.DaemonTestCase):
    @guardtest.needs_landlock_abi(6, "a run without weakenings")
    def test_a_run_as_one_would_have_it_prints_nothing_of_ours(self):
        self.assertEqual(self.guard_run(["true"], cwd=self.ws).err, "")

    def test_verbose_prints_the_whole_report(self):
        result = self.guard_run(["true"], "-v", "--allow-write", self.ws)
        self.assertRan(result)
        for text in (f"{self.ws}: read list execute write", "file_access: enforced",
                     "not governed", "EXITED after"):
            self.assertIn(text, result.err)

    def test_no_sandbox_is_never_silent(self):
        result = self.guard_run(["cat", self.secret], "--unsafe-no-guard")
        self.assertRan(result, 0, self.SECRET)
        self.assertIn("no sandbox", result.err)

    def test_what_outlived_the_program_is_told_and_gone(self):
        result = self.guard_run(
            ["sh", "-c", "setsid sleep 300 & (sleep 300 &) ; echo started"],
            "--env", f"MARK={self.marker}", timeout=30)
        self.assertRan(result, 0, b"started\n")
        self.assertIn("2 processes outlived the program and were killed", result.err)
        self.assertEqual(guardtest.processes_with_env_marker(self.marker), [])

    def test_colour_is_for_terminals(self):
        self.assertNotIn("\x1b", self.guard_run(["no-such"]).err)


class Timeouts(guardtest.DaemonTestCase):
    def test_a_timeout_ends_all_of_it_and_keeps_what_was_written(self):
        result = self.guard_run(
            ["sh", "-c", "echo before; setsid sleep 300 & sleep 300"],
            "--timeout", "500ms", "--env", f"MARK={self.marker}", timeout=30)
        self.assertRan(result, guardtest.TIMED_OUT, b"before\n")
        self.assertIn("the time limit passed", result.err)
        self.assertTook(result.seconds, 10)
        self.assertEqual(guardtest.processes_with_env_marker(self.marker), [])

    def test_the_program_may_clean_up_within_the_grace(self):
        result = self.guard_run(
            ["sh", "-c", "trap 'echo cleaned; exit 0' TERM; echo ready; while :; do sleep 0.05; done"],
            "--timeout", "500ms", "--grace", "20s", timeout=40)
        self.assertRan(result, guardtest.TIMED_OUT, b"ready\ncleaned\n")

    def test_one_that_ignores_sigterm_dies_after_the_grace(self):
        result = self.guard_run(
            ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done"],
            "--timeout", "300ms", "--grace", "100ms", timeout=30)
        self.assertRan(result, guardtest.TIMED_OUT, b"ready\n")

    def test_a_run_within_its_time_keeps_its_code(self):
        self.assertRan(self.guard_run(["sh", "-c", "exit 3"], "--timeout", "60s"), 3)
        self.assertRan(self.guard_run(["true"], "--timeout", "none"), 0)


class Check(guardtest.DaemonTestCase):
    def test_it_prints_the_report_and_runs_nothing(self):
        result = self.guardd.guardctl("check", "--allow-write", self.ws, "--", "touch",
                                      self.ws / "made")
        self.assertRan(result)
        self.assertIn(f"allow-write: {self.ws}", result.out)
        self.assertFalse((self.ws / "made").exists())

    def test_as_json(self):
        result = self.guardd.guardctl("check", "--json", "--allow-read", self.ro)
        self.assertRan(result)
        grants = json.loads(result.out)["grants"]
        self.assertIn(str(self.ro), [grant.get("path") for grant in grants])

    def test_bad_input_is_2(self):
        self.assertRan(self.guardd.guardctl("check", "--nonsense"), 2, b"")
        self.assertRan(self.guardd.guardctl("check", "--allow-read", self.work / "missing"), 2, b"")


def matches(schema, value, root):
    """Whether `value` fits: the part of JSON Schema that run_event.schema.json uses."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        if not matches(root["$defs"][name], value, root):
            return False
    types = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}
    if "type" in schema:
        if not isinstance(value, types[schema["type"]]):
            return False
        if schema["type"] == "integer" and isinstance(value, bool):
            return False
    if "const" in schema and value != schema["const"]:
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if not schema.get("minimum", float("-inf")) <= (
            value if isinstance(value, int) else 0) <= schema.get("maximum", float("inf")):
        return False
    if "pattern" in schema and not re.search(schema["pattern"], value):
        return False
    if any(key not in value for key in schema.get("required", ())):
        return False
    if isinstance(value, dict):
        for key, of in schema.get("properties", {}).items():
            if key in value and not matches(of, value[key], root):
                return False
    if "items" in schema and not all(matches(schema["items"], each, root) for each in value):
        return False
    return "oneOf" not in schema or sum(matches(each, value, root) for each in schema["oneOf"]) == 1


class Json(guardtest.DaemonTestCase):
    SCHEMA = json.loads((guardtest.SOURCE / "docs/schema/run_event.schema.json").read_text())

    def events(self, argv, *flags, **how):
        result = self.guard_run(argv, "--json", *flags, **how)
        events = [json.loads(line) for line in result.out.splitlines()]
        for event in events:
            self.assertTrue(matches(self.SCHEMA, event, self.SCHEMA), event)
        return result, events

    def test_the_validator_itself_refuses_what_is_wrong(self):
        good = {"event": "output", "run_id": "a", "stream": "stdout", "offset": 0, "text": "x"}
        self.assertTrue(matches(self.SCHEMA, good, self.SCHEMA))
        for change in ({"stream": "tty"}, {"offset": -1}, {"offset": "0"}, {"event": "outputs"},
                       {"base64": "eA=="}, {"run_id": "/"}):
            self.assertFalse(matches(self.SCHEMA, {**good, **change}, self.SCHEMA), change)
        del good["text"]
        self.assertFalse(matches(self.SCHEMA, good, self.SCHEMA))

    def test_one_object_an_event_and_the_exit_code_as_without(self):
        result, events = self.events(["sh", "-c", "echo out; echo err >&2; exit 3"])
        self.assertRan(result, 3)
        self.assertEqual(events[0]["event"], "started")
        self.assertEqual(events[-1]["event"], "finished")
        self.assertEqual(events[-1]["exit_code"], 3)
        self.assertEqual(len({event["run_id"] for event in events}), 1)
        text = {stream: "".join(e["text"] for e in events if e.get("stream") == stream)
                for stream in ("stdout", "stderr")}
        self.assertEqual(text, {"stdout": "out\n", "stderr": "err\n"})
        self.assertEqual(result.err, "")

    def test_bytes_that_are_not_utf8_are_base64_and_offsets_add_up(self):
        data = os.urandom(700_000)
        _, events = self.events(["cat"], input=data)
        got = b""
        for event in events:
            if event["event"] == "output":
                self.assertEqual(event["offset"], len(got))
                got += (event["text"].encode() if "text" in event
                        else base64.b64decode(event["base64"], validate=True))
        self.assertEqual(got, data)
        totals = {each["stream"]: each["bytes"] for each in events[-1]["streams"]}
        self.assertEqual(totals["stdout"], len(data))

    def test_a_program_that_cannot_be_executed(self):
        result, events = self.events(["/no/such"])
        self.assertRan(result, guardtest.NOT_FOUND)
        self.assertEqual([event["event"] for event in events], ["finished"])
        self.assertEqual(events[0]["spawn_error"]["stage"], "exec")
        self.assertEqual(events[0]["spawn_error"]["exit_code"], 127)

    def test_a_timeout(self):
        result, events = self.events(["sleep", "300"], "--timeout", "200ms")
        self.assertRan(result, guardtest.TIMED_OUT)
        self.assertEqual(events[-1]["reason"], "TIMEOUT")

    def test_a_request_that_is_refused_prints_no_json(self):
        result = self.guard_run(["true"], "--json", "--timeout", "0")
        self.assertRan(result, guardtest.GUARD_FAILED, b"")
        self.assertNotEqual(result.err, "")


class Example(guardtest.DaemonTestCase):
    AGENT = guardtest.SOURCE / "docs/examples/agent.py"

    def test_the_agent_is_confined_in_a_run_and_knows_when_it_is_not(self):
        agent = ["python3", self.AGENT]
        granted = ["--allow-read", self.AGENT.parent]
        result = self.guard_run(agent, *granted, cwd=self.ws)
        self.assertRan(result)
        self.assertIn("agent: confined\n", result.out)
        for open_to_it in (guardtest.unconfined(agent, cwd=self.ws),
                           self.guard_run(agent, "--unsafe-no-guard", cwd=self.ws)):
            self.assertRan(open_to_it, 1)
            self.assertIn("agent: NOT confined\n", open_to_it.out)


if __name__ == "__main__":
    guardtest.main()
