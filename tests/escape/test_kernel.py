"""Attacks by namespaces, odd spellings, rare kernel code, and by running or leaving something."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import attack_case
import guardtest


class Namespaces(attack_case.AttackTestCase, categories=("ns",)):
    pass


class Surface(attack_case.AttackTestCase, categories=("surface",)):
    pass


class Spellings(attack_case.AttackTestCase, categories=("compat",)):
    pass


class Running(attack_case.AttackTestCase, categories=("exec", "res", "defer")):
    pass


if __name__ == "__main__":
    guardtest.main()
