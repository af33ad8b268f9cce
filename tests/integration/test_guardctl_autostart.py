"""guardctl starts a guardd when none runs, and only where it may."""
import contextlib
import os
import pathlib
import signal
import socket
import stat
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest

GUARDCTL = guardtest.BIN / "guardctl"


class Autostart(guardtest.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = self.work / "run"
        self.socket = self.folder / "guardd.sock"
        self.addCleanup(self.stop)

    def daemons(self):
        """Processes whose arguments name the socket: guardd has them, its launcher does not."""
        found = []
        for pid in guardtest.processes_matching(str(self.socket)):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/exe") == str(guardtest.BIN / "guardd"):
                    found.append(pid)
        return found

    def daemon(self):
        found = self.daemons()
        self.assertEqual(len(found), 1, found)
        return found[0]

    def stop(self):
        for pid in self.daemons():
            os.kill(pid, signal.SIGTERM)
        if not guardtest.wait_until(lambda: not self.daemons(), 15):
            for pid in self.daemons():
                os.kill(pid, signal.SIGKILL)

    def guardctl(self, *arguments, env=None, **how):
        return guardtest.run([GUARDCTL, *arguments],
                             env={"GUARDD_SOCKET": self.socket, **(env or {})}, **how)

    def test_the_first_run_starts_it_and_the_next_finds_it(self):
        self.assertRan(self.guardctl("run", "--", "echo", "one"), 0, b"one\n")
        first = self.daemon()
        self.assertRan(self.guardctl("run", "--", "echo", "two"), 0, b"two\n")
        self.assertEqual(self.daemon(), first)

    def test_twenty_clients_at_once_get_one_daemon(self):
        results = guardtest.at_once(
            20, lambda n: self.guardctl("run", "--", "echo", str(n), timeout=120))
        for n, result in enumerate(results):
            self.assertRan(result, 0, f"{n}\n".encode())
        self.daemon()

    def test_it_has_nothing_of_its_first_caller(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        os.set_inheritable(writer, True)
        secret = {"LD_PRELOAD": "/no/such.so", "API_KEY": self.marker, "BASH_ENV": self.marker}
        self.assertRan(self.guardctl("run", "--", "true", env=secret, pass_fds=[writer]))
        os.close(writer)
        pid = self.daemon()
        environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
        for name in (b"LD_PRELOAD", b"API_KEY", b"BASH_ENV"):
            self.assertNotIn(name, environment)
        self.assertEqual(os.read(reader, 1), b"")  # our pipe has no writer left
        self.assertEqual(os.readlink(f"/proc/{pid}/cwd"), "/")
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        self.assertNotEqual(int(fields[1]), os.getpid())
        self.assertEqual(fields[4], "0")  # no terminal
        self.assertNotEqual(os.getsid(pid), os.getsid(0))
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        self.assertIn("Umask:\t0077\n", status)
        self.assertIn("SigBlk:\t0000000000000000\n", status)

    def test_its_log_is_ours_alone_and_does_not_grow_without_end(self):
        self.folder.mkdir(mode=0o700)
        log = self.folder / "guardd.log"
        log.write_bytes(b"old\n" * 500_000)
        self.assertRan(self.guardctl("run", "--", "true"))
        self.assertLess(log.stat().st_size, 100_000)
        fresh = self.work / "fresh"
        self.socket = fresh / "guardd.sock"
        self.assertRan(self.guardctl("run", "--", "true"))
        self.assertEqual(stat.S_IMODE((fresh / "guardd.log").stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(fresh.stat().st_mode), 0o700)
        self.stop()
        self.socket = self.folder / "guardd.sock"

    def test_a_socket_that_nobody_listens_on_is_replaced(self):
        self.folder.mkdir(mode=0o700)
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(str(self.socket))
        self.assertRan(self.guardctl("run", "--", "echo", "hi"), 0, b"hi\n")

    def test_a_daemon_that_was_killed_is_replaced(self):
        self.assertRan(self.guardctl("run", "--", "true"))
        first = self.daemon()
        os.kill(first, signal.SIGKILL)
        self.assertTrue(guardtest.wait_until(lambda: not guardtest.alive(first)))
        self.assertRan(self.guardctl("run", "--", "echo", "again"), 0, b"again\n")
        self.assertNotEqual(self.daemon(), first)

    def test_a_folder_that_others_may_enter_is_refused_and_left_as_it_is(self):
        self.folder.mkdir(mode=0o755)
        self.folder.chmod(0o755)
        result = self.guardctl("run", "--", "echo", "ran")
        self.assertRan(result, guardtest.GUARD_FAILED, b"")
        self.assertIn(f"chmod 700 {self.folder}", result.err)
        self.assertEqual(stat.S_IMODE(self.folder.stat().st_mode), 0o755)
        self.assertEqual(self.daemons(), [])

    def test_a_missing_parent_folder_is_not_made(self):
        self.socket = self.work / "a" / "b" / "guardd.sock"
        result = self.guardctl("run", "--", "echo", "ran")
        self.assertRan(result, guardtest.GUARD_FAILED, b"")
        self.assertFalse((self.work / "a").exists())

    def test_bad_usage_starts_nothing(self):
        self.assertRan(self.guardctl("run", "--timeout", "-1", "--", "true"),
                       guardtest.GUARD_FAILED)
        self.assertFalse(self.folder.exists())

    def test_a_listener_that_is_no_guardd_is_told(self):
        self.folder.mkdir(mode=0o700)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(self.socket))
            listener.listen()

            def hang_up():
                with contextlib.suppress(OSError):
                    while True:
                        listener.accept()[0].close()

            threading.Thread(target=hang_up, daemon=True).start()
            result = self.guardctl("run", "--", "echo", "ran")
            listener.shutdown(socket.SHUT_RDWR)
        self.assertRan(result, guardtest.GUARD_FAILED, b"")
        self.assertIn("closed the connection", result.err)

    def test_inside_a_sandbox_none_is_started_and_none_is_reached(self):
        command = [GUARDCTL, "run", "--", "echo", "ran"]
        env = {"GUARDD_SOCKET": self.socket}
        granted = ["--allow-read", guardtest.BIN, "--allow-write", self.ws]
        chosen = ["sh", "-c", 'GUARDD_SOCKET="$0" exec "$@"', str(self.socket), *command]

        def assert_refused(result):
            self.assertRan(result, guardtest.GUARD_FAILED, b"")
            self.assertIn("inside a sandbox", result.err)
            self.assertIn("xenarch-guard", result.err)

        assert_refused(guardtest.oneshot(chosen, *granted, env=env))
        self.assertEqual(self.daemons(), [])
        # The same outside works; then, with a guardd there, from a run and from a one-shot.
        self.assertRan(guardtest.unconfined(chosen, env=env), 0, b"ran\n")
        assert_refused(guardtest.oneshot(chosen, *granted, env=env))
        assert_refused(self.guardctl("run", *granted, "--", *chosen))

    def test_a_guardd_that_is_missing_is_told(self):
        alone = self.work / "bin"
        alone.mkdir()
        (alone / "guardctl").write_bytes(GUARDCTL.read_bytes())
        (alone / "guardctl").chmod(0o755)
        result = guardtest.run([alone / "guardctl", "run", "--", "echo", "ran"],
                               env={"GUARDD_SOCKET": self.socket})
        self.assertRan(result, guardtest.GUARD_FAILED, b"")
        self.assertIn("no guardd beside", result.err)

    def test_a_guardd_that_fails_is_told_with_its_own_words(self):
        alone = self.work / "bin"
        alone.mkdir()
        (alone / "guardctl").write_bytes(GUARDCTL.read_bytes())
        (alone / "guardctl").chmod(0o755)
        (alone / "guardd").write_text("#!/bin/sh\necho first >&2\necho the reason >&2\nexit 1\n")
        (alone / "guardd").chmod(0o755)
        result = guardtest.run([alone / "guardctl", "run", "--", "echo", "ran"],
                               env={"GUARDD_SOCKET": self.socket})
        self.assertRan(result, guardtest.GUARD_FAILED, b"")
        self.assertIn("guardd did not start: the reason", result.err)
        self.assertIn(f"{self.folder}/guardd.log", result.err)


if __name__ == "__main__":
    guardtest.main()
