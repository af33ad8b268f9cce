"""guardd's socket: where it is, whose it is, one guardd for it."""
import os
import pathlib
import signal
import socket
import stat
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest  # noqa: E402
from guardgrpc import Client  # noqa: E402


class Socket(guardtest.TestCase):
    def guardd(self, *arguments, **how):
        return guardtest.run([guardtest.BIN / "guardd", *arguments], timeout=20, **how)

    def mode(self, path):
        return stat.S_IMODE(os.stat(path).st_mode)

    def test_folder_and_socket_are_ours_alone(self):
        daemon = self.start_daemon()
        self.assertEqual(self.mode(daemon.socket), 0o600)
        self.assertEqual(self.mode(daemon.socket.parent), 0o700)
        self.assertEqual(sorted(os.listdir(daemon.socket.parent)),
                         ["guardd.lock", "guardd.log", "guardd.sock"])

    def test_a_second_guardd_is_refused_and_the_first_unharmed(self):
        daemon = self.start_daemon()
        inode = os.stat(daemon.socket).st_ino
        second = self.guardd("--socket", daemon.socket)
        self.assertEqual(second.rc, 1)
        self.assertIn(f"already running (pid {daemon.pid})", second.err)
        self.assertEqual(os.stat(daemon.socket).st_ino, inode)
        with Client(daemon.socket) as client:
            self.assertEqual(client.run("echo", "on").stdout, b"on\n")

    def test_what_a_killed_guardd_left_is_replaced(self):
        self.start_daemon().kill()
        self.assertTrue((self.work / "run/guardd.sock").exists())
        with Client(self.start_daemon().socket) as client:
            self.assertEqual(client.run("echo", "on").stdout, b"on\n")

    def test_a_file_that_is_not_a_socket_stays(self):
        folder = self.work / "run"
        folder.mkdir(mode=0o700)
        (folder / "guardd.sock").write_text("mine")
        result = self.guardd("--socket", folder / "guardd.sock")
        self.assertEqual(result.rc, 1)
        self.assertIn("not a socket", result.err)
        self.assertEqual((folder / "guardd.sock").read_text(), "mine")

    def test_another_programs_live_socket_stays(self):
        folder = self.work / "run"
        folder.mkdir(mode=0o700)
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(folder / "guardd.sock"))
            other.listen()
            inode = os.stat(folder / "guardd.sock").st_ino
            result = self.guardd("--socket", folder / "guardd.sock")
            self.assertEqual(result.rc, 1)
            self.assertIn("another program", result.err)
            self.assertEqual(os.stat(folder / "guardd.sock").st_ino, inode)

    def test_a_socket_that_was_replaced_is_not_removed_at_the_end(self):
        daemon = self.start_daemon()
        os.unlink(daemon.socket)
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(daemon.socket))
            self.assertEqual(daemon.stop(), 0)
            self.assertTrue(daemon.socket.exists())

    def test_its_own_socket_is_removed_at_the_end(self):
        daemon = self.start_daemon()
        self.assertEqual(daemon.stop(), 0)
        self.assertFalse(daemon.socket.exists())

    def test_a_folder_that_is_open_to_others_is_refused_and_not_changed(self):
        folder = self.work / "run"
        folder.mkdir()
        folder.chmod(0o755)
        result = self.guardd("--socket", folder / "guardd.sock")
        self.assertEqual(result.rc, 1)
        self.assertIn(str(folder), result.err)
        self.assertEqual(self.mode(folder), 0o755)
        self.assertEqual(os.listdir(folder), [])

    def test_the_path_may_be_as_long_as_the_kernel_takes(self):
        folder = self.work / "run"
        name = "s" * (107 - len(str(folder)) - 1)
        folder.mkdir(mode=0o700)
        path = folder / name
        reader, writer = os.pipe()
        with guardtest.Popen([guardtest.BIN / "guardd", "--socket", path, "--ready-fd",
                               str(writer)], pass_fds=[writer], stderr=subprocess.DEVNULL,
                              env=guardtest.environment()) as process:
            os.close(writer)
            self.assertEqual(os.read(reader, 16), b"ready\n")
            self.assertEqual(os.read(reader, 16), b"", "it closes the descriptor")
            os.close(reader)
            with Client(path) as client:
                self.assertEqual(client.run("echo", "on").stdout, b"on\n")
            process.terminate()

    def test_connections_that_come_and_go_do_it_no_harm(self):
        daemon = self.start_daemon()

        def open_files():
            return len(os.listdir(f"/proc/{daemon.pid}/fd"))

        def served():
            with Client(daemon.socket) as client:
                self.assertEqual(client.run("echo", "on").stdout, b"on\n")

        served()
        before = open_files()
        def come_and_go(count):
            for i in range(count):
                with socket.socket(socket.AF_UNIX) as peer:
                    peer.connect(str(daemon.socket))
                    if i % 2:
                        peer.send(b"GET / HTTP/1.1\r\n\r\n")

        for _ in range(10):
            come_and_go(1000)
            with socket.socket(socket.AF_UNIX) as last:
                last.connect(str(daemon.socket))
                last.recv(1)  # so all before it have been accepted, and there is room for as many
            os.kill(daemon.pid, signal.SIGSTOP)
            come_and_go(1000)  # closed before they can be accepted
            os.kill(daemon.pid, signal.SIGCONT)
        served()
        self.assertTrue(guardtest.wait_until(lambda: open_files() <= before, 10),
                        f"{before} descriptors before, {open_files()} now")


class CommandLine(guardtest.TestCase):
    guardd = Socket.guardd

    def test_help_and_version(self):
        self.assertIn("--idle-exit", self.guardd("--help").out)
        self.assertRegex(self.guardd("--version").out, r"^guardd \d+\.\d+\.\d+\n$")

    def test_bad_usage_is_2_and_names_the_flag(self):
        for arguments, word in ((["--nonsense"], "--nonsense"), (["--idle-exit", "-1"], "idle-exit"),
                                (["--idle-exit", "0"], "idle-exit"), (["--ready-fd", "77"], "77"),
                                (["--log-level", "loud"], "log-level")):
            with self.subTest(arguments):
                result = self.guardd(*arguments)
                self.assertEqual(result.rc, 2, result)
                self.assertIn(word, result.err)

    def test_a_relative_socket_is_refused(self):
        result = self.guardd("--socket", "relative.sock")
        self.assertEqual(result.rc, 1)
        self.assertIn("relative.sock", result.err)

    def test_inherited_descriptors_and_an_ignored_child_signal_do_not_matter(self):
        secret = os.open(self.secret, os.O_RDONLY)
        self.addCleanup(os.close, secret)
        folder = self.work / "run"
        reader, writer = os.pipe()

        def careless():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)

        folder.mkdir(mode=0o700)
        with guardtest.Popen([guardtest.BIN / "guardd", "--socket", folder / "guardd.sock",
                               "--ready-fd", str(writer)], pass_fds=[writer, secret],
                              preexec_fn=careless, stderr=subprocess.DEVNULL,
                              env=guardtest.environment()) as process:
            os.close(writer)
            self.assertEqual(os.read(reader, 16), b"ready\n")
            os.close(reader)
            self.assertNotIn(str(self.secret), guardtest.open_files(process.pid))
            with Client(folder / "guardd.sock") as client:
                self.assertEqual(client.run("echo", "on").stdout, b"on\n")
            process.terminate()


if __name__ == "__main__":
    guardtest.main()
