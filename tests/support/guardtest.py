"""What the integration and escape tests are written with.

A test file starts with

    import pathlib, sys
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
    import guardtest

and ends with `guardtest.main()`. `./dev test` runs it through ctest; by hand it is
`python3 tests/integration/test_x.py [-v] [Class.test]`, over build/dev unless GUARD_BIN_DIR says
otherwise. Everything here works as an ordinary user and leaves no process and no file behind.
"""
import concurrent.futures
import contextlib
import ctypes
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ.get("GUARD_SOURCE_DIR") or pathlib.Path(__file__).resolve().parents[2])
BIN = pathlib.Path(os.environ.get("GUARD_BIN_DIR") or SOURCE / "build/dev/bin")
PROBES = pathlib.Path(os.environ.get("GUARD_PROBE_DIR") or BIN.parent / "probes")
PYTHON = "/usr/bin/python3"

# Root's temporary files do not lie in a folder of the ordinary user's, which the tests of the
# other kind use: root without its capabilities cannot enter that one.
if os.geteuid() == 0 and os.stat(tempfile.gettempdir()).st_uid != 0:
    tempfile.tempdir = "/var/tmp"

# What a sanitizer's allocator may keep of what was freed, in bytes.
SANITIZER_KEEPS = 128 << 20 if os.environ.get("GUARD_SANITIZED") else 0

# How many times longer than on an idle machine things may take here: sanitizers, emulated processors.
SLOW = float(os.environ.get("GUARD_SLOW") or 1)

# Exit codes of run, shell, attach, wait and xenarch-guard that are not the program's own.
TIMED_OUT, GUARD_FAILED, NOT_EXECUTABLE, NOT_FOUND = 124, 125, 126, 127

# Kept in a test's environment; the rest of it is the same on every machine.
_KEPT = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS", "GUARD_LANDLOCK_ABI_MAX")


def probe(name):
    """The path of the compiled tests/*/probes/NAME.c."""
    return str(PROBES / name)


# --- running things -----------------------------------------------------------------------------


class Result:
    """How a command ended: rc as a shell shows it (128+n for a signal), output as bytes."""

    def __init__(self, argv, returncode, stdout, stderr, seconds):
        self.argv = argv
        self.signal = -returncode if returncode < 0 else 0
        self.rc = 128 - returncode if returncode < 0 else returncode
        self.stdout = stdout
        self.stderr = stderr
        self.seconds = seconds

    @property
    def out(self):
        return self.stdout.decode(errors="backslashreplace")

    @property
    def err(self):
        return self.stderr.decode(errors="backslashreplace")

    def __repr__(self):
        return (f"{self.argv}\n  rc {self.rc} after {self.seconds:.2f} s"
                f"\n  stdout: {self.out}\n  stderr: {self.err}")


def environment(**changes):
    """The environment that a test's commands get; a value of None removes the name."""
    env = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": os.path.expanduser("~"),
           "TMPDIR": tempfile.gettempdir()}
    env.update({name: os.environ[name] for name in _KEPT if name in os.environ})
    for name, value in changes.items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = str(value)
    return env


class Popen(subprocess.Popen):
    """A process that an exception in its `with` block kills; without that the block's end would
    wait for it for ever and the exception would never be seen."""

    def __exit__(self, kind, *rest):
        if kind is not None:
            self.kill()
        super().__exit__(kind, *rest)

    def wait(self, timeout=None):
        return super().wait(timeout and timeout * SLOW)


def run(argv, input=None, timeout=60, env=None, cwd=None, pass_fds=(), **popen):
    """Runs argv to its end. `env` is a dict of changes to environment(). stdin is empty unless
    `input` (bytes) is given. Past `timeout` (seconds, times SLOW) its process group is killed and the test fails."""
    argv = [os.fspath(argument) for argument in argv]
    timeout *= SLOW
    started = time.monotonic()
    popen.setdefault("process_group", 0)
    popen.setdefault("stdin", subprocess.DEVNULL if input is None else subprocess.PIPE)
    popen.setdefault("stdout", subprocess.PIPE)
    popen.setdefault("stderr", subprocess.PIPE)
    with subprocess.Popen(argv, env=environment(**(env or {})), cwd=cwd, pass_fds=pass_fds,
                          **popen) as process:
        try:
            stdout, stderr = process.communicate(input, timeout)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=5)
            raise AssertionError(f"still running after {timeout} s: {argv}") from None
    return Result(argv, process.returncode, stdout or b"", stderr or b"", time.monotonic() - started)


def at_once(count, what):
    """The results of what(0) to what(count - 1), called by as many threads at once."""
    with concurrent.futures.ThreadPoolExecutor(count) as threads:
        return list(threads.map(what, range(count)))


def unconfined(argv, **how):
    """The command without any sandbox: what shows that a denial is the sandbox's doing."""
    return run(argv, **how)


def oneshot(argv, *flags, **how):
    """The command under xenarch-guard."""
    return run([BIN / "xenarch-guard", *flags, "--", *argv], **how)


# Python of a program under test: attempt(what) is "ok", or the name of the errno that it met.
ATTEMPT = """\
import errno
def attempt(what):
    try:
        what()
        return "ok"
    except OSError as error:
        return errno.errorcode[error.errno]
"""

# --- processes ----------------------------------------------------------------------------------


def _stat(pid):
    """The fields of /proc/PID/stat from the state on, or None when there is no such process."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return text[text.rindex(b")") + 2:].split()


def alive(pid):
    """Whether the process can still run; a zombie cannot."""
    stat = _stat(pid)
    return stat is not None and stat[0] not in (b"Z", b"X", b"x")


def all_pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def resident(pid):
    """Bytes of memory that the process has in use (RSS)."""
    pages = pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def comm(pid):
    """The process' name, or None when there is no such process."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return pathlib.Path(f"/proc/{pid}/comm").read_text().rstrip("\n")
    return None


def open_files(pid):
    """What the process holds open; what it closes meanwhile may be missing."""
    held = set()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            held.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
    return held


def held(pid):
    """What a daemon holds: (descriptors, threads, processes below it)."""
    return (len(os.listdir(f"/proc/{pid}/fd")), len(os.listdir(f"/proc/{pid}/task")),
            len(descendants(pid)))


def descendants(pid):
    """The living processes whose chain of parents reaches pid."""
    parents = {}
    for each in all_pids():
        stat = _stat(each)
        if stat is not None:
            parents[each] = int(stat[1])
    found, wave = [], {pid}
    while wave:
        wave = {each for each, parent in parents.items() if parent in wave}
        found += sorted(wave)
    return [each for each in found if alive(each)]


def _matching(file, marker):
    marker = os.fsencode(marker)
    found = []
    for pid in all_pids():
        if pid == os.getpid():
            continue
        with contextlib.suppress(FileNotFoundError, ProcessLookupError, PermissionError):
            if marker in pathlib.Path(f"/proc/{pid}/{file}").read_bytes() and alive(pid):
                found.append(pid)
    return found


def processes_matching(marker):
    """The living processes with `marker` in their arguments, other than this one."""
    return _matching("cmdline", marker)


def processes_with_env_marker(marker):
    """The living processes, of those we may look into, with `marker` in their environment."""
    return _matching("environ", marker)


def wait_until(predicate, seconds=5.0):
    """Polls until predicate() is true and returns its value; false when the time (times SLOW) is up.
    For what sends no event: the end of a process that is not our child, a line in a log."""
    deadline = time.monotonic() + seconds * SLOW
    while True:
        value = predicate()
        if value or time.monotonic() >= deadline:
            return value
        time.sleep(0.005)


# --- the kernel ---------------------------------------------------------------------------------


def landlock_abi():
    """The running kernel's Landlock ABI, 0 when it has none."""
    libc = ctypes.CDLL(None, use_errno=True)
    return max(libc.syscall(444, None, ctypes.c_size_t(0), ctypes.c_uint32(1)), 0)


def needs_landlock_abi(abi, what):
    """Decorator: skips, with the ABI named, on a kernel that cannot do `what`."""
    return unittest.skipIf(landlock_abi() < abi, f"kernel: {what} needs Landlock ABI {abi}")


# --- guardd -------------------------------------------------------------------------------------


class Daemon:
    """A guardd of our own, on a socket in `folder` (made, 0700). Listens when made; a context
    manager that stops it. `under`: the command that executes it, if any."""

    def __init__(self, folder, *flags, env=None, under=(), **popen):
        folder = pathlib.Path(folder)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.socket = folder / "guardd.sock"
        self.log_path = folder / "guardd.log"
        reader, writer = os.pipe()
        try:
            with open(self.log_path, "ab") as log:
                self.process = Popen(
                    [*under, BIN / "guardd", "--socket", self.socket, "--ready-fd", str(writer),
                     *flags],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[writer],
                    env=environment(**(env or {})), process_group=0, **popen)
            os.close(writer)
            writer = -1
            self._await_ready(reader)
        finally:
            os.close(reader)
            if writer >= 0:
                os.close(writer)

    def _await_ready(self, reader, seconds=20):
        said, deadline = b"", time.monotonic() + seconds * SLOW
        while not said.endswith(b"\n"):
            left = max(deadline - time.monotonic(), 0)
            chunk = os.read(reader, 64) if select.select([reader], [], [], left)[0] else b""
            if not chunk:
                self.kill()
                raise AssertionError(f"guardd did not get ready; its log:\n{self.log()}")
            said += chunk
        if said != b"ready\n":
            self.kill()
            raise AssertionError(f"guardd said {said!r} instead of ready")

    @property
    def pid(self):
        return self.process.pid

    def log(self):
        return self.log_path.read_text(errors="backslashreplace")

    def guardctl(self, *arguments, env=None, **how):
        """`guardctl ARGUMENTS` as a client of this daemon."""
        return run([BIN / "guardctl", *arguments],
                   env={"GUARDD_SOCKET": self.socket, **(env or {})}, **how)

    def run(self, argv, *flags, **how):
        """The command under `guardctl run`."""
        return self.guardctl("run", *flags, "--", *argv, **how)

    def stop(self, seconds=15):
        """SIGTERM, and its exit status; what does not end in time is killed and fails the test."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.kill()
                raise AssertionError(
                    f"guardd ignored SIGTERM for {seconds} s; its log:\n{self.log()}") from None
        return self.process.returncode

    def kill(self):
        """kill -9, as a crash would look to everybody else."""
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


# --- test cases ---------------------------------------------------------------------------------


def _remove_tree(path):
    """Also what a test made unreadable."""
    for folder, _, _ in os.walk(path):
        with contextlib.suppress(OSError):
            os.chmod(folder, 0o700)
    shutil.rmtree(path, ignore_errors=True)


class TestCase(unittest.TestCase):
    """self.work is a fresh folder with ws/ (to be granted for writing), ro/ (for reading, with a
    file in it) and out/ (never granted, with a secret in it). Removed after the test."""

    SECRET = b"the secret outside\n"

    def setUp(self):
        super().setUp()
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="guardtest-")).resolve()
        self.addCleanup(_remove_tree, self.work)
        self.ws, self.ro, self.out = self.work / "ws", self.work / "ro", self.work / "out"
        for folder in (self.ws, self.ro, self.out):
            folder.mkdir()
        (self.ro / "data").write_bytes(b"to be read\n")
        self.secret = self.out / "secret"
        self.secret.write_bytes(self.SECRET)
        # Unique to the test: put it into an argument or --env to find its processes again.
        self.marker = self.work.name

    def sleeper(self, seconds=120):
        """A process of ours outside any sandbox, which has to survive the test."""
        process = subprocess.Popen(["/usr/bin/sleep", str(seconds)], process_group=0)

        def end():
            process.kill()
            process.wait()

        self.addCleanup(end)
        return process

    def start_daemon(self, *flags, env=None, under=()):
        """A guardd for this test alone."""
        daemon = Daemon(self.work / "run", *flags, env=env, under=under)
        self.addCleanup(daemon.stop)
        return daemon

    def assertTook(self, seconds, limit):
        """Bounds a time that people wait for; `limit` is meant for an idle machine."""
        self.assertLess(seconds, limit * SLOW)

    def assertGrewLess(self, grown, limit):
        self.assertLess(grown, limit + SANITIZER_KEEPS)

    def assertRan(self, result, rc=0, stdout=None):
        self.assertEqual(result.rc, rc, result)
        if stdout is not None:
            self.assertEqual(result.stdout, stdout, result)


class DaemonTestCase(TestCase):
    """self.guardd is one guardd for the whole class; guard_run() runs a command through it."""

    DAEMON_FLAGS = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.mkdtemp(prefix="guardd-")
        cls.addClassCleanup(_remove_tree, folder)
        cls.guardd = Daemon(folder, *cls.DAEMON_FLAGS)
        cls.addClassCleanup(cls.guardd.stop)

    def guard_run(self, argv, *flags, **how):
        return self.guardd.run(argv, *flags, **how)


# A skip is fine on a kernel that lacks the feature. Any other one, where GUARD_SKIP_IS_FAILURE is
# set (CI), hides that nothing was tested.
_ALLOWED_SKIP = "kernel:"


def main():
    """Runs the file's tests. Exit status: 0 passed, 1 failed or nothing to run, 77 all skipped."""
    result = unittest.main(exit=False).result
    skipped = len(result.skipped)
    if os.environ.get("GUARD_SKIP_IS_FAILURE"):
        hidden = [(test, why) for test, why in result.skipped if not why.startswith(_ALLOWED_SKIP)]
        for test, why in hidden:
            print(f"skipped, which is a failure here: {test}: {why}", file=sys.stderr)
        if hidden:
            sys.exit(1)
    if not result.wasSuccessful() or (result.testsRun == 0 and skipped == 0):
        sys.exit(1)
    sys.exit(77 if result.testsRun == skipped else 0)
