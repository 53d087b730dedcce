"""No value of an environment variable gets through."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gordon_core.blueprint import Variable
from gordon_core.effects import Done, Fault, Refused, Unknown
from gordon_shell.redaction import hidden, redacted

TOKEN = Variable("TOKEN", "hunter2")


@pytest.mark.parametrize(
    ("value", "words", "expected"),
    [
        ("hunter2", "hunter2 and hunter2s", "[V] and [V]s"),
        ("a\nlong line", 'env: "V=a\\nlong line"', 'env: "V=[V]"'),
        ("one two\n three", "one two three", "[V]"),
        ("first\nsecond", "cannot read second", "cannot read [V]"),
        ('say "it"', 'V="say \\"it\\""', 'V="[V]"'),
        ("grün!", "gr\\u00fcn! grün!", "[V] [V]"),
        ("80", "port 80 is taken; V=80", "port 80 is taken; V=[V]"),
        ("", "V= is empty", "V= is empty"),
        ("   ", "three   blanks", "three   blanks"),
    ],
)
def test_a_value_is_replaced_by_its_name_in_every_form(value: str, words: str, expected: str) -> None:
    assert expected == redacted(words, (Variable("V", value),))


def test_the_longer_of_two_values_goes_first() -> None:
    assert "[B] [A]" == redacted("secret-more secret", (Variable("A", "secret"), Variable("B", "secret-more")))


@given(st.text(min_size=4).filter(lambda value: "\0" not in value and len(value.strip()) >= 4 and value not in "[NAME]"))
def test_no_text_shows_a_value_whatever_it_is(value: str) -> None:
    assert value not in redacted(f"before {value} after", (Variable("NAME", value),)).replace("[NAME]", "")


def test_only_what_has_a_reason_is_changed() -> None:
    assert Done() == hidden(Done(), (TOKEN,))
    assert Refused("[TOKEN]", Fault.ENGINE) == hidden(Refused("hunter2", Fault.ENGINE), (TOKEN,))
    assert Unknown("[TOKEN]") == hidden(Unknown("hunter2"), (TOKEN,))
