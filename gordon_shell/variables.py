"""Environment variables as they are written on a command line and in files. Pure, and no error shows a value."""

import re
from collections.abc import Iterable, Mapping

from gordon_core.blueprint import Variable
from gordon_shell.errors import DocumentError, UsageError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


def of_words(words: Iterable[str], caller: Mapping[str, str]) -> tuple[Variable, ...]:
    """Return the variables that NAME[=VALUE] words name, without =VALUE from the environment of the caller. Raise UsageError."""
    return tuple(_of_word(each, caller) for each in words)


def _of_word(word: str, caller: Mapping[str, str]) -> Variable:
    name, equals, value = word.partition("=")
    if not _NAME.fullmatch(name):
        message = "what stands before = after --env is no name of a variable; write NAME=VALUE, or NAME alone"
        raise UsageError(message)
    if not equals and name not in caller:
        message = f"the environment of this command has no {name}; set it first, or write {name}=VALUE"
        raise UsageError(message)
    return Variable(name, value if equals else caller[name])


def of_file(path: str, text: str, caller: Mapping[str, str]) -> tuple[Variable, ...]:
    """Return the variables of a file: NAME[=VALUE] a line, blank lines and those that begin with # aside.

    Raise DocumentError, which names the line, and never shows it: a line may be a part of a value.
    """
    lines = ((number, line.strip("\r")) for number, line in enumerate(text.split("\n"), 1))
    said = ((number, line) for number, line in lines if line.strip() and not line.lstrip().startswith("#"))
    return tuple(_of_line(f"{path}, line {number}", line.lstrip(), caller) for number, line in said)


def _of_line(place: str, line: str, caller: Mapping[str, str]) -> Variable:
    name, equals, value = line.partition("=")
    if not _NAME.fullmatch(name.rstrip() if not equals else name) or "\0" in value:
        message = f"{place}: this is no NAME=VALUE; write one variable a line, and none over several lines"
        raise DocumentError(message)
    if not equals and name.rstrip() not in caller:
        message = f"{place}: a name without a value, and the environment of this command has no such variable; add =VALUE"
        raise DocumentError(message)
    return Variable(name.rstrip(), value if equals else caller[name.rstrip()])


def united(*several: Iterable[Variable]) -> tuple[Variable, ...]:
    """Return each variable once; what comes later outweighs what came before, at the place where that stood."""
    found = {each.name: each for some in several for each in some}
    return tuple(found.values())


def without(environment: Iterable[Variable], left_out: Iterable[str]) -> tuple[Variable, ...]:
    """Return the variables but for those that are to be left out. Raise UsageError for one that is not there."""
    every, names = tuple(environment), tuple(left_out)
    known = {each.name for each in every}
    for each in names:
        name = each.partition("=")[0]
        if name != each or not _NAME.fullmatch(name):
            message = "--unset-env takes the name of a variable alone; leave out = and what follows"
            raise UsageError(message)
        if name not in known:
            has = f"it has {', '.join(sorted(known))}" if known else "it has none of its own"
            message = f"there is no variable {name} to leave out beyond what the image brings; {has}"
            raise UsageError(message)
    return tuple(each for each in every if each.name not in names)
