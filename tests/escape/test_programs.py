"""Ordinary programs work confined as they do unconfined, by both doors."""
import pathlib
import shutil
import socket
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import attack_case
import attacks
import guardtest
import programs


class WebServer:
    """Answers every request on a free port of 127.0.0.1 with "granted"."""

    def __init__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self):
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            with peer:
                peer.recv(4096)
                peer.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 7\r\n\r\ngranted")

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()


class Programs(guardtest.DaemonTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = WebServer()
        cls.addClassCleanup(cls.server.close)
        with socket.create_server(("127.0.0.1", 0)) as free:
            cls.bindable = free.getsockname()[1]

    def check(self, program):
        missing = [tool for tool in program.tools if not shutil.which(tool, path="/usr/bin:/bin")]
        if missing:
            self.skipTest(f"kernel: not installed: {', '.join(missing)}")
        with_ports = attack_case.ABI >= attacks.PORTS_ABI
        if not with_ports and ("{granted_tcp}" in program.script or "{bindable}" in program.script):
            self.skipTest("kernel: granting ports needs Landlock ABI 4")
        shutil.copy("/usr/bin/true", self.ro / "program")
        script = program.script.format(ro=self.ro, granted_tcp=self.server.port,
                                       bindable=self.bindable)
        argv = ["/bin/bash", "-c", script]
        flags = ["--allow-read", self.ro, "--allow-write", self.ws]
        if with_ports:
            flags += ["--allow-connect", self.server.port, "--allow-connect", self.bindable,
                      "--allow-bind", self.bindable]
        expected = self.in_fresh_folder(guardtest.unconfined, argv)
        self.assertRan(expected)
        for door in (guardtest.oneshot, self.guardd.run):
            with self.subTest(door=door.__name__):
                confined = self.in_fresh_folder(door, argv, *map(str, flags))
                if program.broken:
                    self.assertNotEqual(confined.rc, 0, f"not broken any more: {program.broken}")
                else:
                    self.assertRan(confined, stdout=expected.stdout)

    def in_fresh_folder(self, door, argv, *flags):
        shutil.rmtree(self.ws)
        self.ws.mkdir()
        return door(argv, *flags, cwd=self.ws)


def _test(program):
    def test(self):
        self.check(program)
    return test


for each in programs.PROGRAMS:
    setattr(Programs, f"test_{each.name}", _test(each))


if __name__ == "__main__":
    guardtest.main()
