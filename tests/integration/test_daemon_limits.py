"""Limits of a run, as an agent framework sets them: what each does to the run, to no other process,
and that the run cannot raise it."""
import os
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest
from guardgrpc import GrpcTestCase, request

MIB = 1 << 20

# Prints "ok" or the name of what it got.
ATTEMPT = """\
import errno, os, resource, signal, sys
def attempt(what):
    try:
        what()
        print("ok")
    except OSError as error:
        print(errno.errorcode[error.errno])
    except (MemoryError, ValueError) as error:
        print(type(error).__name__)
"""


class Limits(GrpcTestCase):
    def python(self, script, **limits):
        message = request("python3", "-c", ATTEMPT + script, write=[self.ws], cwd=os.fsencode(self.ws))
        for name, value in limits.items():
            if name == "cpu":
                message.policy.limits.cpu.FromSeconds(value)
            else:
                setattr(message.policy.limits, name, value)
        return self.client.run_request(message)

    def test_memory(self):
        script = "attempt(lambda: bytearray(300 << 20))"
        self.assertEqual(self.python(script).stdout, b"ok\n")
        self.assertEqual(self.python(script, memory_bytes=200 * MIB).stdout, b"MemoryError\n")

    def test_memory_that_is_not_enough_to_start_with_is_told(self):
        outcome = self.python("", memory_bytes=4096)
        self.assertNotEqual(outcome.finished.WhichOneof("ending"), "exit_code", outcome)

    def test_cpu_time_has_a_reason_of_its_own(self):
        outcome = self.python("while True: pass", cpu=1)
        self.assertEqual(outcome.reason, "CPU_LIMIT", outcome)
        self.assertIn(outcome.finished.signal, (signal.SIGKILL, signal.SIGXCPU))

    def test_the_size_of_a_file(self):
        script = """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
attempt(lambda: os.truncate(os.open("f", os.O_CREAT | os.O_WRONLY), 1 << 20))
attempt(lambda: os.truncate(os.open("f", os.O_CREAT | os.O_WRONLY), (1 << 20) + 1))"""
        self.assertEqual(self.python(script).stdout, b"ok\nok\n")
        self.assertEqual(self.python(script, file_size_bytes=MIB).stdout, b"ok\nEFBIG\n")

    def test_open_files(self):
        script = "attempt(lambda: [os.dup(0) for _ in range(100)])"
        self.assertEqual(self.python(script).stdout, b"ok\n")
        self.assertEqual(self.python(script, open_files=50).stdout, b"EMFILE\n")

    def test_none_can_be_raised(self):
        names = {"RLIMIT_AS": 512 * MIB, "RLIMIT_CPU": 60, "RLIMIT_FSIZE": MIB,
                 "RLIMIT_NOFILE": 64}
        script = "".join(f"""
print(*resource.getrlimit(resource.{name}))
attempt(lambda: resource.setrlimit(resource.{name}, ({value + 1}, {value + 1})))
attempt(lambda: resource.setrlimit(resource.{name}, ({value - 1}, {value})))"""
                         for name, value in names.items())
        outcome = self.python(script, memory_bytes=512 * MIB, cpu=60, file_size_bytes=MIB,
                              open_files=64)
        self.assertEqual(outcome.code, 0, outcome)
        said = outcome.stdout.decode().split("\n")
        for at, (name, value) in enumerate(names.items()):
            self.assertEqual(said[3 * at:3 * at + 3], [f"{value} {value}", "ValueError", "ok"], name)
        script = """
soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
print(soft == hard)
attempt(lambda: resource.setrlimit(resource.RLIMIT_NPROC, (soft + 1, hard + 1)))"""
        self.assertEqual(self.python(script, processes=64).stdout, b"True\nValueError\n")


class Processes(GrpcTestCase):
    """The kernel counts what the user runs everywhere. The limit is above what runs already."""

    # Children that are alive together, as many as asked for; what it got instead of the next.
    SCRIPT = """
children = []
def fork():
    for _ in range(int(sys.argv[1])):
        child = os.fork()
        if child == 0:
            signal.pause()
        children.append(child)
attempt(fork)
for child in children:
    os.kill(child, signal.SIGKILL)"""

    def fork(self, count, processes=0):
        message = request("python3", "-c", ATTEMPT + self.SCRIPT, str(count))
        message.policy.limits.processes = processes
        return self.client.run_request(message).stdout

    def test_with_more_than_the_limit_running_elsewhere_a_run_still_starts(self):
        crowd = [subprocess.Popen(["sleep", "120"], process_group=0) for _ in range(200)]
        try:
            self.assertEqual(self.fork(10, processes=64), b"ok\n")
            self.assertEqual(self.fork(150, processes=64), b"EAGAIN\n")
            self.assertTrue(all(each.poll() is None for each in crowd))
        finally:
            for each in crowd:
                each.kill()
            for each in crowd:
                each.wait()

    def test_it_ends_with_the_run_and_holds_no_other(self):
        self.assertEqual(self.fork(150), b"ok\n")
        self.assertEqual(self.fork(150, processes=64), b"EAGAIN\n")
        self.assertEqual(self.fork(150), b"ok\n")


if __name__ == "__main__":
    guardtest.main()
