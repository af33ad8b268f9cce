"""Attacks on files: by path, by attributes, by descriptors left open, by learning about them."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import attack_case
import guardtest


class ByPath(attack_case.AttackTestCase, categories=("fs", "fd")):
    pass


class ByAttributes(attack_case.AttackTestCase, categories=("meta",)):
    pass


class Leaks(attack_case.AttackTestCase, categories=("leak",)):
    pass


if __name__ == "__main__":
    guardtest.main()
