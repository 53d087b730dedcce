"""What a run tells when it fails: who did what, and when, in plain words; and the one exception that ends it."""

from attrs import define, field, frozen

from gordon_core.observation import Binds


class Violated(BaseException):
    """An invariant does not hold. It is no Exception, so that no boundary of the product under test swallows it."""

    def __init__(self, invariant: str, wrong: str) -> None:
        """Name the invariant, and say what is wrong."""
        super().__init__(f"{invariant}: {wrong}")
        self.invariant = invariant
        self.wrong = wrong


@frozen
class Line:
    """One thing that happened. `at_s` counts seconds since the world began."""

    at_s: float
    text: str
    args: tuple[object, ...]

    def __str__(self) -> str:
        """Print as one line."""
        return f"{self.at_s:10.2f} s  {self.text.format(*self.args)}"


@define(eq=False)
class Story:
    """Everything that happened in a world, in order. Words are put together only when the story is told."""

    lines: list[Line] = field(factory=list)

    def tell(self, at_s: float, text: str, *args: object) -> None:
        """Note that something happened."""
        self.lines.append(Line(at_s, text, args))

    def last(self, most: int) -> str:
        """Return the last lines of it, as text."""
        left_out = len(self.lines) - most
        head = [f"            ({left_out} lines before these)"] if left_out > 0 else []
        return "\n".join([*head, *map(str, self.lines[-most:])])


def words_of(binds: Binds) -> str:
    """Say where binds lead."""
    return ", ".join(str(each) for each in binds) or "nothing"
