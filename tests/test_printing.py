"""What is printed as it is, is the same on every Python, and cannot steer a terminal."""

import sys

import pytest

from gordon_core.printing import escaped, prints


@pytest.mark.unmeasured
def test_nothing_is_printed_as_it_is_that_python_itself_would_escape() -> None:
    assert [] == [chr(each) for each in range(sys.maxunicode + 1) if prints(chr(each)) and not chr(each).isprintable()]


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("plain ~", "plain ~"),
        ("Zuse-Straße, 東京, Київ", "Zuse-Straße, 東京, Київ"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("line\nend", "line\\nend"),
        ("\u202eright to left", "\\u202eright to left"),
        ("\xa0\xad", "\\xa0\\xad"),
        ("\U0001fae8", "\\U0001fae8"),
        ("", ""),
    ],
)
def test_the_rest_is_printed_as_its_escape(text: str, printed: str) -> None:
    assert printed == escaped(text)


@pytest.mark.parametrize(
    ("first", "last"), [("\x20", "~"), ("\xa1", "\xac"), ("\u0391", "\u03a1"), ("\u2010", "\u2027"), ("\uac00", "\ud7a3")]
)
def test_a_range_holds_its_ends_and_nothing_beyond(first: str, last: str) -> None:
    around = (chr(ord(first) - 1), first, last, chr(ord(last) + 1))
    assert (False, True, True, False) == tuple(map(prints, around))
    assert f"{first}{last}\\x00" == escaped(f"{first}{last}\0")
