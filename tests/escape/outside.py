"""The world outside the sandbox, for attacks to reach at, and what became of it.

An Outside is a folder with ws/ (granted for writing), ro/ (granted for reading) and out/ (not
granted), services that listen, a process of the same user, objects of the kernel without a path. It
keeps no opinion: `effects()` says what is different since `reset()`, by name:

    out/victim content        a file's bytes        (also ro/...)
    out/victim attributes     its mode, owner, times, links, extended attributes or flags
    out/new appeared          a file that was not there; "vanished" the other way round
    ws set-user-ID            a file with such a bit in the workspace; "ws device", "ws core"
    message at udp            the attack's message came in at that service
    victim got SIGURG         ... and so on for what happened to the process
    victim nice               ... limits, affinity, scheduler, io priority, oom score, memory, tracer
"""
import array
import contextlib
import ctypes
import fcntl
import os
import pathlib
import secrets
import shutil
import signal
import socket
import stat
import struct
import subprocess
import tempfile
import threading

import guardtest

LONG_AGO = 1_000_000_000
IPPROTO_UDPLITE = 136
FS_IOC_GETFLAGS = 0x80086601

_libc = ctypes.CDLL(None, use_errno=True)


class Outside:
    def __init__(self):
        self.token = "token-" + secrets.token_hex(8)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="escape-", dir="/var/tmp"))
        self._undo = contextlib.ExitStack()
        self._undo.callback(guardtest._remove_tree, self.folder)
        try:
            self._make_files()
            self.services = self._undo.enter_context(Services(self))
            self.victim = self._undo.enter_context(Victim(self))
            self.objects = self._undo.enter_context(KernelObjects(self.token))
            self._second_terminal()
        except BaseException:
            self._undo.close()
            raise

    def close(self):
        self._undo.close()

    def _make_files(self):
        # A run must get through to its grants, and a set-user-ID test may run as somebody else.
        os.chmod(self.folder, 0o755)
        self.ws, self.ro, self.out = (self.folder / name for name in ("ws", "ro", "out"))
        for folder in (self.ws, self.ro, self.out):
            folder.mkdir()
        self.bin = self.ro / "bin"
        shutil.copytree(guardtest.PROBES, self.bin)
        self.secret = self.out / "secret"
        self.secret.write_text(self.token + "\n" + "x" * (1000 + secrets.randbelow(9000)))
        os.setxattr(self.secret, "user.secret", self.token.encode())
        (self.out / "link").symlink_to(self.token)
        (self.out / "listing").mkdir()
        (self.out / "listing" / self.token).touch()
        shutil.copy("/usr/bin/true", self.out / "tool")
        self.temporary = pathlib.Path(f"/tmp/escape-{self.token}")
        self.temporary.write_text(self.token + "\n")
        self.shared_memory = pathlib.Path(f"/dev/shm/escape-{self.token}")
        self.shared_memory.write_text(self.token + "\n")
        for path in (self.temporary, self.shared_memory):
            self._undo.callback(path.unlink, missing_ok=True)

    def _second_terminal(self):
        self.terminal, slave = os.openpty()
        self.terminal_name = os.ttyname(slave)
        os.set_blocking(self.terminal, False)
        for fd in (self.terminal, slave):
            self._undo.callback(os.close, fd)

    def names(self):
        """What an attack may name as {name}."""
        return {
            "ws": self.ws, "ro": self.ro, "out": self.out, "bin": self.bin, "secret": self.secret,
            "folder": self.folder, "token": self.token, "message": self.message,
            "tmp": self.temporary, "shm": self.shared_memory, "terminal": self.terminal_name,
            **self.services.names(), **self.victim.names(), **self.objects.names()}

    def reset(self, message):
        """Everything as it was in the beginning; what is said to a service from now on has to be
        `message` to count."""
        self.message = message
        for folder in (self.out, self.ro):
            for name in ("victim", "folder", "empty", "new"):
                _remove(folder / name)
            victim = folder / "victim"
            victim.write_text("original\n")
            os.chmod(victim, 0o644 if folder == self.ro else 0o600)
            os.setxattr(victim, "user.keep", b"1")
            os.utime(victim, (LONG_AGO, LONG_AGO))
            (folder / "folder").mkdir()
            (folder / "folder" / "file").write_text("original\n")
            (folder / "empty").mkdir()
        for path in (*self.ws.iterdir(), *(pathlib.Path(f"{made}-new")
                                           for made in (self.temporary, self.shared_memory))):
            _remove(path)
        (self.ws / "own").write_text("own\n")
        self.services.drain()
        self.victim.reset()
        self.objects.reset()
        with contextlib.suppress(BlockingIOError):
            while os.read(self.terminal, 4096):
                pass
        self._before = self._files()

    def _files(self):
        found = {}
        for top in (self.out, self.ro):
            for folder, folders, files in os.walk(top):
                if pathlib.Path(folder) == self.ro:
                    folders.remove("bin")
                for name in folders + files:
                    path = pathlib.Path(folder) / name
                    found[str(path.relative_to(self.folder))] = _state_of(path)
        for path in (*pathlib.Path("/dev/shm").glob("*" + self.token + "*"),
                     *pathlib.Path("/tmp").glob("*" + self.token + "*")):
            found[str(path)] = _state_of(path)
        return found

    def effects(self):
        found = set()
        after = self._files()
        for name in sorted(set(self._before) | set(after)):
            before, now = self._before.get(name), after.get(name)
            if before is None:
                found.add(f"{name} appeared")
            elif now is None:
                found.add(f"{name} vanished")
            else:
                if now["content"] not in (None, before["content"]):
                    found.add(f"{name} content")
                elif before != now:
                    found.add(f"{name} attributes")
        found |= self._workspace()
        found |= {f"message at {name}" for name, text in self.services.drain()
                  if self.message in text}
        found |= self.victim.effects()
        found |= self.objects.effects()
        with contextlib.suppress(BlockingIOError):
            if b"attacked" in os.read(self.terminal, 4096):
                found.add("written to the other terminal")
        return {effect.replace(self.token, "TOKEN") for effect in found}

    def _workspace(self):
        found = set()
        for folder, folders, files in os.walk(self.ws):
            for name in folders + files:
                status = os.lstat(os.path.join(folder, name))
                if status.st_mode & (stat.S_ISUID | stat.S_ISGID):
                    found.add("ws set-user-ID")
                if stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode):
                    found.add("ws device")
                if name.startswith("core"):
                    found.add("ws core")
                if name == ".mcp.json":
                    found.add("ws .mcp.json")
        return found


def _remove(path):
    """Whatever is there, if anything."""
    if path.is_dir() and not path.is_symlink():
        path.chmod(0o700)
        guardtest._remove_tree(path)
    else:
        path.unlink(missing_ok=True)


def _state_of(path):
    """Everything about a file but when it was last read."""
    status = os.lstat(path)
    state = {"status": (status.st_mode, status.st_uid, status.st_gid, status.st_nlink,
                        status.st_ino, status.st_mtime_ns, status.st_ctime_ns), "content": None}
    if stat.S_ISREG(status.st_mode):
        # The mode may be what was attacked, and the owner may still look.
        with contextlib.suppress(OSError):
            with open(path, "rb") as file:
                state["content"] = file.read()
                flags = bytearray(8)
                with contextlib.suppress(OSError):
                    fcntl.ioctl(file, FS_IOC_GETFLAGS, flags)
                state["flags"] = bytes(flags)
    elif stat.S_ISDIR(status.st_mode):
        # Its times follow from what is in it, which is looked at by itself.
        state["status"] = state["status"][:3]
    return state


class Services:
    """Sockets that listen outside. No threads but one: what was sent waits in the kernel."""

    def __init__(self, outside):
        self._outside = outside
        self._sockets = {}
        self._undo = contextlib.ExitStack()

    def __enter__(self):
        try:
            self._listen()
        except BaseException:
            self._undo.close()
            raise
        return self

    def __exit__(self, *_):
        self._undo.close()

    def _add(self, name, family, kind, address, protocol=0):
        listener = self._undo.enter_context(socket.socket(family, kind, protocol))
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.setblocking(False)
        if kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
            listener.listen(4096)  # one attack connects that often
        self._sockets[name] = listener
        return listener

    def _listen(self):
        unix, out, token = socket.AF_UNIX, self._outside.out, self._outside.token
        self._add("stream", unix, socket.SOCK_STREAM, str(out / "stream.sock"))
        self._add("seqpacket", unix, socket.SOCK_SEQPACKET, str(out / "seqpacket.sock"))
        self._add("dgram", unix, socket.SOCK_DGRAM, str(out / "dgram.sock"))
        self._add("abstract_stream", unix, socket.SOCK_STREAM, f"\0escape-{token}-stream")
        self._add("abstract_dgram", unix, socket.SOCK_DGRAM, f"\0escape-{token}-dgram")
        temporary = f"/tmp/escape-{token}.sock"
        self._add("tmp_stream", unix, socket.SOCK_STREAM, temporary)
        self._undo.callback(os.unlink, temporary)
        stream, dgram = socket.SOCK_STREAM, socket.SOCK_DGRAM
        self._add("tcp", socket.AF_INET, stream, ("127.0.0.1", 0))
        self._add("tcp6", socket.AF_INET6, stream, ("::1", 0))
        granted = self._add("granted_tcp", socket.AF_INET, stream, ("127.0.0.1", 0))
        self._add("other_host_tcp", socket.AF_INET, stream, ("127.0.0.2", granted.getsockname()[1]))
        self._add("udp", socket.AF_INET, dgram, ("127.0.0.1", 0))
        self._add("udp6", socket.AF_INET6, dgram, ("::1", 0))
        self._add("udplite", socket.AF_INET, dgram, ("127.0.0.1", 0), IPPROTO_UDPLITE)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.bindable = probe.getsockname()[1]
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.unbindable = probe.getsockname()[1]
        self._hand_out_descriptors()
        self._start_servers()

    def _start_servers(self):
        """Programs that serve their user on a socket, as far as they are installed."""
        out, token = self._outside.out, self._outside.token
        env = guardtest.environment(HOME=out)
        if shutil.which("tmux"):
            tmux = ["tmux", "-f", "/dev/null", "-S", out / "tmux.sock"]
            subprocess.run([*tmux, "new-session", "-d", "sleep 600"], env=env, check=True)
            self._undo.callback(subprocess.run, [*tmux, "kill-server"], env=env)
        if shutil.which("ssh-agent"):
            agent = subprocess.Popen(["ssh-agent", "-D", "-a", out / "agent.sock"], env=env,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            self._undo.callback(agent.wait)
            self._undo.callback(agent.kill)
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", token,
                            "-f", out / "key"], env=env, check=True)
            guardtest.wait_until((out / "agent.sock").exists)
            env["SSH_AUTH_SOCK"] = out / "agent.sock"
            subprocess.run(["ssh-add", "-q", out / "key"], env=env, check=True)

    def _hand_out_descriptors(self):
        """A service that sends whoever connects an open descriptor of the secret."""
        listener = self._undo.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(str(self._outside.out / "descriptors.sock"))
        listener.listen(8)
        secret = os.open(self._outside.secret, os.O_RDONLY)
        self._undo.callback(os.close, secret)

        def serve():
            while True:
                try:
                    peer, _ = listener.accept()
                except OSError:
                    return
                with peer, contextlib.suppress(OSError):
                    os.lseek(secret, 0, os.SEEK_SET)
                    peer.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                                           array.array("i", [secret]))])

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        self._undo.callback(thread.join)
        self._undo.callback(listener.shutdown, socket.SHUT_RDWR)

    def names(self):
        token = self._outside.token
        ports = {name: self._sockets[name].getsockname()[1]
                 for name in ("tcp", "tcp6", "granted_tcp", "udp", "udp6", "udplite")}
        return {**ports, "bindable": self.bindable, "unbindable": self.unbindable,
                "abstract_stream": f"@escape-{token}-stream",
                "abstract_dgram": f"@escape-{token}-dgram",
                "tmp_stream": f"/tmp/escape-{token}.sock"}

    def drain(self):
        """(service, text) of everything that came in. Loopback has delivered what was sent by the
        time that send(2) returned, so nothing has to be waited for."""
        found = []
        for name, listener in self._sockets.items():
            with contextlib.suppress(BlockingIOError):
                while True:
                    if listener.type == socket.SOCK_DGRAM:
                        found.append((name, _text(listener.recv(4096))))
                        continue
                    peer, _ = listener.accept()
                    with peer:
                        peer.setblocking(False)
                        with contextlib.suppress(BlockingIOError, ConnectionError):
                            found.append((name, _text(peer.recv(4096))))
        return found


def _text(data):
    return data.decode(errors="backslashreplace")


class Victim:
    """A process of the same user, started anew when something was done to it."""

    BARRIER = signal.SIGRTMAX  # signalfd hands out the lowest pending signal first

    def __init__(self, outside):
        self._outside = outside
        self.process = None

    def __enter__(self):
        self._start()
        return self

    def __exit__(self, *_):
        self._stop()

    def _start(self):
        token = self._outside.token
        self.process = subprocess.Popen(
            [self._outside.bin / "victim", "wait", token, self._outside.secret],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0, text=True, bufsize=1,
            env={"SECRET": token})
        ready, self.memory, self.descriptor = self.process.stdout.readline().split()
        assert ready == "ready", ready
        self.pid = self.process.pid
        self._before = self._state()

    def _stop(self):
        with self.process:
            self.process.kill()

    def names(self):
        return {"victim": self.pid, "victim_memory": self.memory, "victim_fd": self.descriptor}

    def reset(self):
        if self.effects():
            self._stop()
            self._start()

    def _state(self):
        proc = pathlib.Path(f"/proc/{self.pid}")
        status = dict(line.split(":\t", 1) for line in (proc / "status").read_text().splitlines()
                      if ":\t" in line)
        return {"nice": os.getpriority(os.PRIO_PROCESS, self.pid),
                "scheduler": os.sched_getscheduler(self.pid),
                "affinity": os.sched_getaffinity(self.pid),
                "limits": (proc / "limits").read_text(),
                "io priority": _libc.syscall(252, 1, self.pid),  # ioprio_get
                "oom score": (proc / "oom_score_adj").read_text(),
                "tracer": status["TracerPid"].strip()}

    def effects(self):
        found = set()
        os.kill(self.pid, signal.SIGCONT)  # blocked there, and wakes what was left stopped
        os.kill(self.pid, self.BARRIER)
        while True:
            line = self.process.stdout.readline()
            if not line:
                return {"victim died"}
            name = signal.Signals(int(line.split()[1]))
            if name == self.BARRIER:
                break
            if name != signal.SIGCONT:
                found.add(f"victim got {name.name}")
        self.process.stdin.write("secret\n")
        if self.process.stdout.readline() != f"secret {self._outside.token}\n":
            found.add("victim memory")
        now = self._state()
        return found | {f"victim {key}" for key in now if now[key] != self._before[key]}


class KernelObjects:
    """System V objects, a POSIX message queue and a key of the user, each with the token in it."""

    IPC_CREAT, IPC_EXCL, IPC_RMID, IPC_NOWAIT, GETVAL, SETVAL = 0o1000, 0o2000, 0, 0o4000, 12, 16
    USER_KEYRING = -4
    SYS_ADD_KEY, SYS_KEYCTL = 248, 250
    KEYCTL_UNLINK, KEYCTL_READ = 9, 11

    def __init__(self, token):
        self._token = token
        self._secret = token.encode()
        self._queue = f"/escape-{token}"
        self._made = False

    def __enter__(self):
        self._make()
        return self

    def __exit__(self, *_):
        self._remove()

    @staticmethod
    def _check(value, what):
        if value == -1:
            raise OSError(ctypes.get_errno(), what)
        return value

    def _make(self):
        create = self.IPC_CREAT | self.IPC_EXCL | 0o600
        self.shm_key = secrets.randbelow(1 << 30) + 1
        self.shm = self._check(_libc.shmget(self.shm_key, 4096, create), "shmget")
        _libc.shmat.restype = ctypes.c_void_p
        memory = _libc.shmat(self.shm, None, 0)
        ctypes.memmove(memory, self._secret + b"\0", len(self._secret) + 1)
        _libc.shmdt(ctypes.c_void_p(memory))
        self.msg = self._check(_libc.msgget(0, create), "msgget")
        message = struct.pack("l", 1) + self._secret
        self._check(_libc.msgsnd(self.msg, message, len(self._secret), 0), "msgsnd")
        self.sem = self._check(_libc.semget(0, 1, create), "semget")
        self._mqueue = self._check(_libc.mq_open(self._queue.encode(), os.O_CREAT | os.O_RDWR,
                                                 0o600, None), "mq_open")
        self._check(_libc.mq_send(self._mqueue, self._secret, len(self._secret), 0), "mq_send")
        self.key = self._check(_libc.syscall(self.SYS_ADD_KEY, b"user", self._token.encode(),
                                             self._secret, len(self._secret), self.USER_KEYRING),
                               "add_key")
        self._made = True

    def _remove(self):
        if not self._made:
            return
        self._made = False
        _libc.shmctl(self.shm, self.IPC_RMID, None)
        _libc.msgctl(self.msg, self.IPC_RMID, None)
        _libc.semctl(self.sem, 0, self.IPC_RMID)
        _libc.mq_close(self._mqueue)
        _libc.mq_unlink(self._queue.encode())
        _libc.syscall(self.SYS_KEYCTL, self.KEYCTL_UNLINK, self.key, self.USER_KEYRING)

    def reset(self):
        if self.effects():
            self._remove()
            self._make()

    def names(self):
        return {"shm_id": self.shm, "shm_key": self.shm_key, "msg_id": self.msg,
                "sem_id": self.sem, "queue": self._queue, "key": self._token}

    def effects(self):
        found = set()
        messages = ctypes.create_string_buffer(256)
        _libc.msgctl(self.msg, 2, messages)  # IPC_STAT; msg_qnum lies behind ipc_perm and 3 times
        if struct.unpack_from("l", messages, 48 + 24 + 8)[0] != 1:
            found.add("queue of messages changed")
        if _libc.semctl(self.sem, 0, self.GETVAL) != 0:
            found.add("semaphore changed")
        again = _libc.mq_open(self._queue.encode(), os.O_RDONLY)
        if again < 0:
            found.add("message queue vanished")
        else:
            attributes = (ctypes.c_long * 8)()
            _libc.mq_getattr(again, attributes)
            if attributes[3] != 1:
                found.add("message queue changed")
            _libc.mq_close(again)
        value = ctypes.create_string_buffer(256)
        length = _libc.syscall(self.SYS_KEYCTL, self.KEYCTL_READ, self.key, value, len(value))
        if value.raw[:max(length, 0)] != self._secret:
            found.add("key changed")
        return found
