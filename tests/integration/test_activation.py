"""guardd on a socket that somebody else listens on: sd_listen_fds(3) and sd_notify(3), no systemd."""
import contextlib
import os
import pathlib
import select
import signal
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest  # noqa: E402
from guardgrpc import Client, first as first_event, request  # noqa: E402

GUARDCTL = guardtest.BIN / "guardctl"
# Becomes guardd under its own pid, with descriptor 3 as the socket.
BECOME = 'export LISTEN_PID="${PID_FOR_TEST:-$$}" LISTEN_FDS="$1"; fd=$2; shift 2; exec "$@" 3<&"$fd"'


class Activation(guardtest.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = self.work / "run"
        self.folder.mkdir(mode=0o700)
        self.path = self.folder / "guardd.sock"
        self.log = self.work / "log"

    def listen(self, path=None, kind=socket.SOCK_STREAM, mode=0o600, backlog=128):
        """A socket as a service manager makes it."""
        listener = socket.socket(socket.AF_UNIX, kind)
        self.addCleanup(listener.close)
        listener.bind(str(path or self.path))
        if path is None:
            self.path.chmod(mode)
        if kind == socket.SOCK_STREAM and backlog is not None:
            listener.listen(backlog)
        return listener

    def notify_socket(self, address):
        receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(receiver.close)
        receiver.settimeout(20)
        receiver.bind(address)
        return receiver

    def command(self, listener, *flags, count="1"):
        return ["/bin/bash", "-c", BECOME, "bash", count, str(listener.fileno()),
                str(guardtest.BIN / "guardd"), *flags]

    def activate(self, listener, *flags, env=None):
        """A guardd on the socket, which may not listen yet: clients may connect all the same."""
        log = open(self.log, "ab")
        self.addCleanup(log.close)
        process = subprocess.Popen(self.command(listener, *flags), stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=log, pass_fds=[listener.fileno()],
                                   env=guardtest.environment(**(env or {})), process_group=0)

        def end():
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

        self.addCleanup(end)
        return process

    def refused(self, listener, *flags, count="1", env=None):
        result = guardtest.run(self.command(listener, *flags, count=count), timeout=20,
                               pass_fds=[listener.fileno()], env=env)
        self.assertEqual(result.rc, 1, result)
        return result.err

    def guardctl(self, *arguments, **how):
        return guardtest.run([GUARDCTL, *arguments], env={"GUARDD_SOCKET": self.path}, **how)

    def test_it_serves_on_the_socket_and_leaves_it_there(self):
        listener = self.listen()
        inode = os.stat(self.path).st_ino
        guardd = self.activate(listener)
        self.assertRan(self.guardctl("run", "--", "echo", "on"), 0, b"on\n")
        with Client(self.path) as client:
            self.assertEqual(client.capabilities().pid, guardd.pid)
        guardd.terminate()
        self.assertEqual(guardd.wait(15), 0)
        self.assertEqual(os.stat(self.path).st_ino, inode)

    def test_guardctl_starts_none_where_somebody_listens(self):
        listener = self.listen()
        with guardtest.Popen([GUARDCTL, "run", "--", "echo", "on"], stdout=subprocess.PIPE,
                             env=guardtest.environment(GUARDD_SOCKET=self.path)) as client:
            self.assertTrue(select.select([listener], [], [], 20)[0], "guardctl connects")
            guardd = self.activate(listener)
            self.assertEqual(client.stdout.read(), b"on\n")
        with Client(self.path) as client:
            self.assertEqual(client.capabilities().pid, guardd.pid)
        self.assertEqual(guardtest.processes_matching(f"--socket {self.path}"), [])
        self.assertFalse((self.folder / "guardd.log").exists(), "autostart's")

    def test_it_tells_when_it_is_ready_and_when_it_ends(self):
        for address in (str(self.work / "notify"), f"\0{self.marker}"):
            with self.subTest(address):
                receiver = self.notify_socket(address)
                self.path.unlink(missing_ok=True)
                guardd = self.activate(self.listen(), env={
                    "NOTIFY_SOCKET": address.replace("\0", "@")})
                self.assertEqual(receiver.recv(99), b"READY=1")
                guardd.terminate()
                self.assertEqual(receiver.recv(99), b"STOPPING=1")
                self.assertEqual(guardd.wait(15), 0)

    def test_a_started_one_tells_too(self):
        receiver = self.notify_socket(str(self.work / "notify"))
        with self.start_daemon(env={"NOTIFY_SOCKET": self.work / "notify"}):
            self.assertEqual(receiver.recv(99), b"READY=1")

    def test_nothing_of_it_reaches_a_run(self):
        receiver = self.notify_socket(str(self.work / "notify"))
        guardd = self.activate(self.listen(), env={"NOTIFY_SOCKET": self.work / "notify",
                                                   "LISTEN_FDNAMES": "guardd.socket"})
        self.assertEqual(receiver.recv(99), b"READY=1")
        for flags in ((), ("--inherit-env",)):
            result = guardtest.run(
                [GUARDCTL, "run", *flags, "--", "sh", "-c", "env; ls -l /proc/self/fd/"],
                env={"GUARDD_SOCKET": self.path, "NOTIFY_SOCKET": "/x", "LISTEN_FDS": "1",
                     "LISTEN_PID": "1", "LISTEN_FDNAMES": "x"})
            self.assertEqual(result.rc in (0, 2), True, result)
            self.assertIn("PATH=", result.out)
            for name in ("LISTEN_", "NOTIFY_SOCKET", "GUARDD_"):
                self.assertNotIn(name, result.out)
        for pid in guardtest.descendants(guardd.pid):
            with contextlib.suppress(FileNotFoundError):
                environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
                self.assertNotIn(b"NOTIFY_SOCKET", environment)
                self.assertNotIn(b"LISTEN_", environment)

    def test_what_is_meant_for_another_process_is_left_alone(self):
        listener = self.listen(self.work / "other.sock")
        guardd = self.activate(listener, "--socket", str(self.path),
                               env={"PID_FOR_TEST": "1"})
        self.assertTrue(guardtest.wait_until(self.path.exists, 20))
        self.assertRan(self.guardctl("run", "--", "echo", "on"), 0, b"on\n")
        self.assertNotIn(str(self.work / "other.sock"), guardtest.open_files(guardd.pid))
        guardd.terminate()
        self.assertEqual(guardd.wait(15), 0)
        self.assertFalse(self.path.exists(), "its own")

    def test_what_is_no_socket_for_it_is_refused(self):
        self.assertIn("LISTEN_FDS is '2'", self.refused(self.listen(), count="2"))
        self.path.unlink()
        self.assertIn("not a listening", self.refused(self.listen(backlog=None)))
        self.path.unlink()
        self.assertIn("not a listening", self.refused(self.listen(kind=socket.SOCK_DGRAM)))
        self.assertIn("absolute path", self.refused(self.listen(f"\0{self.marker}")))
        with socket.socket(socket.AF_INET) as internet, open("/dev/null") as null:
            internet.listen()
            self.assertIn("not a listening", self.refused(internet))
            self.assertIn("socket", self.refused(null).lower())

    def test_a_socket_that_others_reach_is_refused(self):
        self.assertIn("SocketMode=0600", self.refused(self.listen(mode=0o666)))
        self.path.chmod(0o600)
        self.folder.chmod(0o755)
        self.path.unlink()
        self.assertIn(f"chmod 700 {self.folder}", self.refused(self.listen()))

    def test_another_socket_flag_is_refused(self):
        err = self.refused(self.listen(), "--socket", "/run/other.sock")
        self.assertIn("/run/other.sock", err)
        self.assertIn("leave --socket out", err)

    def test_one_that_was_started_by_hand_serves_on_and_both_live(self):
        first = self.start_daemon()
        with Client(first.socket) as client:
            self.assertEqual(client.run("echo", "one").stdout, b"one\n")
            first.socket.unlink()  # as a service manager that binds the path does
            self.activate(self.listen())
            self.assertRan(self.guardctl("run", "--", "echo", "two"), 0, b"two\n")
            self.assertEqual(client.run("echo", "one").stdout, b"one\n")
            self.assertEqual(client.capabilities().pid, first.pid)
        self.assertEqual(first.stop(), 0)
        self.assertTrue(self.path.exists())
        self.assertRan(self.guardctl("run", "--", "echo", "two"), 0, b"two\n")

    def test_no_client_is_lost_when_it_ends_on_idleness(self):
        """As under a service manager: whenever guardd is gone and somebody waits, the next one comes."""
        listener = self.listen()
        listener.setblocking(False)
        ends = 0
        guardd = self.activate(listener, "--idle-exit", "30ms")
        with guardtest.Popen(
                # The pauses are about as long as idleness lasts before it ends.
                ["/bin/bash", "-c", 'for i in $(seq 25); do "$0" run -- echo "$i" || exit; '
                 'sleep 0.0$((RANDOM % 30 + 20)); done',
                 GUARDCTL], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=guardtest.environment(GUARDD_SOCKET=self.path)) as clients:
            while clients.poll() is None:
                if guardd.poll() is None:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        guardd.wait(0.05)
                elif select.select([listener], [], [], 0.05)[0]:
                    ends += 1
                    self.assertEqual(guardd.returncode, 0)
                    guardd = self.activate(listener, "--idle-exit", "30ms")
            out, err = clients.communicate()
        self.assertEqual(out.split(), [str(i).encode() for i in range(1, 26)], err)
        self.assertEqual(err, b"")
        self.assertGreater(ends, 3)

    def test_a_client_that_comes_while_it_ends_is_served_by_the_next(self):
        listener = self.listen()
        first = self.activate(listener)
        with Client(self.path) as client:
            run = client.call(request("sh", "-c", "trap : TERM; sleep 30; sleep 30", grace=0.7))
            first_event(run, "started")
            os.kill(first.pid, signal.SIGTERM)  # the run holds it up
            self.assertTrue(guardtest.wait_until(
                lambda: b"ending" in self.log.read_bytes(), 10))
            with guardtest.Popen([GUARDCTL, "run", "--", "echo", "next"], stdout=subprocess.PIPE,
                                 env=guardtest.environment(GUARDD_SOCKET=self.path)) as waiting:
                self.assertEqual(first.wait(15), 0)
                self.activate(listener)
                self.assertEqual(waiting.stdout.read(), b"next\n")


if __name__ == "__main__":
    guardtest.main()
