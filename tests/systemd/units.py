"""The user units under a real systemd; tests/systemd/run makes one and starts this in it."""
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest  # noqa: E402

RUNTIME = pathlib.Path(os.environ["XDG_RUNTIME_DIR"])
UNITS = pathlib.Path(os.environ["GUARD_UNITS"])
SOCKET = RUNTIME / "guardd/guardd.sock"


def systemctl(*arguments):
    return subprocess.run(["systemctl", "--user", *arguments], capture_output=True, text=True,
                          timeout=60, check=False)


def main_pid():
    return int(systemctl("show", "-P", "MainPID", "guardd.service").stdout)


class Units(guardtest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        place = RUNTIME / "systemd/user"
        place.mkdir(parents=True, exist_ok=True)
        for unit in ("guardd.socket", "guardd.service"):
            shutil.copy(UNITS / unit, place)
        # Many starts within ten seconds are the tests' doing.
        override = place / "guardd.service.d"
        override.mkdir(exist_ok=True)
        (override / "often.conf").write_text("[Unit]\nStartLimitIntervalSec=0\n")
        assert systemctl("daemon-reload").returncode == 0

    def setUp(self):
        super().setUp()
        started = systemctl("start", "guardd.socket")
        self.assertEqual(started.returncode, 0, started)
        self.addCleanup(systemctl, "stop", "guardd.socket", "guardd.service")

    def guardctl(self, *arguments, **how):
        return guardtest.run([guardtest.BIN / "guardctl", *arguments],
                             env={"XDG_RUNTIME_DIR": RUNTIME, **how.pop("env", {})}, **how)

    def serves(self):
        self.assertRan(self.guardctl("run", "--", "echo", "on"), 0, b"on\n")
        pid = main_pid()
        self.assertGreater(pid, 0)
        return pid

    def test_the_units_are_without_fault(self):
        result = subprocess.run(["systemd-analyze", "--user", "verify", UNITS / "guardd.socket",
                                 UNITS / "guardd.service"], capture_output=True, text=True,
                                check=False)
        faults = [line for line in (result.stdout + result.stderr).splitlines() if "guardd" in line]
        self.assertEqual((result.returncode, faults), (0, []), result)

    def test_the_first_client_starts_it(self):
        self.assertEqual(main_pid(), 0)
        self.assertEqual(stat.S_IMODE(SOCKET.stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(SOCKET.parent.stat().st_mode), 0o700)
        pid = self.serves()
        self.assertEqual(os.readlink(f"/proc/{pid}/exe"), str(guardtest.BIN / "guardd"))
        self.assertEqual(self.serves(), pid)
        self.assertFalse((SOCKET.parent / "guardd.log").exists(), "guardctl started none")

    def test_twenty_clients_at_once_get_one(self):
        results = guardtest.at_once(
            20, lambda n: self.guardctl("run", "--", "echo", str(n), timeout=120))
        for n, result in enumerate(results):
            self.assertRan(result, 0, f"{n}\n".encode())
        self.assertEqual(len(guardtest.processes_matching("--idle-exit")), 1)

    def test_it_has_a_leaf_of_the_delegated_group(self):
        group = pathlib.Path(f"/proc/{self.serves()}/cgroup").read_text()
        self.assertRegex(group, r"(?m)^0::/.*/guardd\.service/guardd$")

    def test_stopping_it_ends_its_runs_and_keeps_the_socket(self):
        first = self.serves()
        with guardtest.Popen([guardtest.BIN / "guardctl", "run", "--", "sh", "-c",
                              f"echo up; sleep 300; : {self.marker}"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE,
                             env=guardtest.environment(XDG_RUNTIME_DIR=RUNTIME)) as run:
            self.assertEqual(run.stdout.readline(), b"up\n")
            self.assertEqual(systemctl("stop", "guardd.service").returncode, 0)
            _, err = run.communicate(timeout=20)
            self.assertIn(b"guardd", err)
            self.assertNotEqual(run.returncode, 0)
        self.assertEqual(guardtest.processes_matching(self.marker), [])
        self.assertFalse(guardtest.alive(first))
        self.assertNotEqual(self.serves(), first)

    def test_one_that_was_killed_is_started_again(self):
        first = self.serves()
        os.kill(first, signal.SIGKILL)
        self.assertTrue(guardtest.wait_until(lambda: main_pid() not in (0, first), 20))
        self.assertRan(self.guardctl("run", "--", "echo", "on"), 0, b"on\n")

    def test_what_the_managers_environment_holds_reaches_neither(self):
        self.addCleanup(systemctl, "unset-environment", "LD_PRELOAD", "API_KEY")
        systemctl("set-environment", "LD_PRELOAD=/no/such.so", f"API_KEY={self.marker}")
        pid = self.serves()
        self.assertNotIn(b"LD_PRELOAD", pathlib.Path(f"/proc/{pid}/environ").read_bytes())
        result = self.guardctl("run", "--", "env")
        for name in ("LD_PRELOAD=/no", "API_KEY", "LISTEN_", "NOTIFY_SOCKET", "INVOCATION_ID"):
            self.assertNotIn(name, result.out)

    def test_without_the_socket_unit_guardctl_starts_one_and_the_unit_takes_over(self):
        systemctl("stop", "guardd.socket", "guardd.service")
        self.assertFalse(SOCKET.exists(), "RemoveOnStop")
        self.assertRan(self.guardctl("run", "--", "echo", "on"), 0, b"on\n")
        own, = guardtest.processes_matching(f"--socket\0{SOCKET}")
        self.addCleanup(os.kill, own, signal.SIGTERM)
        self.assertEqual(main_pid(), 0)
        started = systemctl("start", "guardd.socket")
        self.assertEqual(started.returncode, 0, started)
        self.assertNotEqual(self.serves(), own)
        self.assertTrue(guardtest.alive(own), "it serves the clients that it has")


if __name__ == "__main__":
    guardtest.main()
