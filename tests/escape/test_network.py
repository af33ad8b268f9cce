"""Attacks through the network and through services on Unix sockets."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest
import attack_case


class Network(attack_case.AttackTestCase, categories=("net",)):
    pass


class UnixSockets(attack_case.AttackTestCase, categories=("unix",)):
    pass


if __name__ == "__main__":
    guardtest.main()
