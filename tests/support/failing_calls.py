"""A system call filter of the test's own: how a kernel that lacks calls looks, or a container whose
filter refuses them."""
import ctypes
import errno
import os
import struct

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_RET_ALLOW, _RET_ERRNO = 0x7FFF0000, 0x00050000
_LOAD, _EQUAL, _ANY_BIT, _ANSWER = 0x20, 0x15, 0x45, 0x06
_NUMBER_AT, _FIRST_ARGUMENT_AT = 0, 16

_NUMBERS = {  # x86_64, aarch64
    "clone": (56, 220), "ptrace": (101, 117), "prctl": (157, 167), "pivot_root": (155, 41),
    "mount": (165, 40), "umount2": (166, 39), "add_key": (248, 217), "request_key": (249, 218),
    "keyctl": (250, 219), "unshare": (272, 97), "move_pages": (279, 239),
    "perf_event_open": (298, 241), "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265), "setns": (308, 268), "kcmp": (312, 272),
    "seccomp": (317, 277), "bpf": (321, 280), "userfaultfd": (323, 282),
    "pidfd_send_signal": (424, 424), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "fsmount": (432, 432), "pidfd_open": (434, 434), "clone3": (435, 435),
    "close_range": (436, 436), "openat2": (437, 437), "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445), "landlock_restrict_self": (446, 446)}


def number(name):
    return _NUMBERS[name][("x86_64", "aarch64").index(os.uname().machine)]


def failing(*rules):
    """For preexec_fn, or to be called: from then on the calls answer so, here and in every child.
    A rule is (name, errno), 0 to claim success, or (name, errno, first argument): with that one
    only; or (name, errno, None, bits): when one of the bits is in the first argument."""
    code = []
    for name, error, argument, bits in (rule + (None,) * (4 - len(rule)) for rule in rules):
        test = [] if argument is None and bits is None else [
            (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
            (_ANY_BIT, 0, 1, bits) if argument is None else (_EQUAL, 0, 1, argument)]
        code += [(_LOAD, 0, 0, _NUMBER_AT), (_EQUAL, 0, len(test) + 1, number(name)), *test,
                 (_ANSWER, 0, 0, _RET_ERRNO | error)]
    code += [(_ANSWER, 0, 0, _RET_ALLOW)]
    program = ctypes.create_string_buffer(
        b"".join(struct.pack("HBBI", *instruction) for instruction in code))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    described = Program(len(code), ctypes.addressof(program))
    described.program = program  # the address alone keeps nothing alive
    libc = ctypes.CDLL(None, use_errno=True)

    def install():
        for arguments in ((_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
                          (_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(described), 0, 0)):
            if libc.prctl(*arguments) != 0:
                raise OSError(ctypes.get_errno(), "prctl")

    return install


# What the default profiles of container engines refuse to a process without capabilities, of the
# calls that one of ours or of its programs might make.
_NEW_NAMESPACES = 0x7E020000
CONTAINER = (("clone3", errno.ENOSYS), ("clone", errno.EPERM, None, _NEW_NAMESPACES),
             *((name, errno.EPERM) for name in (
                 "unshare", "setns", "mount", "umount2", "pivot_root", "open_tree", "move_mount",
                 "fsopen", "fsmount", "bpf", "keyctl", "add_key", "request_key", "userfaultfd",
                 "perf_event_open", "io_uring_setup", "io_uring_enter", "io_uring_register",
                 "open_by_handle_at", "name_to_handle_at", "move_pages", "kcmp")))
