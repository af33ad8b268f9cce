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


if __name__ == "__main__":
    guardtest.main()
