"""Attacks on other processes, on objects they share, on the terminal; and by outliving the run."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import attack_case
import guardtest


class Processes(attack_case.AttackTestCase, categories=("proc",)):
    pass


class SharedObjects(attack_case.AttackTestCase, categories=("ipc",)):
    pass


class Terminal(attack_case.AttackTestCase, categories=("tty",)):
    pass


class Survivors(attack_case.AttackTestCase, categories=("life",)):
    pass


class HeldOutput(attack_case.AttackTestCase):
    """A process that stays behind with the output open delays nobody who reads it to its end."""

    def test_ends_with_the_run_through_guardctl_run(self):
        marker = f"{self.outside.token}-held"
        self.outside.reset(marker)
        argv = [self.outside.bin / "attack_life", "held_output", marker, self.outside.ws / "stop"]
        result = self.guardd.run(argv, "--allow-read", self.outside.ro, "--allow-write",
                                 self.outside.ws, cwd=self.outside.ws, timeout=15)
        self.assertEqual((result.rc, result.out), (0, "did\n"), result)
        self.assertEqual(self.survivors(marker), [])


if __name__ == "__main__":
    guardtest.main()
