"""What is remembered, in words."""

import pytest

from gordon_core.memory import Attempt, Strikes, Window
from gordon_core.snapshot import Subject
from gordon_shell.memory_text import memory_in_words
from tests.core_examples import (
    CLOCK,
    EARLIER,
    LATER,
    NOBODY,
    NOW_S,
    STARTED,
    attempt_on_record,
    attempted_before,
    down,
    good,
    having,
    never_verified,
    remembering,
    restarted,
    struck_once,
)

VERIFIED = "this execution was verified, of revision 3, at 80/tcp at 32768"
OF_STARTED = f"for the execution that started at {STARTED}"
AFTER = "an attempt is on record, made after the execution that started at"
BEFORE = f"the execution that started at {STARTED} was verified, of revision 3, at 80/tcp at 32768"


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        (NOBODY, ["nothing is remembered of it"]),
        (good(), [VERIFIED]),
        (
            good(down, remembering(failures=6, charged=STARTED, charged_at_s=NOW_S - 228)),
            [
                f"6 failures counted; the latest charge was at 06:56:12Z, 3 min 48 s ago, {OF_STARTED}",
                "its budget opens again at 07:04:12Z, in 4 min 12 s",
                BEFORE,
            ],
        ),
        (
            good(down, never_verified, remembering(failures=1, charged="", charged_at_s=NOW_S, verified=None)),
            ["1 failure counted; the latest charge was at 07:00:00Z, 0 s ago, for a start that was refused"],
        ),
        (
            good(down, remembering(charged=STARTED, verified=None)),
            [f"no failure counted; the latest charge was before this boot, {OF_STARTED}"],
        ),
        (
            good(attempted_before),
            [f"{AFTER} {EARLIER}, and it took effect", VERIFIED],
        ),
        (
            good(down, attempt_on_record),
            [
                f"an attempt is on record, made after the execution that started at {STARTED}, and it has not taken effect yet",
                BEFORE,
            ],
        ),
        (good(struck_once), ["1 strike of 2 counted", VERIFIED]),
        (
            good(remembering(strikes=Strikes(EARLIER, 2, "x"))),
            ["2 strikes of 2 counted, for an earlier execution", VERIFIED],
        ),
        (
            good(remembering(window=Window(STARTED, NOW_S - 48, NOW_S))),
            ["stable since 06:59:12Z; what it has failed is forgotten at 07:04:12Z, if it stays so", VERIFIED],
        ),
        (
            good(remembering(window=Window(LATER, NOW_S - 48, NOW_S))),
            ["stable since 06:59:12Z, in an earlier execution", VERIFIED],
        ),
        (good(restarted), [BEFORE]),
        (
            good(down, remembering(contested_port=32768, again=True, verified=None)),
            [
                "it was stopped for port 32768, which the route of another service names",
                "it is to be started again, although it is done",
            ],
        ),
        (
            good(having(declared=None), remembering(strikes=Strikes(STARTED, 1, "x"), verified=None)),
            ["1 strike counted"],
        ),
    ],
)
def test_what_is_remembered(subject: Subject, words: list[str]) -> None:
    assert words == list(memory_in_words(subject, CLOCK))


def test_an_attempt_at_what_never_ran_says_so() -> None:
    (attempt,) = memory_in_words(good(down, remembering(attempt=Attempt(""), verified=None)), CLOCK)
    assert "an attempt is on record, made before it ever started, and it took effect" == attempt
