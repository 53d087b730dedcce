"""The words for what is wrong with a document: what somebody most likely meant, what is shown, and where it is."""

import pytest

from gordon_core.shapes import choices, nearest, printable, step


@pytest.mark.parametrize(
    ("word", "words", "meant"),
    [
        pytest.param("declard", ("declared", "memory"), "declared", id="a letter is missing"),
        pytest.param("declaredd", ("declared",), "declared", id="a letter too many"),
        pytest.param("declored", ("declared",), "declared", id="another letter"),
        pytest.param("xdeclare", ("declared",), "declared", id="one at each end"),
        pytest.param("dclrd", ("declared",), None, id="three are missing"),
        pytest.param("xecloreb", ("declared",), None, id="three others"),
        pytest.param("ports12", ("ports",), "ports", id="two too many"),
        pytest.param("ports123", ("ports",), None, id="three too many"),
        pytest.param("xyqorts", ("ports",), None, id="two too many and another"),
        pytest.param("a", ("app",), None, id="more than half of it"),
        pytest.param("ap", ("app",), "app", id="less than half of it"),
        pytest.param("xeen", ("seen",), "seen", id="the first letter"),
        pytest.param("xxen", ("seen",), "seen", id="half of it"),
        pytest.param("seem", ("seed", "seen"), "seed", id="two are as near"),
        pytest.param("sen", ("seen", "send"), "seen", id="the nearest, then the first in order"),
        pytest.param("bindx", ("binds", "bind"), "bind", id="one off, twice"),
        pytest.param("", ("app",), None, id="nothing"),
        pytest.param("app", (), None, id="no words"),
    ],
)
def test_the_word_that_was_meant_is_at_most_two_letters_and_half_of_it_off(
    word: str, words: tuple[str, ...], meant: str | None
) -> None:
    assert meant == nearest(word, words)


def test_one_choice_is_none() -> None:
    assert 'must be "tcp"' == choices(("tcp",))
    assert 'must be one of "tcp", "udp"' == choices(("tcp", "udp"))


def test_what_just_fits_is_not_cut() -> None:
    assert ("abc", "abc...") == (printable("abc", 3), printable("abcd", 3))
    assert (f".{'a' * 60}", f'["{"a" * 60}..."]') == (step("a" * 60), step("a" * 61))
