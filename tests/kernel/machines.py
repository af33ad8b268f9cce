"""The machines that the kernel tests are run on: a kernel, how it is booted, what is run there."""
import dataclasses

# Scripts that tell what a kernel is asked for. Left out, see docs/testing.md.
DOORS = ("integration/test_oneshot.py", "integration/test_oneshot_findings.py",
         "integration/test_oneshot_grants.py", "integration/test_oneshot_kernels.py",
         "integration/test_oneshot_nesting.py", "integration/test_oneshot_processes.py",
         "integration/test_ports.py", "integration/test_supervise.py", "integration/test_daemon.py",
         "integration/test_daemon_ends.py", "integration/test_daemon_socket.py",
         "integration/test_daemon_results.py", "integration/test_callers.py",
         "integration/test_cookie.py", "integration/test_guardctl.py",
         "integration/test_guardctl_runs.py", "integration/test_hints.py")
ATTACKS = ("escape/test_files.py", "escape/test_network.py", "escape/test_processes.py",
           "escape/test_kernel.py")
BRIEFLY = ("integration/test_oneshot.py", "integration/test_oneshot_nesting.py",
           "integration/test_callers.py",
           "integration/test_daemon.py", "escape/test_kernel.py")

# Debian's own order without landlock.
WITHOUT_LANDLOCK = "lsm=lockdown,yama,loadpin,safesetid,integrity,apparmor"


@dataclasses.dataclass(frozen=True)
class Machine:
    name: str
    release: str                # of Debian; where its kernel comes from
    landlock_abi: int           # that this kernel has to have, else the test is not what it says
    off_at_boot: bool = False   # Landlock is compiled in and not enabled
    boot: str = ""              # more of the kernel's command line
    sysctls: tuple = ()         # (name, value), set before anything runs
    units: bool = True
    scripts: tuple = ()
    minutes: int = 30           # from power on to power off


MACHINES = (
    Machine("5.10", "bullseye", 0),
    Machine("6.1", "bookworm", 2, scripts=DOORS + ATTACKS, minutes=60),
    Machine("6.12", "bookworm-backports", 6, scripts=DOORS + ATTACKS, minutes=60),
    Machine("6.12-no-landlock", "bookworm-backports", 0, off_at_boot=True, boot=WITHOUT_LANDLOCK),
    Machine("6.12-no-userns", "bookworm-backports", 6, units=False, scripts=BRIEFLY,
            sysctls=(("user.max_user_namespaces", "0"),
                     ("kernel.unprivileged_userns_clone", "0"))),
)
