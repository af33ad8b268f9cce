"""Runs the attacks of attacks.py: first unconfined, to show that they work here, then by each door.

    class Files(attack_case.AttackTestCase, categories=("fs", "meta")): ...

gets one test per attack and door, `test_fs_read_through_guardctl_run`.
"""
import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import unittest

import attacks
import guardtest
import outside as outside_world
from attacks import DID, EVERYONE, FAILED, IN_VAIN, LEARNT, ONESHOT

UNCONFINED = "unconfined"
PATIENCE = 30 * guardtest.SLOW  # seconds that an attempt may take; none should need one
# What the sandbox has to work with here.
ABI = min(guardtest.landlock_abi(), int(os.environ.get("GUARD_LANDLOCK_ABI_MAX") or 99))
HOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "terminal_host.py")


class Attempt:
    """What one run of a probe said, and what it did."""

    def __init__(self, command, rc, out, err, effects):
        self.command, self.rc, self.out, self.err, self.effects = command, rc, out, err, effects
        verdict = re.findall(r"(did|refused \w+|broken: .*?)\r?$", out, re.M)
        self.verdict = verdict[-1] if verdict else ""

    def __repr__(self):
        return (f"\n  {' '.join(map(str, self.command))}\n  rc {self.rc}, effects {self.effects}"
                f"\n  stdout: {self.out}\n  stderr: {self.err}")


class AttackTestCase(unittest.TestCase):
    def __init_subclass__(cls, categories=(), only_who=None, **more):
        super().__init_subclass__(**more)
        who = "root" if os.getuid() == 0 else "user"
        for attack in attacks.ATTACKS:
            if attack.category not in categories or attack.who not in ("all", who):
                continue
            if only_who and attack.who != only_who:
                continue
            for door in attack.doors:
                name = re.sub(r"\W", "_", f"test_{attack.name}_through_{door}")
                setattr(cls, name, cls._test(attack, door))

    @staticmethod
    def _test(attack, door):
        def test(self):
            self.check(attack, door)
        test.__doc__ = None
        return test

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.outside = outside_world.Outside()
        cls.addClassCleanup(cls.outside.close)
        cls._proofs = {}
        cls.start_daemon()

    @classmethod
    def start_daemon(cls):
        cls.guardd = guardtest.Daemon(cls.outside.folder / "run")
        cls.addClassCleanup(cls.guardd.stop)
        cls.guardd_socket = cls.guardd.socket
        launcher = guardtest.descendants(cls.guardd.pid)[0]
        cls.guardd_names = {"guardd": cls.guardd.socket, "guardd_pid": cls.guardd.pid,
                            "launcher_pid": launcher}

    # --- judging --------------------------------------------------------------------------------

    def check(self, attack, door):
        self.prove(attack)
        attempt = self.attempt(attack, door)
        why_open = attack.open_in(door, ABI)
        if why_open:
            self.assertIn(attack.effect, attempt.effects,
                          f"listed as open ({why_open}) and is not: say so in attacks.py and in "
                          f"docs/THREAT_MODEL.md{attempt}")
            return
        self.assertEqual(attempt.effects, set(), f"{attack.name} got through{attempt}")
        if IN_VAIN in attack.refused and (attempt.verdict == "did" or
                                          attack.timeout and attempt.rc == guardtest.TIMED_OUT):
            return
        self.assertIn(attempt.verdict, [f"refused {error}" for error in attack.refused_at(ABI)],
                      attempt)

    def prove(self, attack):
        """The attack works without a sandbox, here, or we learn nothing by its failing in one."""
        if attack.tool and not shutil.which(attack.tool, path="/usr/bin:/bin"):
            self.skipTest(f"kernel: {attack.tool} is not installed")
        if attack.name not in self._proofs:
            self._proofs[attack.name] = self.attempt(attack, UNCONFINED)
        proof = self._proofs[attack.name]
        if attack.effect in proof.effects:
            return
        if attack.needs and proof.verdict.startswith("refused"):
            self.skipTest(f"kernel: {attack.needs} ({proof.verdict} unconfined)")
        self.fail(f"{attack.name} does not work unconfined{proof}")

    # --- running --------------------------------------------------------------------------------

    def attempt(self, attack, door):
        if attack.effect != EVERYONE:
            attempt = self._attempt(attack, door)
            attempt.effects.discard(EVERYONE)  # of a test that runs at the same time
            return attempt
        with open(f"/var/tmp/escape-everyone-{os.getuid()}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return self._attempt(attack, door)

    def _attempt(self, attack, door):
        outside = self.outside
        # Found again in messages, and in the arguments of what it leaves behind.
        marker = f"{outside.token}-{attack.name}"
        outside.reset(marker)
        if attack.category == "defer":
            attacks.repository(outside)
        command = self.command(attack, door)
        run = self.on_terminal if attack.terminal else self.on_pipes
        rc, out, err, effects = run(attack, door, command)
        if attack.survives:
            if self.survivors(marker):
                effects.add("survivors")
            self.end_survivors(marker)
        if attack.after:
            attack.after(outside)
        effects |= outside.effects()
        attempt = Attempt(command, rc, out, err, effects)
        if not is_probe(attack):
            attempt.verdict = "did" if rc == 0 else f"refused {FAILED}" if rc < 125 else ""
        if attempt.verdict == "did":
            effects.add(DID)
        learnt = outside.token if not attack.terminal else f"overheard {outside.token}"
        if learnt in out:
            effects.add(LEARNT)
        # Only what the attack is after, where that is no change outside.
        if attack.effect != DID:
            effects.discard(DID)
        return attempt

    def survivors(self, marker):
        """The newest processes are looked at first, and all a few times: a chain of forks changes
        its number just behind a look."""
        marker = os.fsencode(marker)
        for _ in range(20):
            for pid in sorted(guardtest.all_pids(), reverse=True):
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    with open(f"/proc/{pid}/cmdline", "rb") as file:
                        if marker in file.read():  # empty for a zombie
                            return [pid]
        return []

    def end_survivors(self, marker):
        (self.outside.ws / "stop").touch()

        def gone():
            for pid in guardtest.processes_matching(marker):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
            return not self.survivors(marker)

        self.assertTrue(guardtest.wait_until(gone, 25), "survivors do not stop")

    def command(self, attack, door):
        names = {**self.outside.names(), **self.guardd_names}
        if is_probe(attack):
            argv = [word.format(**names) for word in attack.argv.split()]
            argv[0] = str(self.outside.bin / argv[0])
        else:
            argv = ["/bin/sh", "-c", attack.argv.format(**names)]
        if door == UNCONFINED:
            return argv
        flags = ["--allow-read", self.outside.ro, "--allow-write", self.outside.ws]
        ports = attack.ports if ABI >= attacks.PORTS_ABI else ()
        if "connect" in ports:
            for name in ("granted_tcp", "bindable"):
                flags += ["--allow-connect", str(names[name])]
        if "bind" in ports:
            flags += ["--allow-bind", str(names["bindable"])]
        if door == ONESHOT:
            return [guardtest.BIN / "xenarch-guard", *flags, "--", *argv]
        if attack.timeout:
            flags += ["--timeout", f"{attack.timeout}s"]
        return [guardtest.BIN / "guardctl", "run", *flags, "--", *argv]

    def environment(self):
        return guardtest.environment(AGENT_API_KEY=self.outside.token,
                                     GUARDD_SOCKET=self.guardd_socket)

    def on_pipes(self, attack, door, command):
        effects = set()
        with contextlib.ExitStack() as undo:
            err = undo.enter_context(tempfile.TemporaryFile())
            # A survivor that holds the output would hold us up until it ends.
            out = undo.enter_context(tempfile.TemporaryFile()) if attack.survives else None
            leaks = [undo.enter_context(self.left_open(what, fd)) for what, fd in attack.leaks]
            process = undo.enter_context(subprocess.Popen(
                command, cwd=self.outside.ws, env=self.environment(), stdin=subprocess.DEVNULL,
                stdout=out or subprocess.PIPE, stderr=err, pass_fds=leaks, process_group=0))
            watch = threading.Timer(PATIENCE, os.killpg, (process.pid, signal.SIGKILL))
            watch.start()
            undo.callback(watch.cancel)
            text = b""
            if attack.when_ready:
                text = process.stdout.readline()
                if text.startswith(b"ready"):
                    attack.when_ready(self.outside, text.decode().split()[1:])
            if attack.timeout and door == UNCONFINED:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(attack.timeout)
                process.kill()
            if out:
                process.wait()
                out.seek(0)
                text = out.read()
            else:
                text += process.stdout.read()
                process.wait()
            err.seek(0)
            return process.returncode, _text(text), _text(err.read()), effects

    def on_terminal(self, attack, door, command):
        master, slave = os.openpty()
        try:
            os.write(master, attack.typing.format(token=self.outside.token).encode())
            host = [guardtest.PYTHON, HOST, os.ttyname(slave),
                    "NULL" if attack.stdin_null else "TERMINAL", *command]
            report = subprocess.run(host, cwd=self.outside.ws, env=self.environment(),
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                    start_new_session=True, timeout=PATIENCE, check=True)
            found = json.loads(report.stdout)
            os.set_blocking(master, False)
            text = os.read(master, 65536)
        finally:
            os.close(master)
            os.close(slave)
        effects = set()
        if "injected" in found["typed"]:
            effects.add("typed into the terminal")
        if not found["echoes"]:
            effects.add("terminal left without echo")
        return found["status"], _text(text), "", effects

    @contextlib.contextmanager
    def left_open(self, what, fd):
        """The descriptor `fd`, as a careless caller would have it open."""
        outside = self.outside
        if what == "stream":
            client = socket.socket(socket.AF_UNIX)
            client.connect(str(outside.out / "stream.sock"))
            source = client.detach()
        else:
            source = os.open(outside.secret if what == "secret" else outside.out, os.O_RDONLY)
        os.dup2(source, fd)
        os.close(source)
        try:
            yield fd
        finally:
            os.close(fd)


def is_probe(attack):
    """Else it is a shell script."""
    return attack.argv.startswith("attack_")


def _text(data):
    return data.decode(errors="backslashreplace")
