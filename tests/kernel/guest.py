"""Inside the guest, as root: sets it up as job.json says and runs the tests there as an ordinary
user. What they print goes to the console; how each ended, as a line of JSON, to the second serial
port.
"""
import ctypes
import fcntl
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import time

SOURCE = pathlib.Path("/guardd")
BUILD = SOURCE / "build/dev"
USER = "guardtest"
TMP = pathlib.Path("/var/tmp/guardtest")
DISK_BYTES = 1 << 30
SLOW = "6"  # an emulated processor, against a real one


def environment():
    return {**os.environ, "GUARD_TEST_USER": USER, "GUARD_TEST_HOME": f"/home/{USER}",
            "GUARD_SOURCE_DIR": str(SOURCE), "GUARD_BIN_DIR": str(BUILD / "bin"),
            "GUARD_PROBE_DIR": str(BUILD / "probes"), "PYTHONPATH": str(SOURCE / "tests/support"),
            "GUARD_SKIP_IS_FAILURE": "1", "GUARD_SLOW": SLOW, "TMPDIR": str(TMP)}


def mount_disk(modules):
    """/var/tmp becomes what it is on most machines: a file system with attributes and flags."""
    libc = ctypes.CDLL(None, use_errno=True)
    finit_module = 313
    for module in modules:
        with open(module, "rb") as file:
            if libc.syscall(finit_module, file.fileno(), b"", 0) != 0:
                raise OSError(ctypes.get_errno(), module)
    with open("/disk", "wb") as disk:
        os.truncate(disk.fileno(), DISK_BYTES)
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "/disk"], check=True)
    subprocess.run(["mount", "-o", "loop", "/disk", "/var/tmp"], check=True)
    os.chmod("/var/tmp", 0o1777)


def bring_up_loopback():
    interface_up, siocsifflags = 1, 0x8914
    with socket.socket(type=socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, siocsifflags, struct.pack("16sH14x", b"lo", interface_up))


def set_sysctls(sysctls):
    for name, value in sysctls:
        pathlib.Path("/proc/sys", *name.split(".")).write_text(value)


def of_googletest(output):
    """Tests run, [(name, reason)] of those skipped, names of those that failed."""
    ran = re.search(r"^\[==========\] (\d+) tests? from .* ran", output, re.M)
    skipped = []
    for body, name in re.findall(r"^\[ RUN +\] \S+\n((?:(?!\[ RUN).*\n)*?)\[  SKIPPED \] (\S+) \(",
                                 output, re.M):
        reason = re.search(r"Skipped\n(.*)", body)
        skipped.append((name, reason[1] if reason else ""))
    failed = re.findall(r"^\[  FAILED  \] (\S+)(?: \(|, where)", output, re.M)
    return int(ran[1]) if ran else 0, skipped, sorted(set(failed))


def of_unittest(output):
    ran = re.search(r"^Ran (\d+) tests? in", output, re.M)
    skipped = re.findall(r"^(\S+) \(.*\.\.\. skipped ['\"](.*)['\"]$", output, re.M)
    failed = re.findall(r"^(?:FAIL|ERROR): (\S+)", output, re.M)
    return int(ran[1]) if ran else 0, skipped, sorted(set(failed))


def run(name, argv, seconds, read):
    print(f"\n=== {name}", flush=True)
    started = time.monotonic()
    # The working directory is granted to a run: not one with the tests' folders in it.
    with subprocess.Popen([SOURCE / "tests/support/as-user", *argv], env=environment(), cwd=BUILD,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, process_group=0) as process:
        try:
            output = process.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output = process.communicate()[0] + f"\nstopped after {seconds} s\n".encode()
    output = output.decode(errors="backslashreplace")
    print(output, flush=True)
    # Nothing of one job is left for the next one.
    subprocess.run(["pkill", "-KILL", "-u", USER], check=False)
    ran, skipped, failed = read(output)
    return {"name": name, "status": process.returncode, "ran": ran, "skipped": skipped,
            "failed": failed, "seconds": round(time.monotonic() - started)}


def jobs(job):
    levels = SOURCE / "tests/kernel/levels.py"
    yield "levels", ["/usr/bin/python3", "-B", levels, "-v"], 300, of_unittest
    if job["units"]:
        for program in sorted((BUILD / "unit").iterdir()):
            yield program.name, [program], 900, of_googletest
    for script in job["scripts"]:
        yield script, ["/usr/bin/python3", "-B", SOURCE / "tests" / script, "-v"], 1200, of_unittest


def main():
    job = json.loads((SOURCE / "job.json").read_text())
    mount_disk(job["modules"])
    bring_up_loopback()
    set_sysctls(job["sysctls"])
    TMP.mkdir()
    os.chown(TMP, 1000, 1000)
    with open("/dev/ttyS1", "w", encoding="ascii") as results:
        def tell(what):
            print(json.dumps(what), file=results, flush=True)

        tell({"kernel": os.uname().release})
        for name, argv, seconds, read in jobs(job):
            if not job["only"] or any(text in name for text in job["only"]):
                tell(run(name, argv, seconds, read))
        tell({"done": True})


main()
