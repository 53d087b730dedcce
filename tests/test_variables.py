"""Environment variables as they are written; no error shows a value."""

import pytest

from gordon_core.blueprint import Variable
from gordon_shell import variables
from gordon_shell.errors import DocumentError, UsageError
from tests.deploys import SECRET


def test_a_name_alone_is_taken_from_the_environment_of_the_caller() -> None:
    found = variables.of_words(("MODE=live", "EMPTY=", "PASSWORD", "MODE=a=b"), {"PASSWORD": SECRET, "MODE": "other"})
    assert (Variable("MODE", "live"), Variable("EMPTY", ""), Variable("PASSWORD", SECRET), Variable("MODE", "a=b")) == found


@pytest.mark.parametrize("word", [f"={SECRET}", f"MY NAME={SECRET}", f"7={SECRET}", SECRET])
def test_what_is_no_name_is_refused_without_its_value(word: str) -> None:
    with pytest.raises(UsageError) as raised:
        variables.of_words((word,), {})
    assert "what stands before = after --env is no name of a variable; write NAME=VALUE, or NAME alone" == str(raised.value)


def test_a_name_that_the_caller_has_not_is_refused() -> None:
    with pytest.raises(
        UsageError, match="the environment of this command has no PASSWORD; set it first, or write PASSWORD=VALUE"
    ):
        variables.of_words(("PASSWORD",), {})


def test_a_file_has_one_a_line_and_remarks() -> None:
    text = "# secrets\n\nPASSWORD=tr0ub4dor&3 # not a remark\r\n  MODE\nEMPTY=\n"
    expected = (Variable("PASSWORD", f"{SECRET} # not a remark"), Variable("MODE", "live"), Variable("EMPTY", ""))
    assert expected == variables.of_file("secrets.env", text, {"MODE": "live"})


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (f"A=1\nKEY={SECRET}\n{SECRET}==\n", "secrets.env, line 3: this is no NAME=VALUE"),
        (f"{SECRET} =1", "secrets.env, line 1: this is no NAME=VALUE"),
        (f"A={SECRET}\0", "secrets.env, line 1: this is no NAME=VALUE"),
        ("\nhunter2", "secrets.env, line 2: a name without a value, and the environment of this command has no such variable"),
    ],
)
def test_a_line_that_is_none_is_named_and_not_shown(text: str, wrong: str) -> None:
    with pytest.raises(DocumentError) as raised:
        variables.of_file("secrets.env", text, {})
    assert wrong == str(raised.value).partition(";")[0]
    assert SECRET not in str(raised.value)
    assert "hunter2" not in str(raised.value)


def test_what_comes_later_outweighs_what_came_before() -> None:
    first, second = (Variable("A", "1"), Variable("B", "1")), (Variable("A", "2"), Variable("C", "2"))
    assert (Variable("A", "2"), Variable("B", "1"), Variable("C", "2")) == variables.united(first, second)


def test_one_can_be_left_out() -> None:
    every = (Variable("A", SECRET), Variable("B", "1"))
    assert every[1:] == variables.without(every, ("A",))


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (("C",), "there is no variable C to leave out beyond what the image brings; it has A, B"),
        ((f"A={SECRET}",), "--unset-env takes the name of a variable alone; leave out = and what follows"),
    ],
)
def test_one_that_is_not_there_cannot_be_left_out(words: tuple[str, ...], wrong: str) -> None:
    with pytest.raises(UsageError) as raised:
        variables.without((Variable("B", "1"), Variable("A", SECRET)), words)
    assert wrong == str(raised.value)


def test_where_there_are_none_that_is_said() -> None:
    with pytest.raises(UsageError, match="it has none of its own"):
        variables.without((), ("A",))
