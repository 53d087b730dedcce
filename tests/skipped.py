"""Say in the last lines of `make test` which tests were skipped, why, and how to have them run, from pytest's JUnit reports."""

import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

HOW_TO = """\
To run them too:
  engine: as root, with Debian's docker.io, busybox-static, iproute2 and iptables installed:
          tests/private_engine start DIR; tests/private_engine exec DIR make test; tests/private_engine stop DIR
          (an engine of their own, in a network namespace of its own; .ci/run does all of it)
  proxy:  install HAProxy 2.6 or newer so that `haproxy` is on the path (apt-get install haproxy)
  Chromium: apt-get install chromium, or another one that is called chromium-browser or google-chrome"""


def skipped(report: Path) -> Counter[str]:
    """Return how many tests were skipped, by reason."""
    root = ET.parse(report).getroot()  # noqa: S314 - pytest wrote it a moment ago
    marks = (each for each in root.iter("skipped") if each.get("type") == "pytest.skip")
    return Counter(each.get("message", "no reason given") for each in marks)


def main() -> None:
    """Print the summary for the reports that the arguments name."""
    reports = [Path(each) for each in sys.argv[1:]]
    if not all(each.exists() for each in reports):
        print("What was skipped is not known, since pytest did not get as far as its report.")
        return
    reasons = sum(map(skipped, reports), Counter[str]())
    if not reasons:
        print("No test was skipped.")
        return
    print(f"Skipped: {reasons.total()} of the tests, and nothing is known of what they would show.")
    for reason, times in sorted(reasons.items()):
        print(f"  {times:4} x {reason}")
    print(HOW_TO)


if __name__ == "__main__":
    main()
