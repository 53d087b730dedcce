"""Which characters are printed as they are: the same ones on every Python, whatever its Unicode tables say.

`str.isprintable` follows the tables of each Python, so that a plan would not be the same bytes everywhere. What is not listed
here, controls, direction marks and all that can steer or mislead a terminal among it, is printed as its escape.
"""

_PRINTED = (
    (0x20, 0x7E),  # ASCII
    (0xA1, 0xAC), (0xAE, 0x24F),  # Latin
    (0x391, 0x3A1), (0x3A3, 0x3FF),  # Greek
    (0x400, 0x481), (0x48A, 0x52F),  # Cyrillic
    (0x2010, 0x2027), (0x2030, 0x205E),  # punctuation
    (0x3001, 0x303E), (0x3041, 0x3096), (0x30A1, 0x30FF),  # Japanese
    (0x4E00, 0x9FD0), (0xAC00, 0xD7A3),  # Chinese, Korean
)  # fmt: skip


def prints(character: str) -> bool:
    """Tell whether a character is printed as it is."""
    code = ord(character)
    return any(first <= code <= last for first, last in _PRINTED)


def escaped(text: str) -> str:
    """Return the text with an escape, as in a Python string, for each character that is not printed as it is."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(each if prints(each) else each.encode("unicode_escape").decode() for each in text)
