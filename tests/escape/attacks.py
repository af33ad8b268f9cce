"""Every attack that the tests make, by name: what is run, what shows that it worked, what refuses it.

docs/THREAT_MODEL.md points here by these names. An attack is stopped (`refused`: the errors that a
probe may then report), or it is known to get through (`open`: why). The tests check both: one that is
listed as open and is not any more fails too, so that what the documents say stays true.
"""
import dataclasses
import socket
import subprocess

import guardtest

ONESHOT, DAEMON = "xenarch-guard", "guardctl run"

# Landlock's ABI with port rules, and the one with a signal scope.
PORTS_ABI, SIGNALS_ABI = 4, 6

# In `refused`: the attempt may look like a success to the program that made it; nothing came of it.
IN_VAIN = "in vain"

# In `refused`: a shell script (an attack that starts no probe) ended with an error of its own.
FAILED = "exit"

# In `effect`: not a change outside, but what the probe says of itself.
DID = "the probe says so"
LEARNT = "the probe prints the token"

# What kill(-1) does, and nothing else does.
EVERYONE = "victim got SIGWINCH"


@dataclasses.dataclass(frozen=True)
class Attack:
    name: str
    argv: str                # split at spaces, then filled in from Outside.names()
    effect: str              # DID, LEARNT or one of Outside.effects(): shows that it worked
    refused: tuple = ()      # names of errors, or IN_VAIN
    open: object = ""        # why it gets through; a dict by door when that differs
    landlock: int = 1        # the ABI from which on it is refused; it gets through below
    needs: str = ""          # what a kernel may lack for it to work unconfined: then a skip
    tool: str = ""           # what has to be installed for it
    who: str = "all"         # "root": refused to an ordinary user by the kernel itself; "user"
    terminal: bool = False   # runs on a terminal of its own
    typing: str = ""         # what a person types there meanwhile
    stdin_null: bool = False
    when_ready: object = None  # called with (outside, words) when the probe prints "ready words"
    leaks: tuple = ()        # descriptors that whoever starts it leaves open: see attack_case.py
    after: object = None     # called with (outside) when it is over: the user goes on working
    timeout: float = 0       # seconds until the run is ended from outside
    survives: bool = False   # detached processes are what is looked for
    ports: tuple = ("connect", "bind")  # which port grants the run has
    doors: tuple = (ONESHOT, DAEMON)

    @property
    def category(self):
        return self.name.split(".")[0]

    def open_in(self, door, abi):
        if abi < PORTS_ABI and (self.category == "net" or "{bindable}" in self.argv):
            return ""  # without port grants there is no socket to do it with
        if abi < self.landlock:
            return f"refused from Landlock ABI {self.landlock} on"
        return self.open.get(door, "") if isinstance(self.open, dict) else self.open

    def refused_at(self, abi):
        """Stand-ins of the filter answer EPERM where an older Landlock knows no such right."""
        return self.refused if abi >= PORTS_ABI else (*self.refused, "EPERM")


ATTACKS = []


def attack(name, argv, effect, refused=(), **more):
    refused = (refused,) if isinstance(refused, str) else tuple(refused)
    ATTACKS.append(Attack(name, argv, effect, refused, **more))


# --- fs: files by path --------------------------------------------------------------------------

for verb, arguments in {
        "read": "{secret}",
        "read_after_chdir": "{out} secret",
        "read_below_dirfd": "{out} secret",
        "read_reopened": "{secret}",
        "read_through_proc_root": "{secret}",
        "read_through_symlink": "{ws}/link {secret}"}.items():
    attack(f"fs.{verb}", f"attack_fs {verb} {arguments}", LEARNT, "EACCES")
attack("fs.read_by_openat2", "attack_fs read_by_openat2 {secret}", LEARNT, ("EACCES", "ENOSYS"))
attack("fs.read_in_tmp", "attack_fs read {tmp}", LEARNT, "EACCES")
attack("fs.read_in_dev_shm", "attack_fs read {shm}", LEARNT, "EACCES")
attack("fs.list", "attack_fs list {out}/listing", LEARNT, "EACCES")
attack("fs.append", "attack_fs append {out}/victim", "out/victim content", "EACCES")
attack("fs.append_read_only", "attack_fs append {ro}/victim", "ro/victim content", "EACCES")
attack("fs.truncate", "attack_fs truncate {out}/victim", "out/victim content", "EACCES")
attack("fs.truncate_by_reading", "attack_fs truncate_by_reading {ro}/victim",
       "ro/victim content", "EACCES")
attack("fs.open_for_nothing", "attack_fs open_for_nothing {out}/victim", DID, "EPERM")
attack("fs.truncate_for_nothing", "attack_fs truncate_for_nothing {ro}/victim",
       "ro/victim content", "EPERM")
for verb in ("create", "create_directory", "create_fifo", "create_symlink", "create_socket_node"):
    attack(f"fs.{verb}", f"attack_fs {verb} {{out}}/new", "out/new appeared", "EACCES")
attack("fs.create_read_only", "attack_fs create {ro}/new", "ro/new appeared", "EACCES")
attack("fs.create_in_dev_shm", "attack_fs create {shm}-new",
       "/dev/shm/escape-TOKEN-new appeared", "EACCES")
attack("fs.create_in_tmp", "attack_fs create {tmp}-new", "/tmp/escape-TOKEN-new appeared", "EACCES")
attack("fs.create_from_tmpfile", "attack_fs create_from_tmpfile {out} {out}/new",
       "out/new appeared", "EACCES")
attack("fs.create_whiteout_node", "attack_fs create_whiteout_node {ws}/new", "ws device", "EACCES")
attack("fs.remove_file", "attack_fs remove_file {out}/victim", "out/victim vanished", "EACCES")
attack("fs.remove_directory", "attack_fs remove_directory {out}/empty", "out/empty vanished",
       "EACCES")
attack("fs.remove_read_only", "attack_fs remove_file {ro}/victim", "ro/victim vanished", "EACCES")
attack("fs.rename_in", "attack_fs rename {out}/victim {ws}/new", "out/victim vanished",
       ("EACCES", "EXDEV"))
attack("fs.rename_out", "attack_fs rename {ws}/own {out}/new", "out/new appeared",
       ("EACCES", "EXDEV"))
attack("fs.rename_exchange", "attack_fs rename_exchange {ws}/own {out}/victim",
       "out/victim content", ("EACCES", "EXDEV"))
attack("fs.rename_whiteout", "attack_fs rename_whiteout {ws}/own {ws}/new", "ws device", "EINVAL")
attack("fs.link_in", "attack_fs link {out}/victim {ws}/new", "out/victim attributes",
       ("EACCES", "EXDEV"))
attack("fs.link_opath", "attack_fs link_opath {secret} {ws}/new", LEARNT, ("EACCES", "EXDEV"))
attack("fs.link_and_write", "attack_fs link_and_write {ro}/victim {ws}/new", "ro/victim content",
       ("EACCES", "EXDEV"))
attack("fs.move_and_write", "attack_fs move_and_write {ro}/folder {ws}/new file",
       "ro/folder vanished", ("EACCES", "EXDEV"))
attack("fs.take_handle", "attack_fs take_handle {secret}", DID, "EPERM")

# --- meta: attributes of files ------------------------------------------------------------------

NO_RIGHT = "Landlock has no right for the attributes of files; programs need these calls"

for verb in ("chmod", "chmod_shut", "fchmodat", "fchmodat2", "chmod_opath", "chown", "lchown",
             "fchownat_opath", "utime", "utimes", "futimesat", "utimensat", "setxattr", "lsetxattr",
             "removexattr", "lremovexattr", "acl_for_everyone"):
    attack(f"meta.{verb}", f"attack_meta {verb} {{out}}/victim", "out/victim attributes",
           open=NO_RIGHT)
attack("meta.chmod_directory", "attack_meta chmod_shut {out}/folder", "out/folder attributes",
       open=NO_RIGHT)
attack("meta.chmod_below_dirfd", "attack_meta chmod_below_dirfd {out} victim",
       "out/victim attributes", open=NO_RIGHT)
attack("meta.chmod_after_chdir", "attack_meta chmod_after_chdir {out} victim",
       "out/victim attributes", open=NO_RIGHT)
attack("meta.chmod_symlink", "attack_meta chmod_symlink {ws}/link {out}/victim",
       "out/victim attributes", open=NO_RIGHT)
for verb in ("fchmod_read_only", "fchown_read_only", "futimens_read_only", "fsetxattr_read_only",
             "fremovexattr_read_only"):
    attack(f"meta.{verb}", f"attack_meta {verb} {{ro}}/victim", "ro/victim attributes",
           open=NO_RIGHT)
attack("meta.lock_exclusively", "attack_meta lock_exclusively {ro}/victim", DID,
       open="flock(2) of what may be read; programs need it")
for verb in ("setxattrat", "removexattrat", "io_uring_setxattr"):
    attack(f"meta.{verb}", f"attack_meta {verb} {{out}}/victim", "out/victim attributes", "ENOSYS",
           needs=f"{verb} is not there")
attack("meta.file_setattr", "attack_meta file_setattr {out}/victim", "out/victim attributes",
       "EPERM", needs="file_setattr needs Linux 6.17")
for verb in ("ioctl_setflags", "ioctl_fssetxattr"):
    attack(f"meta.{verb}", f"attack_meta {verb} {{ro}}/victim", "ro/victim attributes", "EPERM",
           needs="this file system keeps no flags")
attack("meta.read_lease", "attack_meta read_lease {ro}/victim", DID, "EPERM")
attack("meta.directory_notify", "attack_meta directory_notify {ro}/folder", DID, "EPERM",
       needs="no dnotify")
for verb in ("chmod_setuid", "fchmodat_setgid", "fchmod_setuid", "fchmodat2_setuid"):
    attack(f"meta.{verb}", f"attack_meta {verb} {{ws}}/own", "ws set-user-ID", "EPERM")
for verb in ("create_setuid", "create_setuid_creat", "create_setuid_mknod"):
    attack(f"meta.{verb}", f"attack_fs {verb} {{ws}}/new", "ws set-user-ID", "EPERM")
attack("meta.create_setuid_openat2", "attack_fs create_setuid_openat2 {ws}/new", "ws set-user-ID",
       ("EPERM", "ENOSYS"))
attack("meta.create_setuid_tmpfile", "attack_fs create_setuid_tmpfile {ws} {ws}/new",
       "ws set-user-ID", "EPERM", needs="no O_TMPFILE with linkat of an empty path")

# --- leak: learning only ------------------------------------------------------------------------

LOOKUP = "Landlock does not govern looking a path up, only opening what is there"


def make_file(outside, _):
    (outside.out / "folder" / outside.token).touch()


attack("leak.file_size", "attack_leak file_size {secret}", DID, open=LOOKUP)
attack("leak.file_size_statx", "attack_leak file_size_statx {secret}", DID, open=LOOKUP)
attack("leak.file_exists", "attack_leak file_exists {secret}", DID, open=LOOKUP)
attack("leak.file_opath", "attack_leak file_opath {secret}", DID, open=LOOKUP)
attack("leak.link_target", "attack_leak link_target {out}/link", LEARNT, open=LOOKUP)
attack("leak.attribute_value", "attack_leak attribute_value {secret}", LEARNT, open=NO_RIGHT)
attack("leak.free_space", "attack_leak free_space {out}", DID, open=LOOKUP)
attack("leak.watch_by_inotify", "attack_leak watch_by_inotify {out}/folder", LEARNT,
       open="inotify(7) needs no Landlock right; file watchers need it", when_ready=make_file)
attack("leak.watch_by_fanotify", "attack_leak watch_by_fanotify {out}/folder", DID, "EPERM",
       needs="no unprivileged fanotify")
for file in ("cmdline", "environ"):
    attack(f"leak.process_{file}", f"attack_leak process_file {{victim}} {file}", LEARNT, "EACCES")
for file in ("status", "maps"):
    attack(f"leak.process_{file}", f"attack_leak process_file {{victim}} {file}", DID, "EACCES")
attack("leak.process_descriptor", "attack_leak process_file {victim} fd/{victim_fd}", LEARNT,
       "EACCES")
attack("leak.process_cwd", "attack_leak process_file {victim} root{secret}", LEARNT, "EACCES")
attack("leak.process_memory", "attack_leak process_memory {victim} {victim_memory}", LEARNT,
       "EACCES")
attack("leak.process_list", "attack_fs list /proc", DID, "EACCES")
attack("leak.process_limits", "attack_leak process_limits {victim}", DID,
       open="prlimit(2) that only reads is asked for no Landlock right")
attack("leak.process_priority", "attack_leak process_priority {victim}", DID,
       open="getpriority(2) is asked for no Landlock right")
attack("leak.process_exists", "attack_leak process_exists {victim}", DID, "EPERM",
       landlock=SIGNALS_ABI)
attack("leak.environment", "attack_leak environment", LEARNT, IN_VAIN)
attack("leak.kernel_log", "attack_leak kernel_log", DID, "EPERM", who="root")
for file in ("net/tcp", "net/unix", "sysvipc/shm", "keys", "locks", "mounts", "self/environ"):
    attack(f"leak.proc_{file.replace('/', '_')}", f"attack_leak path_readable /proc/{file}", DID,
           ("EACCES", "ENOENT"), needs=f"no /proc/{file}")

# --- unix: services on Unix sockets -------------------------------------------------------------

for verb, service in {"stream": "stream", "seqpacket": "seqpacket", "dgram_connect": "dgram",
                      "dgram_sendto": "dgram", "dgram_sendmsg": "dgram", "raw_sendto": "dgram",
                      "stream_procfd": "stream"}.items():
    attack(f"unix.{verb}", f"attack_unix {verb} {{out}}/{service}.sock {{message}}",
           f"message at {service}", "EPERM")
attack("unix.stream_after_chdir", "attack_unix stream_after_chdir {out} stream.sock {message}",
       "message at stream", "EPERM")
attack("unix.stream_symlink", "attack_unix stream_symlink {ws}/link {out}/stream.sock {message}",
       "message at stream", "EPERM")
attack("unix.stream_in_tmp", "attack_unix stream {tmp_stream} {message}", "message at tmp_stream",
       "EPERM")
attack("unix.abstract_stream", "attack_unix stream {abstract_stream} {message}",
       "message at abstract_stream", "EPERM")
attack("unix.abstract_dgram", "attack_unix dgram_sendto {abstract_dgram} {message}",
       "message at abstract_dgram", "EPERM")
for verb in ("pair_dgram_sendto", "pair_dgram_sendmsg", "pair_dgram_connect", "pair_raw_sendto"):
    attack(f"unix.{verb}", f"attack_unix {verb} {{out}}/dgram.sock {{message}}", "message at dgram",
           "EPROTONOSUPPORT")
attack("unix.pair_dgram_abstract", "attack_unix pair_dgram_sendto {abstract_dgram} {message}",
       "message at abstract_dgram", "EPROTONOSUPPORT")
attack("unix.receive_descriptor", "attack_unix receive_descriptor {out}/descriptors.sock", LEARNT,
       "EPERM")
attack("unix.squat", "attack_unix squat @escape-{token}-free", DID, "EPERM")
attack("unix.squat_autobind", "attack_unix squat_autobind", DID, "EPERM")
attack("unix.squat_path", "attack_unix squat {out}/new", "out/new appeared", "EPERM")
# What such a service does for whoever asks, with the programs that ask.
attack("unix.tmux", "tmux -S {out}/tmux.sock run-shell 'touch {out}/new'", "out/new appeared", FAILED,
       tool="tmux")
attack("unix.ssh_agent", "SSH_AUTH_SOCK={out}/agent.sock ssh-add -l", LEARNT, FAILED,
       tool="ssh-agent")
attack("unix.guardd", "attack_unix stream {guardd} {message}", DID, "EPERM")

# --- net: the network ---------------------------------------------------------------------------

PORTS_ONLY = "Landlock's rules know ports, no addresses: the report says \"any host\""


def visit(outside, words):
    """A client from outside brings the token to the port that the probe serves at."""
    with socket.socket() as client:
        client.connect(("127.0.0.1", int(words[0])))
        client.send(outside.token.encode())


def visit_by_datagram(outside, words):
    with socket.socket(type=socket.SOCK_DGRAM) as client:
        client.sendto(outside.token.encode(), ("127.0.0.1", int(words[0])))


attack("net.tcp", "attack_net tcp 127.0.0.1 {tcp} {message}", "message at tcp", "EACCES")
attack("net.tcp6", "attack_net tcp ::1 {tcp6} {message}", "message at tcp6", "EACCES")
attack("net.tcp_mapped", "attack_net tcp ::ffff:127.0.0.1 {tcp} {message}", "message at tcp",
       "EACCES")
attack("net.tcp_reused", "attack_net tcp_reused {granted_tcp} 127.0.0.1 {tcp} {message}",
       "message at tcp", "EACCES")
attack("net.tcp_flipped", "attack_net tcp_flipped {granted_tcp} 127.0.0.1 {tcp} {message}",
       "message at tcp", "EACCES")
attack("net.tcp_other_host", "attack_net tcp 127.0.0.2 {granted_tcp} {message}",
       "message at other_host_tcp", open=PORTS_ONLY)
attack("net.mptcp", "attack_net mptcp 127.0.0.1 {tcp} {message}", "message at tcp",
       "EPROTONOSUPPORT", needs="no MPTCP")
attack("net.sctp", "attack_net sctp 127.0.0.1 {tcp}", DID, "EPROTONOSUPPORT", needs="no SCTP")
attack("net.smc", "attack_net smc 127.0.0.1 {tcp}", DID, "EPROTONOSUPPORT", needs="no SMC")
attack("net.dccp", "attack_net dccp 127.0.0.1 {tcp}", DID, "EPERM", needs="no DCCP")
for verb in ("fast_open_sendto", "fast_open_sendmsg", "fast_open_sendmmsg"):
    attack(f"net.{verb}", f"attack_net {verb} 127.0.0.1 {{tcp}} {{message}}", "message at tcp",
           "EOPNOTSUPP", needs="TCP fast open is off for clients")
attack("net.fast_open_connect", "attack_net fast_open_connect 127.0.0.1 {tcp} {message}",
       "message at tcp", "EACCES", needs="TCP fast open is off for clients")
for verb in ("udp", "udp_connect", "udp_sendmsg", "udp_sendmmsg"):
    attack(f"net.{verb}", f"attack_net {verb} 127.0.0.1 {{udp}} {{message}}", "message at udp",
           "EPERM")
attack("net.udp6", "attack_net udp ::1 {udp6} {message}", "message at udp6", "EPERM")
attack("net.udplite", "attack_net udplite 127.0.0.1 {udplite} {message}", "message at udplite",
       "EPERM")
attack("net.io_uring_udp", "attack_net io_uring_udp 127.0.0.1 {udp} {message}", "message at udp",
       "ENOSYS", needs="no io_uring")
attack("net.io_uring_tcp", "attack_net io_uring_tcp 127.0.0.1 {tcp} {message}", "message at tcp",
       "ENOSYS", needs="no io_uring")
attack("net.tcp_serve", "attack_net tcp_serve 127.0.0.1 {unbindable}", LEARNT, "EACCES",
       when_ready=visit)
attack("net.tcp_serve_free_port", "attack_net tcp_serve 127.0.0.1 0", LEARNT, "EACCES",
       when_ready=visit)
attack("net.mptcp_serve", "attack_net mptcp_serve 127.0.0.1 {unbindable}", LEARNT,
       "EPROTONOSUPPORT", needs="no MPTCP", when_ready=visit)
attack("net.tcp_serve_unbound", "attack_net tcp_serve_unbound", LEARNT, when_ready=visit,
       open="listen(2) without bind(2) is asked for no Landlock right; refused without a bind grant")
attack("net.tcp_serve_unbound_without_bind", "attack_net tcp_serve_unbound", LEARNT, "EPERM",
       when_ready=visit, ports=("connect",))
attack("net.tcp_without_ports", "attack_net tcp 127.0.0.1 {tcp} {message}", "message at tcp",
       "EPERM", ports=())
attack("net.udp_without_ports", "attack_net udp 127.0.0.1 {udp} {message}", "message at udp",
       "EPERM", ports=())
attack("net.addresses_by_ioctl_without_ports", "attack_net addresses_by_ioctl", DID, "EPERM",
       ports=())
attack("net.udp_serve", "attack_net udp_serve 127.0.0.1 {unbindable}", LEARNT, "EPERM",
       when_ready=visit_by_datagram)
attack("net.ping_socket", "attack_net ping_socket", DID, "EPERM", needs="no ping sockets for us")
attack("net.addresses_by_netlink", "attack_net addresses_by_netlink", DID, "EAFNOSUPPORT")
attack("net.addresses_by_ioctl", "attack_net addresses_by_ioctl", DID,
       open="an ioctl of any socket; refused without a network grant")

# --- proc: other processes ----------------------------------------------------------------------

for verb in ("kill", "kill_group", "kill_by_tkill", "kill_by_tgkill", "kill_by_sigqueue",
             "kill_by_tgsigqueue", "kill_by_pidfd"):
    attack(f"proc.{verb}", f"attack_proc {verb} {{victim}}", "victim got SIGURG", "EPERM",
           landlock=SIGNALS_ABI)
attack("proc.kill_by_proc_directory", "attack_proc kill_by_proc_directory {victim}",
       "victim got SIGURG", "EACCES")
# As root it would reach every process of the machine. See also attack_case.py: other tests' victims.
attack("proc.kill_everyone", "attack_proc kill_everyone", EVERYONE,
       ("EPERM", "ESRCH", IN_VAIN), who="user")
attack("proc.kill_parent", "attack_proc kill_parent", DID, "EPERM", landlock=SIGNALS_ABI)
attack("proc.kill_guardd", "attack_proc kill {guardd_pid}", DID, "EPERM", landlock=SIGNALS_ABI)
attack("proc.kill_launcher", "attack_proc kill {launcher_pid}", DID, "EPERM", landlock=SIGNALS_ABI)
attack("proc.pin_guardd", "attack_proc pin_to_cpu {guardd_pid}", DID, "EPERM")
for verb in ("signal_by_pipe", "signal_by_pipe_ex", "signal_by_socketpair"):
    attack(f"proc.{verb}", f"attack_proc {verb} {{victim}}", "victim got SIGURG",
           ("EPERM", IN_VAIN), landlock=SIGNALS_ABI)
attack("proc.signal_by_urgent_data", "attack_proc signal_by_urgent_data {victim} {bindable}",
       "victim got SIGURG", ("EPERM", IN_VAIN), landlock=SIGNALS_ABI)
attack("proc.ptrace_attach", "attack_proc ptrace_attach {victim}", DID, "EPERM",
       needs="Yama keeps processes from tracing each other")
attack("proc.ptrace_seize", "attack_proc ptrace_seize {victim}", DID, "EPERM",
       needs="Yama keeps processes from tracing each other")
attack("proc.ptrace_me", "attack_proc ptrace_me", DID, "EPERM")
for verb, effect in {"read_memory": LEARNT, "write_memory": "victim memory"}.items():
    attack(f"proc.{verb}", f"attack_proc {verb} {{victim}} {{victim_memory}}", effect, "EPERM",
           needs="Yama keeps processes from tracing each other")
attack("proc.take_descriptor", "attack_proc take_descriptor {victim} {victim_fd}", LEARNT, "EPERM",
       needs="Yama keeps processes from tracing each other")
attack("proc.compare", "attack_proc compare {victim}", DID, "EPERM", needs="no kcmp")
attack("proc.measure", "attack_proc measure {victim}", DID, "EPERM",
       needs="perf_event_paranoid is 3")
attack("proc.advise_memory", "attack_proc advise_memory {victim} {victim_memory}", DID, "EPERM",
       who="root")
attack("proc.release_memory", "attack_proc release_memory {victim}", DID, "EPERM")
attack("proc.move_pages", "attack_proc move_pages {victim} {victim_memory}", DID, "EPERM",
       needs="no NUMA")
attack("proc.migrate_pages", "attack_proc migrate_pages {victim}", DID, "EPERM", needs="no NUMA")
for verb, effect in {"lower_limit": "limits", "renice": "nice", "change_io_priority": "io priority",
                     "pin_to_cpu": "affinity", "change_scheduler": "scheduler",
                     "change_scheduler_attr": "scheduler"}.items():
    attack(f"proc.{verb}", f"attack_proc {verb} {{victim}}", f"victim {effect}", "EPERM")
attack("proc.change_scheduler_param", "attack_proc change_scheduler_param {victim}", DID, "EPERM")
attack("proc.write_oom_score", "attack_proc write_oom_score {victim}", "victim oom score", "EACCES")

# --- ipc: objects without a path ----------------------------------------------------------------

attack("ipc.shm_read", "attack_ipc shm_read {shm_id}", LEARNT, "EACCES")
attack("ipc.shm_find", "attack_ipc shm_find {shm_key}", DID, "EACCES")
attack("ipc.shm_make", "attack_ipc shm_make", DID, "EACCES")
attack("ipc.shm_enumerate", "attack_ipc shm_enumerate", DID, "EACCES")
attack("ipc.msg_receive", "attack_ipc msg_receive {msg_id}", LEARNT, "EACCES")
attack("ipc.msg_send", "attack_ipc msg_send {msg_id}", "queue of messages changed", "EACCES")
for verb in ("sem_change", "sem_operate", "sem_operate_timed"):
    attack(f"ipc.{verb}", f"attack_ipc {verb} {{sem_id}}", "semaphore changed", "EACCES")
attack("ipc.mq_take", "attack_ipc mq_take {queue}", LEARNT, "ENOSYS")
attack("ipc.mq_remove", "attack_ipc mq_remove {queue}", "message queue vanished", "ENOSYS")
attack("ipc.key_read", "attack_ipc key_read {key}", LEARNT, "EPERM")
attack("ipc.key_request", "attack_ipc key_request {key}", DID, "EPERM")
attack("ipc.key_add", "attack_ipc key_add {key}", "key changed", "EPERM")
attack("ipc.shared_memory_file", "attack_ipc shared_memory_file /escape-{token}", LEARNT, "EACCES")
attack("ipc.shared_memory_create", "attack_ipc shared_memory_create /escape-{token}-new",
       "/dev/shm/escape-TOKEN-new appeared", "EACCES")

# --- tty: the terminal it was started from ------------------------------------------------------

NO_TERMINAL = ("ENOTTY", "ENXIO")
for verb in ("type_inherited", "type_dev_tty", "type_wide"):
    attack(f"tty.{verb}", f"attack_tty {verb} injected", "typed into the terminal",
           ("EPERM", *NO_TERMINAL), terminal=True, needs="legacy_tiocsti is off")
attack("tty.type_int80", "attack_tty type_int80 injected", "typed into the terminal",
       ("SIGSYS", *NO_TERMINAL), terminal=True, needs="IA32 emulation is off")
for verb in ("echo_off_inherited", "echo_off_dev_tty"):
    attack(f"tty.{verb}", f"attack_tty {verb}", "terminal left without echo",
           ("EPERM", *NO_TERMINAL), terminal=True)
attack("tty.read_typing_from_stdout", "attack_tty read_typing_from_stdout", LEARNT,
       ("EBADF", *NO_TERMINAL), terminal=True, typing="{token}\n", stdin_null=True)
attack("tty.write_other_terminal", "attack_tty write_other_terminal {terminal}",
       "written to the other terminal", "EACCES")

# --- ns: namespaces and mounts ------------------------------------------------------------------

NO_USERNS = "no user namespaces for ordinary users"
for verb in ("unshare_user", "clone_user", "clone_user_wide"):
    attack(f"ns.{verb}", f"attack_ns {verb}", DID, "EPERM", needs=NO_USERNS)
attack("ns.clone3_user", "attack_ns clone3_user", DID, "ENOSYS", needs=NO_USERNS)
attack("ns.bind_mount_and_read", "attack_ns bind_mount_and_read {out} {ws}/mount secret", LEARNT,
       "EPERM", needs=NO_USERNS)
attack("ns.chroot_and_read", "attack_ns chroot_and_read {out} /secret", LEARNT, "EPERM",
       needs=NO_USERNS)
attack("ns.mount_tmpfs_over", "attack_ns mount_tmpfs_over {ro}", DID, "EPERM", needs=NO_USERNS)
attack("ns.detached_tree_read", "attack_ns detached_tree_read {out} secret", LEARNT, "EPERM",
       needs=NO_USERNS)
attack("ns.new_file_system", "attack_ns new_file_system", DID, "EPERM", needs=NO_USERNS)
attack("ns.raw_socket", "attack_ns raw_socket", DID, "EPERM", needs=NO_USERNS)
attack("ns.open_tree_path", "attack_ns open_tree_path {secret}", DID, "EPERM")
attack("ns.join_by_file", "attack_ns join_by_file {victim} net", DID, "EACCES", who="root")
attack("ns.join_by_pidfd", "attack_ns join_by_pidfd {victim} 0x40000000", DID, "EPERM", who="root")
attack("ns.chroot_plain", "attack_ns chroot_plain {out}", DID, "EPERM", who="root")
attack("ns.open_tree_plain", "attack_ns open_tree_plain {out}", DID, "EPERM", who="root")
for name, flag in {"mount": "0x20000", "uts": "0x4000000", "ipc": "0x8000000", "pid": "0x20000000",
                   "net": "0x40000000", "cgroup": "0x2000000"}.items():
    attack(f"ns.unshare_{name}", f"attack_ns unshare_flag {flag}", DID, "EPERM", who="root")

# --- surface: kernel code that no program of an agent needs -------------------------------------

for call in ("keyctl", "modify_ldt", "process_madvise", "process_mrelease", "pidfd_getfd", "kcmp",
             "process_vm_readv", "move_pages", "migrate_pages", "mount_setattr", "name_to_handle_at", "fanotify_init", "fanotify_mark", "userfaultfd",
             "perf_event_open", "file_setattr", "open_tree_attr", "unshare", "setns", "settimeofday",
             "clock_settime", "iopl", "ioperm", "ustat", "sysfs", "quotactl_fd"):
    attack(f"surface.{call}", f"attack_surface reach {call}", DID, "EPERM",
           needs=f"{call} is not for ordinary users here")
for call in ("io_uring_setup", "io_uring_enter", "io_uring_register", "memfd_secret", "statmount",
             "listmount", "clone3", "openat2", "mq_unlink", "setxattrat", "removexattrat"):
    attack(f"surface.{call}", f"attack_surface reach {call}", DID, "ENOSYS",
           needs=f"{call} is not there")
for call in ("bpf", "open_by_handle_at", "acct", "quotactl", "syslog", "sethostname",
             "setdomainname", "swapon", "swapoff", "reboot", "init_module", "finit_module",
             "delete_module", "kexec_load", "mount", "umount2", "pivot_root", "chroot", "fsopen",
             "fsconfig", "fsmount", "open_tree", "fspick", "move_mount"):
    attack(f"surface.{call}", f"attack_surface reach {call}", DID, "EPERM", who="root",
           needs=f"{call} is not for root here")
for name, numbers in {"netlink_generic": "16 3 16", "netlink_uevent": "16 3 15",
                      "netlink_xfrm": "16 3 6", "netlink_netfilter": "16 3 12",
                      "vsock": "40 1 0", "alg": "38 5 0", "bluetooth": "31 3 1", "can": "29 3 1",
                      "tipc": "30 5 0", "rds": "21 5 0"}.items():
    attack(f"surface.socket_{name}", f"attack_net any_socket {numbers}", DID, "EAFNOSUPPORT",
           needs=f"no such sockets ({name})")
for name, numbers in {"packet": "17 3 0", "key": "15 3 2", "xdp": "44 3 0"}.items():
    attack(f"surface.socket_{name}", f"attack_net any_socket {numbers}", DID, "EAFNOSUPPORT",
           who="root", needs=f"no such sockets ({name})")
attack("surface.socket_raw", "attack_net any_socket 2 3 1", DID, "EPERM", who="root")
attack("surface.seccomp_listener", "attack_surface seccomp_listener", DID, "EBUSY")
attack("surface.seccomp_listener_wide", "attack_surface seccomp_listener_wide", DID, "EBUSY")
attack("surface.trace_child", "attack_surface trace_child", DID, "EPERM")
attack("surface.raise_core_limit", "attack_res raise_limit 4", DID, "EPERM")
attack("surface.core_file", "attack_surface core_file {ws}", "ws core", "EPERM",
       needs="core files go elsewhere or are limited")

# --- compat: other spellings --------------------------------------------------------------------

NO_IA32 = "IA32 emulation is off"
attack("compat.int80_kill", "attack_compat int80_kill {victim}", "victim got SIGURG", "SIGSYS",
       needs=NO_IA32)
attack("compat.int80_chmod", "attack_compat int80_chmod {out}/victim", "out/victim attributes",
       "SIGSYS", needs=NO_IA32)
attack("compat.int80_unshare", "attack_compat int80_unshare", DID, "SIGSYS", needs=NO_IA32)
attack("compat.int80_socket", "attack_compat int80_socket", DID, "SIGSYS", needs=NO_IA32)
attack("compat.x32_chmod", "attack_compat x32_chmod {out}/victim", "out/victim attributes",
       "ENOSYS", needs="no x32 ABI")
attack("compat.x32_getpid", "attack_compat x32_getpid", DID, "ENOSYS", needs="no x32 ABI")
attack("compat.wide_unix", "attack_unix stream_wide {out}/stream.sock {message}",
       "message at stream", "EPERM")
attack("compat.wide_pair", "attack_unix pair_dgram_wide {out}/dgram.sock {message}",
       "message at dgram", "EPROTONOSUPPORT")
attack("compat.wide_udp", "attack_net udp_wide 127.0.0.1 {udp} {message}", "message at udp",
       "EPERM")
attack("compat.wide_mptcp", "attack_net mptcp_wide 127.0.0.1 {tcp} {message}", "message at tcp",
       "EPROTONOSUPPORT", needs="no MPTCP")
attack("compat.wide_fast_open", "attack_net fast_open_wide 127.0.0.1 {tcp} {message}",
       "message at tcp", "EOPNOTSUPP", needs="TCP fast open is off for clients")
attack("compat.wide_setuid_chmod", "attack_compat wide_setuid_chmod {ws}/own", "ws set-user-ID",
       "EPERM")
attack("compat.wide_setuid_create", "attack_compat wide_setuid_create {ws}/new", "ws set-user-ID",
       "EPERM")
attack("compat.wide_lease", "attack_compat wide_lease {ro}/victim", DID, "EPERM")
attack("compat.wide_renice", "attack_compat wide_renice {victim}", "victim nice", "EPERM")
attack("compat.wide_limit", "attack_compat wide_limit {victim}", "victim limits", "EPERM")
attack("compat.wide_whiteout", "attack_compat wide_whiteout {ws}/own {ws}/new", "ws device",
       "EINVAL")

# --- exec: running something else ---------------------------------------------------------------

OWN_CODE = "a program that may read or make bytes can run them; execution is no boundary"
attack("exec.program", "attack_exec program {out}/tool", DID, "EACCES")
attack("exec.program_by_loader",
       "attack_exec program_by_loader /lib64/ld-linux-x86-64.so.2 {out}/tool", DID, "EACCES")
attack("exec.script_with_interpreter", "attack_exec script_with_interpreter {ws}/new {out}/tool",
       DID, "EACCES")
attack("exec.script_of_its_own", "attack_exec script_of_its_own {ws}/new", DID, open=OWN_CODE)
attack("exec.memory_file", "attack_exec memory_file /usr/bin/true", DID, open=OWN_CODE)
attack("exec.without_no_new_privs", "attack_exec without_no_new_privs", DID, "EPERM")
attack("exec.become_user", "attack_exec become_user 65534", DID, "EPERM", who="root")
attack("exec.capability_left", "attack_exec capability_left", DID, "EPERM", who="root")

# --- fd: what the caller left open --------------------------------------------------------------

attack("fd.read", "attack_fd read 97", LEARNT, "EBADF", leaks=(("secret", 97),))
attack("fd.read_high", "attack_fd read 900", LEARNT, "EBADF", leaks=(("secret", 900),))
attack("fd.read_below", "attack_fd read_below 97 secret", LEARNT, "EBADF", leaks=(("out", 97),))
attack("fd.say", "attack_fd say 97 {message}", "message at stream", "EBADF", leaks=(("stream", 97),))
attack("fd.list", "attack_fd list", DID, "EBADF", leaks=(("secret", 97),))

# --- res: resources -----------------------------------------------------------------------------

UNLIMITED = "no limit unless one is asked for"
attack("res.memory", "attack_res memory 134217728", DID, open=UNLIMITED)
attack("res.disk", "attack_res disk {ws}/new 67108864", DID, open=UNLIMITED)
attack("res.processes", "attack_res processes 100", DID, open=UNLIMITED)

# --- defer: left behind for somebody else to run ------------------------------------------------

INSIDE = "what is in a write grant may be written; whoever runs it later runs it unconfined"


def repository(outside):
    """A repository of the user's in the workspace, from before the run."""
    git(outside, "init", "-q", "-b", "main")


def commit(outside):
    git(outside, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m",
        "later")


def git(outside, *arguments):
    subprocess.run(["/usr/bin/git", *arguments], cwd=outside.ws, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env=guardtest.environment(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null"))


HOOK = r"printf '#!/bin/sh\ntouch {out}/new\n' >{ws}/.git/hooks/pre-commit; chmod +x {ws}/.git/hooks/pre-commit"
attack("defer.git_hook", HOOK, "out/new appeared", open=INSIDE, after=commit)
attack("defer.git_fsmonitor", "/usr/bin/git -C {ws} config core.fsmonitor 'touch {out}/new; false'",
       "out/new appeared", open=INSIDE, after=commit)
attack("defer.git_swap", "mv {ws}/.git {ws}/.old && cp -r {ws}/.old {ws}/.git && " + HOOK,
       "out/new appeared", open=INSIDE, after=commit)
attack("defer.agent_file", "echo '{{}}' >{ws}/.mcp.json", "ws .mcp.json", open=INSIDE)

# --- life: outliving the run --------------------------------------------------------------------

for verb in ("own_session", "double_fork", "fork_chain", "fork_chains", "held_output", "undumpable",
             "stopped"):
    attack(f"life.{verb}", f"attack_life {verb} {{message}} {{ws}}/stop", "survivors", IN_VAIN,
           survives=True, doors=(DAEMON,))
attack("life.child_of_parent", "attack_life child_of_parent {message} {ws}/stop", "survivors",
       "EPERM", survives=True)
attack("life.deaf_tree", "attack_life deaf_tree {message} {ws}/stop", "survivors", IN_VAIN,
       survives=True, timeout=0.5, doors=(DAEMON,))
attack("life.bomb", "attack_life bomb {message} {ws}/stop 100", "survivors", IN_VAIN, survives=True,
       doors=(DAEMON,))

CATEGORIES = tuple(dict.fromkeys(attack.category for attack in ATTACKS))
assert len({attack.name for attack in ATTACKS}) == len(ATTACKS), "names are unique"


def _list():
    """A line an attack: its name, the calls, and what becomes of it."""
    for each in ATTACKS:
        becomes = "refused: " + ", ".join(each.refused) if each.refused else "open: " + str(each.open)
        print(f"{each.name:40} {each.argv:70} {becomes}")


if __name__ == "__main__":
    _list()
