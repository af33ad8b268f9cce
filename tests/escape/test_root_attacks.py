"""Attacks that only root can make: what a run of root's must not be able to do either.

A run of root's has no capability left. What an ordinary user may do is tested by the other files; here
are the calls that the kernel itself refuses to an ordinary user, and the set-user-ID program, which
takes root to make and an ordinary user to run.
"""
import os
import pathlib
import pwd
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import attack_case
import attacks
import guardtest

USER = os.environ.get("GUARD_TEST_USER") or "guardtest"


class OfRoot(attack_case.AttackTestCase, categories=attacks.CATEGORIES, only_who="root"):
    pass


class AsRoot(attack_case.AttackTestCase, categories=("fs", "proc", "exec")):
    pass


class SetUserId(guardtest.TestCase):
    """A set-user-ID program of root's in a read grant, started by an ordinary user's run."""

    def setUp(self):
        super().setUp()
        try:
            self.user = pwd.getpwnam(USER)
        except KeyError:
            self.skipTest(f"kernel: there is no user {USER}")
        os.chmod(self.work, 0o755)
        self.program = self.ro / "program"
        shutil.copy(guardtest.probe("attack_exec"), self.program)
        os.chmod(self.program, 0o4755)
        os.chown(self.ws, self.user.pw_uid, self.user.pw_gid)

    def as_user(self, argv, **how):
        return guardtest.run(argv, cwd=self.ws, user=self.user.pw_uid, group=self.user.pw_gid,
                             extra_groups=[], **how)

    def test_makes_nobody_root_through_xenarch_guard(self):
        argv = [self.program, "effective_user"]
        self.assertIn("effective user 0\n", self.as_user(argv).out)
        confined = self.as_user([guardtest.BIN / "xenarch-guard", "--allow-read", self.ro, "--",
                                 *argv], env={"HOME": self.user.pw_dir})
        self.assertIn(f"effective user {self.user.pw_uid}\n", confined.out, confined)


if __name__ == "__main__":
    if os.getuid() != 0:
        print("these are root's")
        sys.exit(77)
    guardtest.main()
