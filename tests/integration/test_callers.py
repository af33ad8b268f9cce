"""Who may call guardd: this user's processes, but none of a run, however it goes about it.

The filter of a run refuses the socket already; `--unsafe-no-guard` shows that what is behind it
holds by itself. Every attempt is also made outside any run, where it succeeds.
"""
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest  # noqa: E402
from guardgrpc import Client, GrpcTestCase, first, request  # noqa: E402

# Prints, for each way to the socket, what came of it: "spoke" when guardd said its first words.
ATTEMPTS = r"""
import json, os, socket, sys, time

path, parent, inherited = sys.argv[1:4]
folder, name = os.path.split(path)
said = {}

def attempt(way):
    def record(function):
        try:
            peer = function()
            peer.settimeout(20)
            said[way] = "spoke" if peer.recv(1) else "closed"
        except OSError as error:
            said[way] = error.strerror
        return function
    return record

def connect(address):
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(address)
    return peer

@attempt("path")
def _(): return connect(path)

@attempt("link")
def _():
    link = os.path.join(os.environ["TMPDIR"], "link-" + str(os.getpid()))
    os.symlink(path, link)
    return connect(link)

@attempt("proc root")
def _(): return connect("/proc/self/root" + path)

@attempt("folder descriptor")
def _():
    fd = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    return connect(f"/proc/self/fd/{fd}/{name}")

@attempt("parent descriptor")
def _():
    fd = os.open(parent, os.O_PATH | os.O_DIRECTORY)
    return connect(f"/proc/self/fd/{fd}/{os.path.relpath(path, parent)}")

@attempt("relative")
def _():
    os.chdir(folder)
    return connect(name)

@attempt("not blocking")
def _():
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    peer.connect(path)
    return peer

@attempt("inherited")
def _():
    return socket.socket(fileno=os.dup(int(inherited)))

@attempt("pair")
def _():
    ours, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    ours.connect(path)
    return ours

@attempt("abstract")
def _(): return connect("\0" + path)

# From a process whose parents have all ended, which belongs to whoever adopts it.
reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    middle = os.getpid()
    if os.fork() > 0:
        os._exit(0)
    while os.getppid() == middle:
        time.sleep(0.001)  # being adopted sends no event
    said.clear()
    attempt("orphan")(lambda: connect(path))
    os.write(writer, json.dumps(said).encode())
    os._exit(0)
os.close(writer)
os.wait()
said.update(json.loads(os.read(reader, 4096)))
print(json.dumps(said))
"""

# Nobody listens on an abstract name, and one end of a pair is connected already: in vain outside too.
IN_VAIN = {"abstract", "pair"}


class Callers(GrpcTestCase):
    def connected(self):
        """A connection that somebody else made, as a careless caller leaves it open."""
        peer = socket.socket(socket.AF_UNIX)
        self.addCleanup(peer.close)
        peer.connect(str(self.guardd.socket))
        os.set_inheritable(peer.fileno(), True)
        return peer.fileno()

    def attempts(self, door, **how):
        fd = self.connected()
        folder = self.guardd.socket.parent
        result = door([guardtest.PYTHON, "-c", ATTEMPTS, self.guardd.socket, folder.parent,
                       str(fd)],
                      pass_fds=[fd], **how)
        self.assertEqual(result.rc, 0, result)
        return json.loads(result.out)

    def refused(self, said):
        self.assertEqual([way for way, what in said.items() if what == "spoke"], [], said)
        self.assertGreaterEqual(len(said), 10, said)

    def test_outside_a_run_every_way_leads_there(self):
        said = self.attempts(guardtest.unconfined)
        self.assertEqual({way for way, what in said.items() if what != "spoke"}, IN_VAIN, said)

    def test_a_run_has_no_way(self):
        def door(argv, **how):
            return self.guard_run(argv, "--allow-write", self.ws, **how)
        self.refused(self.attempts(door))

    def test_a_run_that_is_granted_all_but_guardds_folders_has_no_way(self):
        def door(argv, **how):
            return self.guard_run(argv, "--allow-read", "/", **how)
        self.refused(self.attempts(door))

    def test_a_one_shot_has_no_way(self):
        def door(argv, **how):
            return guardtest.oneshot(argv, "--allow-read", "/", "--allow-write", self.ws, **how)
        self.refused(self.attempts(door, env={"GUARDD_SOCKET": self.guardd.socket}))

    def test_a_run_without_a_guard_reaches_the_socket_and_is_refused(self):
        def door(argv, **how):
            return self.guard_run(argv, "--unsafe-no-guard", **how)
        said = self.attempts(door)
        self.refused(said)
        reached = {way for way, what in said.items() if what == "closed"}
        self.assertLessEqual({"path", "link", "folder descriptor", "relative", "not blocking",
                              "orphan"}, reached, said)
        self.assertIn("a process of a run may not call guardd", self.guardd.log())

    def test_a_run_of_another_guardd_is_refused_too(self):
        other = self.start_daemon()

        def door(argv, **how):
            return other.run(argv, "--unsafe-no-guard", **how)
        said = self.attempts(door)
        self.refused(said)
        self.assertEqual(said["path"], "closed")

    def test_guardctl_in_a_run_without_a_guard_says_that_it_was_refused(self):
        result = self.guard_run(
            ["sh", "-c", 'GUARDD_SOCKET="$0" exec "$@"', self.guardd.socket,
             guardtest.BIN / "guardctl", "run", "--", "echo", "ran"], "--unsafe-no-guard")
        self.assertRan(result, guardtest.GUARD_FAILED, b"")
        self.assertIn("closed the connection", result.err)

    def test_a_caller_that_has_ended_is_refused(self):
        """Whoever connects and leaves the connection to another is not there to be asked."""
        peer = socket.socket(socket.AF_UNIX)
        self.addCleanup(peer.close)
        os.kill(self.guardd.pid, signal.SIGSTOP)
        try:
            child = os.fork()
            if child == 0:
                peer.connect(str(self.guardd.socket))
                os._exit(0)
            os.waitpid(child, 0)
        finally:
            os.kill(self.guardd.pid, signal.SIGCONT)
        self.assertEqual(peer.recv(1), b"")
        self.assertIn(f"pid {child} was refused: its process has ended", self.guardd.log())

    def test_a_flood_of_refusals_does_not_fill_the_log(self):
        daemon = self.start_daemon()
        flood = ("import socket, sys\n"
                 "for _ in range(500):\n"
                 "    peer = socket.socket(socket.AF_UNIX)\n"
                 "    peer.connect(sys.argv[1])\n"
                 "    assert peer.recv(1) == b''\n")
        result = daemon.run([guardtest.PYTHON, "-c", flood, daemon.socket], "--unsafe-no-guard")
        self.assertRan(result)
        self.assertLess(daemon.log().count("was refused"), 30)

    def test_a_program_whose_parent_is_gone_may_call(self):
        """`nohup agent &` and a closed terminal. It polls: being adopted sends no event."""
        script = ("import os, socket, sys, time\n"
                  "if os.fork(): os._exit(0)\n"
                  "while os.getppid() == int(sys.argv[2]): time.sleep(0.001)\n"
                  "peer = socket.socket(socket.AF_UNIX)\n"
                  "peer.connect(sys.argv[1])\n"
                  "print('spoke' if peer.recv(1) else 'closed')\n")
        with guardtest.Popen(["/bin/sh", "-c", 'exec "$0" -c "$1" "$2" $$', guardtest.PYTHON,
                              script, self.guardd.socket], stdout=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.read(), b"spoke\n")


class Grants(GrpcTestCase):
    """No grant covers guardd's folders, by whatever path it names them."""

    def spellings(self):
        folder = self.guardd.socket.parent
        link = self.work / "link"
        link.symlink_to(folder)
        upwards = os.path.relpath("/", self.ws)
        cwd = subprocess.Popen(["/usr/bin/sleep", "120"], cwd=folder)
        self.addCleanup(cwd.wait)
        self.addCleanup(cwd.kill)
        held = os.open(folder, os.O_PATH)
        self.addCleanup(os.close, held)
        yield from (folder, link, f"{folder}/.", f"//{folder}//", f"{self.ws}/{upwards}{folder}",
                    f"/proc/self/root{folder}", f"/proc/{os.getpid()}/root{folder}",
                    f"/proc/{cwd.pid}/cwd", f"/proc/{os.getpid()}/fd/{held}",
                    f"{folder}/guardd.lock", f"/proc/{cwd.pid}/cwd/guardd.lock")

    def test_inside(self):
        spellings = list(self.spellings())
        for access in ("read", "write"):
            for path in spellings:
                with self.subTest(access=access, path=path), \
                        self.assertRefused("INVALID_ARGUMENT", f"allow_{access}", "guardd's own"):
                    self.client.run("true", **{access: [path]})

    def test_writing_above(self):
        above = self.guardd.socket.parents[1]
        for path in (above, f"/proc/self/root{above}", "/"):
            with self.subTest(path), \
                    self.assertRefused("INVALID_ARGUMENT", "allow_write", "guardd's own"):
                self.client.run("true", write=[path])

    def test_reading_above_leaves_them_out(self):
        lock = self.guardd.socket.parent / "guardd.lock"
        beside = self.guardd.socket.parents[1] / f"{self.marker}-beside"
        beside.write_text("beside it")
        self.addCleanup(beside.unlink)
        outcome = self.client.run("sh", "-c", 'cat "$0"; cat "$1"', str(beside), str(lock),
                                  read=[self.guardd.socket.parents[1]])
        self.assertEqual(outcome.stdout, b"beside it")
        self.assertIn(b"Permission denied", outcome.stderr)
        self.assertEqual(guardtest.unconfined(["cat", lock]).rc, 0)

    def test_a_link_that_is_turned_towards_them_after_it_was_granted_is_no_way(self):
        """A grant is a folder that was opened once, not a name."""
        link = self.work / "link"
        link.symlink_to(self.ro)
        lock = self.guardd.socket.parent / "guardd.lock"
        call = self.client.call(request(
            "sh", "-c", 'while [ ! -e "$0/turned" ]; do sleep 0.01; done; cat "$1/guardd.lock"',
            str(self.ws), str(link), read=[link, self.ws]))
        first(call, "started")
        link.unlink()
        link.symlink_to(lock.parent)
        (self.ws / "turned").touch()
        output = b"".join(event.output.data for event in call
                          if event.WhichOneof("event") == "output")
        self.assertIn(b"Permission denied", output)


if __name__ == "__main__":
    guardtest.main()
