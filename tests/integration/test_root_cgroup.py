"""Runs in control groups of their own, below one that is delegated to an ordinary user. Root makes
and delegates it, in a mount namespace where /sys/fs/cgroup is cgroup v2; the tests are that user's."""
import os
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import guardtest  # noqa: E402
import test_supervise  # noqa: E402

USER = os.environ.get("GUARD_TEST_USER") or "guardtest"
SKIPPED = 77

# Arguments: the user, then the command, which is told of the group by GUARD_TEST_CGROUP.
DELEGATE = r"""
user=$1; shift
umount -R /sys/fs/cgroup 2>/dev/null
mount -t cgroup2 none /sys/fs/cgroup || exit 77
group=/sys/fs/cgroup/guard-test-$$
mkdir $group $group/tests && [ -e $group/cgroup.kill ] || exit 77
chown $user $group $group/cgroup.procs $group/tests $group/tests/cgroup.procs
sh -c 'echo $$ > $0/tests/cgroup.procs && exec "$@"' $group \
  setpriv --reuid $user --regid $user --init-groups env GUARD_TEST_CGROUP=$group "$@"
status=$?
echo 1 > $group/cgroup.kill
for i in 1 2 3 4 5 6 7 8 9 10; do
  find $group -depth -type d -exec rmdir {} \; 2>/dev/null
  [ -e $group ] || break
  sleep 0.1
done
exit $status
"""


class ByCgroup(test_supervise.CutOff, guardtest.TestCase):
    TREE_KILL = "cgroup"
    ENV, FLAGS = {"GUARD_LANDLOCK_ABI_MAX": "2"}, ("--best-effort",)
    PATIENCE = 2
    DAEMON_FLAGS = ("--leaf-cgroup",)

    @classmethod
    def setUpClass(cls):
        cls.group = pathlib.Path(os.environ["GUARD_TEST_CGROUP"]) / "service"
        cls.group.mkdir(exist_ok=True)
        cls.UNDER = ("/bin/sh", "-c", 'echo $$ > "$0"/cgroup.procs && exec "$@"', cls.group)
        super().setUpClass()

    def runs(self):
        return [path.name for path in self.group.glob("run-*")]

    def tearDown(self):
        self.assertTrue(guardtest.wait_until(lambda: not self.runs()), self.runs())
        super().tearDown()

    def test_a_run_is_in_a_group_of_its_own_and_guardd_in_a_leaf(self):
        client = self.started("echo up; sleep 300")
        self.assertEqual(len(self.runs()), 1)
        members = (self.group / self.runs()[0] / "cgroup.procs").read_text().split()
        self.assertNotIn(str(self.guardd.pid), members)
        self.assertEqual((self.group / "cgroup.procs").read_text(), "")
        leaf = (self.group / "guardd/cgroup.procs").read_text().split()
        self.assertIn(str(self.guardd.pid), leaf)
        client.kill()
        client.wait()

    def test_what_nobody_could_end_is_ended_by_the_next_guardd(self):
        victim = type(self)("test_what_nobody_could_end_is_ended_by_the_next_guardd")
        victim.guardd = guardtest.Daemon(self.work / "other", *self.DAEMON_FLAGS, env=self.ENV,
                                         under=self.in_group("again"))
        victim.FLAGS = self.FLAGS
        client = victim.started("setsid sleep 300 & echo up; wait", "--env", f"M={self.marker}")
        ours = [pid for pid in guardtest.descendants(victim.guardd.pid)
                if guardtest.comm(pid) in ("guard-launcher", "guard-monitor")]
        for pid in ours:  # stopped first, so that none sees another's end
            os.kill(pid, signal.SIGSTOP)
        victim.guardd.kill()
        for pid in ours:
            os.kill(pid, signal.SIGKILL)
        client.kill()
        self.assertNotEqual(guardtest.processes_with_env_marker(self.marker), [])
        with guardtest.Daemon(self.work / "next", *self.DAEMON_FLAGS, env=self.ENV,
                              under=self.in_group("again")):
            self.assertEqual(guardtest.processes_with_env_marker(self.marker), [])
            self.assertEqual(list((self.group.parent / "again").glob("run-*")), [])
        victim.doCleanups()

    def in_group(self, name):
        group = self.group.parent / name
        group.mkdir(exist_ok=True)
        return ("/bin/sh", "-c", 'echo $$ > "$0"/cgroup.procs && exec "$@"', group)


def as_the_user():
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", DELEGATE, "delegate",
               USER, guardtest.PYTHON, "-B", *sys.argv]
    status = subprocess.run(command, check=False).returncode
    if status == SKIPPED:
        print("skipped: kernel: no cgroup v2 that may be written", file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    if os.geteuid() == 0 and "GUARD_TEST_CGROUP" not in os.environ:
        as_the_user()
    guardtest.main()
