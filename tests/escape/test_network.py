"""Attacks through the network and through services on Unix sockets."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import attack_case
import attacks
import guardtest


class Network(attack_case.AttackTestCase, categories=("net",)):
    pass


class UnixSockets(attack_case.AttackTestCase, categories=("unix",)):
    pass


@unittest.skipIf(attack_case.ABI < attacks.PORTS_ABI, "kernel: granting ports needs Landlock ABI 4")
class SignalStorm(attack_case.AttackTestCase):
    """Connecting under a storm of signals: each connection is made once, however often it was begun."""

    CONNECTIONS = 200

    def check_door(self, door):
        storm = attacks.Attack("net.storm", "attack_net tcp_in_signal_storm 127.0.0.1 {granted_tcp} "
                               f"{self.CONNECTIONS}", attacks.DID)
        self.outside.reset("storm")
        command = self.command(storm, door)
        rc, out, err, _ = self.on_pipes(storm, door, command)
        self.assertEqual((rc, out), (0, "did\n"), err)
        arrived = [name for name, _ in self.outside.services.drain()]
        self.assertEqual(arrived, ["granted_tcp"] * self.CONNECTIONS)

    def test_loses_and_doubles_nothing_unconfined(self):
        self.check_door(attack_case.UNCONFINED)

    def test_loses_and_doubles_nothing_through_xenarch_guard(self):
        self.check_door(attacks.ONESHOT)

    def test_loses_and_doubles_nothing_through_guardctl_run(self):
        self.check_door(attacks.DAEMON)


if __name__ == "__main__":
    guardtest.main()
