"""Bombs against the clock: each of them, not most of them, is over within its time. On an otherwise
idle machine; the default tier asks for the same but for the clock."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import guardtest  # noqa: E402

SCOPE_ABI = 6


@guardtest.needs_landlock_abi(SCOPE_ABI, "the kill of a domain")
class Bombs(guardtest.TestCase):
    def test_three_hundred_processes_end_within_half_a_second_of_their_limit(self):
        guardd = self.start_daemon()
        bystander = self.sleeper()
        marker = f"bomb-{self.marker}"  # the marker itself is in guardd's own arguments
        seconds = []
        for turn in range(20):
            mode = ("setsid", "daemon")[turn % 2]
            result = guardd.run([guardtest.probe("forker"), mode, "300", "20", marker],
                                "--allow-read", guardtest.PROBES, "--timeout", "1s")
            self.assertEqual(result.rc, guardtest.TIMED_OUT, result)
            self.assertEqual(guardtest.processes_matching(marker), [], f"turn {turn}, {mode}")
            self.assertTrue(guardtest.alive(bystander.pid))
            seconds.append(result.seconds)
        print(f"seconds: {sorted(round(s, 3) for s in seconds)}", file=sys.stderr)
        self.assertLess(max(seconds), 1.5, seconds)


if __name__ == "__main__":
    guardtest.main()
