"""guardd's API: what a run gets, what it tells, and what is refused before anything runs."""
import os
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest  # noqa: E402
from guardgrpc import (GrpcTestCase, Inputs, first, guard_pb2, policy_pb2, report_pb2, request,  # noqa: E402
                       run_pb2, session_pb2, start, stdin)


class Runs(GrpcTestCase):
    def test_a_run_tells_started_then_output_then_its_one_result(self):
        outcome = self.client.run("sh", "-c", "echo out; echo err >&2; exit 3")
        self.assertEqual((outcome.code, outcome.reason), (3, "EXITED"))
        self.assertEqual((outcome.stdout, outcome.stderr), (b"out\n", b"err\n"))
        self.assertEqual(outcome.order[0], "started")
        self.assertEqual(outcome.order[-1], "finished")
        self.assertEqual(outcome.order.count("finished"), 1)
        totals = {total.stream: total.bytes for total in outcome.finished.streams}
        self.assertEqual(totals, {run_pb2.STREAM_STDOUT: 4, run_pb2.STREAM_STDERR: 4})
        self.assertGreater(outcome.finished.usage.wall.ToNanoseconds(), 0)

    def test_exit_code_and_signal_of_the_same_number_differ(self):
        exited = self.client.run("sh", "-c", "exit 137")
        killed = self.client.run("sh", "-c", "kill -9 $$")
        self.assertEqual((exited.code, exited.reason), (137, "EXITED"))
        self.assertEqual((killed.finished.signal, killed.reason), (9, "SIGNALED"))

    def test_the_run_is_confined_and_the_report_says_so(self):
        outcome = self.client.run("cat", str(self.secret))
        self.assertEqual(outcome.code, 1)
        self.assertIn(b"Permission denied", outcome.stderr)
        self.assertEqual(guardtest.unconfined(["cat", self.secret]).stdout, self.SECRET)
        granted = self.client.run("cat", str(self.secret), read=[self.secret])
        self.assertEqual(granted.stdout, self.SECRET)
        states = {line.name: line.status for line in granted.started.report.protections}
        self.assertEqual(states["file_access"], report_pb2.STATUS_ENFORCED)
        at_once = guardtest.landlock_abi() >= 6
        self.assertEqual(states["tree_kill"], report_pb2.STATUS_ENFORCED if at_once
                         else report_pb2.STATUS_WEAKENED)
        asked = [g for g in granted.started.report.grants if g.origin == report_pb2.ORIGIN_ASKED]
        self.assertEqual([bytes(grant.path) for grant in asked], [os.fsencode(self.secret)])

    def test_a_write_grant_is_one(self):
        outcome = self.client.run("sh", "-c", f"echo x > {self.ws}/file", write=[self.ws])
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual((self.ws / "file").read_bytes(), b"x\n")
        refused = self.client.run("sh", "-c", f"echo x > {self.ro}/file", read=[self.ro])
        self.assertNotEqual(refused.code, 0)
        self.assertFalse((self.ro / "file").exists())

    def test_nothing_is_inherited(self):
        script = ("import os, signal, sys\n"
                  "fds = []\n"
                  "for fd in range(256):\n"
                  "    try: os.fstat(fd); fds.append(fd)\n"
                  "    except OSError: pass\n"
                  "mask = os.umask(0)\n"
                  "ignored = [n for n in range(1, 65) if n not in (32, 33)\n"
                  "           and signal.getsignal(n) == signal.SIG_IGN]\n"
                  "print(fds, oct(mask), signal.pthread_sigmask(signal.SIG_BLOCK, []), ignored)\n")
        outcome = self.client.run(guardtest.PYTHON, "-c", script)
        # Python itself ignores SIGPIPE (13) and SIGXFSZ (25).
        self.assertEqual(outcome.stdout, b"[0, 1, 2] 0o22 set() [13, 25]\n", outcome)

    def test_umask_is_the_request_s(self):
        outcome = self.client.run("sh", "-c", "umask", umask=0o27, has_umask=True)
        self.assertEqual(outcome.stdout.strip(), b"0027")

    def test_standard_input_is_empty(self):
        self.assertEqual(self.client.run("wc", "-c").stdout.strip(), b"0")

    def test_arguments_need_not_be_utf8(self):
        message = request()
        message.args_bytes.extend([b"printf", b"%s", b"\xff\xfe x\ny"])
        self.assertEqual(self.client.run_request(message).stdout, b"\xff\xfe x\ny")

    def test_the_working_directory_is_taken_and_grants_nothing(self):
        outcome = self.client.run("pwd", cwd=os.fsencode(self.ro))
        self.assertEqual(outcome.stdout, os.fsencode(self.ro) + b"\n")
        self.assertNotEqual(self.client.run("cat", "data", cwd=os.fsencode(self.ro)).code, 0)
        granted = self.client.run("cat", "data", cwd=os.fsencode(self.ro),
                                  cwd_grant=os.fsencode(self.ro))
        self.assertEqual(granted.stdout, b"to be read\n")
        origins = {grant.origin for grant in granted.started.report.grants}
        self.assertIn(report_pb2.ORIGIN_CWD, origins)


class Environment(GrpcTestCase):
    def test_home_and_tmpdir_are_private_writable_and_gone_afterwards(self):
        outcome = self.client.run("sh", "-c", "echo x > $HOME/.cache; mkdir $TMPDIR/t; echo $HOME",
                                  env={"HOME": "/nonexistent", "TMPDIR": "/nonexistent"})
        self.assertEqual(outcome.code, 0, outcome)
        home = outcome.stdout.strip()
        self.assertEqual(home, outcome.started.report.private_home)
        self.assertTrue(home.startswith(b"/var/tmp/guardd-"), home)
        self.assertFalse(os.path.exists(home))
        self.assertFalse(os.path.exists(os.path.dirname(home)))
        self.assertEqual(sorted(outcome.finished.discarded), [b"home/.cache", b"tmp/t"])

    def test_keep_env_keeps_what_was_sent(self):
        outcome = self.client.run("sh", "-c", "echo $HOME $TMPDIR", env={"HOME": "/mine"},
                                  keep_env=[b"HOME"])
        home, tmp = outcome.stdout.split()
        self.assertEqual(home, b"/mine")
        self.assertTrue(tmp.startswith(b"/var/tmp/guardd-"), tmp)

    def test_real_home_stays(self):
        message = request("sh", "-c", "echo $HOME", env={"HOME": "/mine"})
        message.policy.real_home = True
        self.assertEqual(self.client.run_request(message).stdout, b"/mine\n")

    def test_what_leads_to_guardd_is_not_passed(self):
        outcome = self.client.run("env", env={"GUARDD_SOCKET": "x", "LISTEN_FDS": "1",
                                              "NOTIFY_SOCKET": "x", "MINE": "y"})
        names = {line.split(b"=")[0] for line in outcome.stdout.splitlines()}
        self.assertEqual(names, {b"PATH", b"MINE", b"HOME", b"TMPDIR",
                                 b"LD_PRELOAD", b"GUARD_SHM_DIR"})
        self.assertEqual(outcome.started.report.env_withheld, 3)
        self.assertEqual(outcome.started.report.env_passed, 2)  # MINE and PATH: of the request's

    def test_path_has_a_default(self):
        outcome = self.client.run("env", env={"PATH": None})
        self.assertIn(b"PATH=/usr/local/bin:/usr/bin:/bin", outcome.stdout.splitlines())

    def test_path_entries_that_are_not_granted_are_passed_over_with_a_note(self):
        shim = self.out / "true"
        shim.write_text("#!/bin/sh\necho shim\n")
        shim.chmod(0o755)
        outcome = self.client.run("true", env={"PATH": f"{self.out}:/usr/bin"})
        self.assertEqual((outcome.code, outcome.stdout), (0, b""), outcome)
        self.assertIn(str(shim), outcome.started.notes[0])


class SpawnErrors(GrpcTestCase):
    """Status OK, nothing ran, and the words that help."""

    def refused(self, *args, **fields):
        outcome = self.client.run(*args, **fields)
        self.assertEqual(outcome.order, ["finished"])
        self.assertEqual(outcome.reason, "SPAWN_FAILED")
        self.assertEqual(outcome.finished.WhichOneof("ending"), "spawn_error")
        self.assertTrue(outcome.finished.report.protections, "the result carries the report then")
        return outcome.finished.spawn_error

    def test_no_such_program(self):
        error = self.refused("no-such-program-here")
        self.assertEqual((error.stage, error.exit_code), ("exec", 127))
        self.assertIn("no-such-program-here", error.message)

    def test_no_such_file(self):
        error = self.refused(str(self.ws / "missing"), read=[self.ws])
        self.assertEqual(error.exit_code, 127)
        self.assertEqual(error.path, os.fsencode(self.ws / "missing"))

    def test_not_executable(self):
        error = self.refused(str(self.ro / "data"), read=[self.ro])
        self.assertEqual((error.stage, error.exit_code), ("exec", 126))

    def test_a_directory(self):
        self.assertEqual(self.refused(str(self.ro), read=[self.ro]).exit_code, 126)

    def test_not_granted_names_the_grant_that_helps(self):
        program = self.out / "program"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        error = self.refused(str(program))
        self.assertEqual(error.exit_code, 126)
        self.assertIn("--allow-read", error.hint)

    def test_a_relative_program_is_explained_from_the_run_s_own_directory(self):
        error = self.refused("./data", cwd=os.fsencode(self.ro), read=[self.ro])
        self.assertIn("not executable", error.message)

    def test_no_such_interpreter(self):
        script = self.ws / "script"
        script.write_text("#!/no/such/interpreter\n")
        script.chmod(0o755)
        error = self.refused(str(script), read=[self.ws])
        self.assertEqual(error.exit_code, 127)
        self.assertIn("/no/such/interpreter", error.message)


class Refusals(GrpcTestCase):
    """A gRPC error means that nothing ran."""

    def test_no_program(self):
        with self.assertRefused("INVALID_ARGUMENT", "args"):
            self.client.run()

    def test_a_missing_working_directory_is_named(self):
        with self.assertRefused("NOT_FOUND", "cwd", str(self.work / "none")):
            self.client.run("true", cwd=os.fsencode(self.work / "none"))

    def test_a_missing_grant_is_named_with_a_hint_on_the_second_line(self):
        with self.assertRefused("NOT_FOUND", str(self.work / "none"), "\n", "mkdir -p") as refusal:
            self.client.run("true", write=[self.work / "none"])
        self.assertEqual(refusal.details.count("\n"), 1)

    def test_an_optional_missing_grant_is_skipped_and_reported(self):
        message = request("true")
        message.policy.allow_read.add(path_text=str(self.work / "none"), optional=True)
        report = self.client.run_request(message).started.report
        skipped = [g for g in report.grants if g.origin == report_pb2.ORIGIN_ASKED]
        self.assertEqual([grant.skipped for grant in skipped], [True])

    def test_a_relative_path_names_its_field(self):
        with self.assertRefused("INVALID_ARGUMENT", "policy.allow_write[1].path_text", "relative"):
            self.client.run("true", write=[self.ws, "relative"])

    def test_an_empty_path_names_its_field(self):
        message = request("true")
        message.policy.allow_read.add()
        with self.assertRefused("INVALID_ARGUMENT", "policy.allow_read[0].path"):
            self.client.run_request(message)

    def test_guardd_s_own_folder_cannot_be_granted(self):
        for path in (self.guardd.socket.parent, self.guardd.socket.parent.parent):
            with self.assertRefused("INVALID_ARGUMENT", str(path)):
                self.client.run("true", write=[path])

    def test_what_is_not_built_is_unimplemented_and_named(self):
        def with_policy(change):
            message = request("true")
            change(message.policy)
            return message
        cases = {
            "session_id": request("true", session_id="s"),
            "capture_bytes": request("true", capture_bytes=1),
            "result_stream": request("true", result_stream=True),
            "pty": request("true", pty=run_pb2.Pty(rows=1)),
            "on_disconnect": request("true", on_disconnect=run_pb2.ON_DISCONNECT_DETACH),
            "policy.allow_udp": with_policy(lambda p: p.allow_udp.append("53")),
            "policy.allow_unix": with_policy(lambda p: p.allow_unix.add(path_text="/x")),
            "policy.allow_loopback": with_policy(lambda p: setattr(p, "allow_loopback", True)),
            "policy.allow_proc": with_policy(lambda p: setattr(p, "allow_proc", True)),
            "policy.deny": with_policy(lambda p: p.deny.add(path_text="/x")),
            "policy.protect": with_policy(lambda p: p.protect.add(path_text="/x")),
            "policy.allow_connect[0]": with_policy(lambda p: p.allow_connect.append("host:443")),
            "policy.allow_read[0].expected": with_policy(
                lambda p: p.allow_read.add(path_text="/usr").expected.SetInParent()),
        }
        for field, message in cases.items():
            with self.subTest(field), self.assertRefused("UNIMPLEMENTED", field):
                self.client.run_request(message)

    def test_a_field_from_a_newer_client_is_refused_not_skipped(self):
        message = request("true")
        message.policy.MergeFromString(b"\xfa\x3f\x01x")  # field 1023, which nobody has
        with self.assertRefused("UNIMPLEMENTED", "1023"):
            self.client.run_request(message)

    def test_methods_that_are_not_built_say_so(self):
        for name, message, reply in (
                ("OpenSession", session_pb2.OpenSessionRequest(), session_pb2.Session),
                ("CloseSession", session_pb2.SessionRef(), guard_pb2.CloseSessionReply),
                ("ListSessions", guard_pb2.ListSessionsRequest(), guard_pb2.ListSessionsReply)):
            with self.subTest(name), self.assertRefused("UNIMPLEMENTED", name):
                self.client.unary(name, message, reply)


    def test_a_signal_to_no_run_or_of_no_number_is_refused(self):
        for status, text, message in (
                ("NOT_FOUND", "no-such-run", guard_pb2.SignalRequest(run_id="no-such-run", signal=15)),
                ("INVALID_ARGUMENT", "signal", guard_pb2.SignalRequest(run_id="x", signal=65)),
                ("INVALID_ARGUMENT", "signal", guard_pb2.SignalRequest(run_id="x")),
                ("INVALID_ARGUMENT", "run_id", guard_pb2.SignalRequest(signal=15)),
                ("INVALID_ARGUMENT", "run_id", guard_pb2.SignalRequest(run_id="../x", signal=15)),
                ("UNIMPLEMENTED", "tree",
                 guard_pb2.SignalRequest(run_id="x", signal=15, whole_tree=True))):
            with self.subTest(status), self.assertRefused(status, text):
                self.client.unary("Signal", message, guard_pb2.SignalReply)


class Questions(GrpcTestCase):
    def test_capabilities(self):
        capabilities = self.client.capabilities()
        self.assertEqual(capabilities.pid, self.guardd.pid)
        self.assertEqual(capabilities.landlock_abi_kernel, guardtest.landlock_abi())
        for feature in ("run_stream", "list", "get", "wait", "idempotent_run_id", "reflection"):
            self.assertIn(feature, capabilities.features)
        self.assertLess(abs(capabilities.started_at.ToSeconds() - time.time()), 300)

    def test_health_is_serving(self):
        self.assertEqual(self.client.health(), 1)

    def test_the_service_describes_itself(self):
        # grpc.reflection.v1alpha by hand: list_services, then file_containing_symbol.
        reflect = self.client.channel.stream_stream(
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
        services, described = reflect(iter([b"\x3a\x00", b"\x22\x0eguard.v1.Guard"]), timeout=20)
        self.assertIn(b"guard.v1.Guard", services)
        self.assertIn(b"grpc.health.v1.Health", services)
        self.assertIn(b"guard/v1/guard.proto", described)
        self.assertIn(b"GetCapabilities", described)

    def test_check_reports_without_running(self):
        policy = policy_pb2.Policy()
        policy.allow_read.add(path_text=str(self.ro))
        ports = [443] if guardtest.landlock_abi() >= 4 else []
        policy.allow_connect.extend(map(str, ports))
        report = self.client.check(guard_pb2.CheckRequest(policy=policy))
        self.assertEqual(list(report.connect_ports), ports)
        self.assertIn(os.fsencode(self.ro), [bytes(grant.path) for grant in report.grants])
        with self.assertRefused("NOT_FOUND", "none"):
            policy.allow_read.add(path_text=str(self.work / "none"))
            self.client.check(guard_pb2.CheckRequest(policy=policy))


class Input(GrpcTestCase):
    def test_a_mebibyte_and_the_half_close_arrive(self):
        pieces = [stdin(b"x" * 65536) for _ in range(16)]
        outcome = self.client.run_stream([start("wc", "-c"), *pieces])
        self.assertEqual((outcome.stdout.strip(), outcome.code), (b"1048576", 0))

    def test_close_stdin_is_the_end_while_the_stream_stays_open(self):
        inputs = Inputs(start("cat"), stdin(b"abc"), run_pb2.RunInput(close_stdin=True))
        call = self.client.stream(inputs)
        self.assertEqual(first(call, "output").data, b"abc")
        self.assertEqual(first(call, "finished").exit_code, 0)
        inputs.end()

    def test_a_program_that_does_not_read_is_no_error(self):
        pieces = [stdin(b"x" * 65536) for _ in range(64)]
        outcome = self.client.run_stream([start("true"), *pieces])
        self.assertEqual((outcome.code, outcome.reason), (0, "EXITED"))

    def test_a_program_that_closes_its_input_gets_on(self):
        pieces = [stdin(b"x" * 65536) for _ in range(64)]
        outcome = self.client.run_stream([start("sh", "-c", "exec <&-; sleep 0.2; echo on"), *pieces])
        self.assertEqual(outcome.stdout, b"on\n")

    def test_a_signal_reaches_the_program(self):
        script = "exec 2>/dev/null; trap 'echo got; exit 7' USR1; echo up; while :; do sleep 0.05; done"
        inputs = Inputs(start("sh", "-c", script))
        call = self.client.stream(inputs)
        first(call, "output")
        inputs.send(run_pb2.RunInput(signal=signal.SIGUSR1))
        self.assertEqual(first(call, "output").data, b"got\n")
        self.assertEqual(first(call, "finished").exit_code, 7)
        inputs.end()

    def test_start_comes_first(self):
        with self.assertRefused("INVALID_ARGUMENT", "start"):
            self.client.run_stream([stdin(b"x")])
        with self.assertRefused("INVALID_ARGUMENT", "start"):
            self.client.run_stream([])

    def test_a_run_whose_client_talks_nonsense_ends_with_a_result_that_says_so(self):
        sleep = start("sleep", "60")
        for nonsense, words in ((sleep, "twice"), (run_pb2.RunInput(signal=99), "99"),
                                (run_pb2.RunInput(resize=run_pb2.Resize(rows=1)), "terminal"),
                                (stdin(b"x" * 262145), "262145")):
            with self.subTest(words):
                inputs = Inputs(sleep, nonsense)
                outcome_call = self.client.stream(inputs)
                finished = first(outcome_call, "finished")
                self.assertEqual(finished.reason, run_pb2.REASON_CANCELLED)
                self.assertIn(words, finished.detail)
                inputs.end()


if __name__ == "__main__":
    guardtest.main()
