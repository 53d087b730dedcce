"""What of the README is generated: the tables of the law, and the sample. `python -m tests.tables` puts it where it belongs."""

from collections.abc import Iterable, Sequence
from enum import Enum
from pathlib import Path

from gordon_core import candidates, deploys, services, superseded
from gordon_core.document import read_snapshot
from gordon_core.observation import SeenAs
from gordon_core.planner import plan
from gordon_core.situations import REMEDIES, REMEDIES_IN_THE_DARK, Situation
from gordon_shell.explain_verbs import NO_PAST
from gordon_shell.explaining import Past, told
from gordon_shell.explanation_text import text as explanation_text
from gordon_shell.text import text

SAMPLE, EXPLAINED = "examples/sample.json", "shop/db"
README = Path(__file__).resolve().parents[1] / "README.md"


def services_table() -> str:
    """Return the law for services as a Markdown table."""
    rows = (
        (
            _named(row.scopes, services.Scope, "any"),
            _named(row.looks, SeenAs, "anything"),
            row.situation.name,
            _words(row.holds.__doc__),
            _words(row.effect.__doc__) if row.effect is not None else _standing(row.situation),
            row.rule,
        )
        for row in services.ROWS
    )
    return _table(("wanted", "seen", "situation", "when", "then", "rule"), rows)


def superseded_table() -> str:
    """Return the law for superseded containers as a Markdown table."""
    return _table_of_others(superseded.ROWS)


def candidates_table() -> str:
    """Return the law for candidates as a Markdown table."""
    return _table_of_others(candidates.ROWS)


def deploys_table() -> str:
    """Return the law for deploys as a Markdown table."""
    rows = (
        (row.stage.name, _words(row.holds.__doc__), _words(row.command.__doc__) if row.command is not None else "**over**")
        for row in deploys.ROWS
    )
    return _table(("stage", "when", "then"), rows)


def _table_of_others(rows: Iterable[superseded.Row] | Iterable[candidates.Row]) -> str:
    """Return a law about the other containers of a service as a Markdown table."""
    cells = (
        (
            _named(row.looks, SeenAs, "anything"),
            row.situation.name,
            _words(row.holds.__doc__),
            _words(row.effect.__doc__) if row.effect is not None else _standing(row.situation),
        )
        for row in rows
    )
    return _table(("seen", "situation", "when", "then"), cells)


def sample() -> str:
    """Return what `gordon-plan` prints of the example in the README, as a Markdown block with its command."""
    snapshot = read_snapshot((README.parent / SAMPLE).read_bytes())
    return f"```text\n$ gordon-plan {SAMPLE}\n{text(snapshot, plan(snapshot))}```\n"


def explained() -> str:
    """Return what `gordon-plan explain` says of one service of that example, as a Markdown block with its command."""
    snapshot = read_snapshot((README.parent / SAMPLE).read_bytes())
    words = explanation_text(told(snapshot, EXPLAINED, lambda _app, _service: Past(unread=NO_PAST)))
    return f"```text\n$ gordon-plan explain {EXPLAINED} {SAMPLE}\n{words}```\n"


def with_tables(readme: str) -> str:
    """Return the README with its generated parts as the code makes them now."""
    parts = (
        ("table: services", services_table()),
        ("table: superseded", superseded_table()),
        ("table: candidates", candidates_table()),
        ("table: deploys", deploys_table()),
        ("sample", sample()),
        ("explained", explained()),
    )
    for name, made in parts:
        opening, closing = f"<!-- {name} -->\n", "<!-- end -->"
        before, found, rest = readme.partition(opening)
        assert found, f"the README has no place for {name}"
        readme = f"{before}{opening}{made}{closing}{rest.partition(closing)[2]}"
    return readme


def _standing(situation: Situation) -> str:
    if situation in REMEDIES_IN_THE_DARK:
        return "**held** if it is to run and does not serve"
    return "**held**" if situation in REMEDIES else "-"


def _named(chosen: Sequence[Enum], all_of: Iterable[Enum], every: str) -> str:
    return every if tuple(chosen) == tuple(all_of) else ", ".join(str(each.value) for each in chosen)


def _words(docstring: str | None) -> str:
    assert docstring, "every fact and every command has a docstring"
    return " ".join(docstring.split()).rstrip(".")


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [("#", *heads), ("---:", *("---" for _ in heads))]
    lines += [(str(number), *row) for number, row in enumerate(rows, 1)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    README.write_text(with_tables(README.read_text(encoding="utf-8")), encoding="utf-8")
