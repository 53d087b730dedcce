"""What is watched answers as the value itself, in every way in which a fact may ask, and notes what was read."""

from collections.abc import Callable

import pytest
from attrs import evolve, field, frozen

from gordon_core.effects import Done, Probe, Withdraw
from gordon_core.memory import Attempt, Memory, Verified
from gordon_core.observation import Bind, Container, Gone, Health, HealthStatus, Port, RouteSeen, RouteUnread, SeenAs, Unread
from gordon_core.readings import Notes, Reading, bare, plain, watched, watched_time
from gordon_core.snapshot import Subject
from tests.core_examples import BIND, GENERATION, GOOD, HTTP, STARTED, after, attempted_before, good, having, remembering, seen


def asked(question: Callable[[Subject], object], subject: Subject = GOOD) -> tuple[object, list[tuple[str, object]]]:
    """Return the answer to a question about a watched subject, and what was read for it."""
    notes = Notes()
    answer = question(watched(subject, "", notes))
    readings = [(each.path, each.value) for each in notes.readings()]
    assert question(subject) == answer
    return answer, readings


def test_plain_values_are_given_out_bare_with_their_path() -> None:
    assert (True, [("intent", GOOD.intent), ("memory.failures", 0)]) == asked(
        lambda subject: subject.intent is GOOD.intent and subject.memory.failures == 0
    )


def test_a_value_that_is_not_there_is_a_reading() -> None:
    assert (False, [("memory.attempt", None)]) == asked(lambda subject: subject.memory.attempt is not None)


def test_that_something_is_there_is_a_reading_unless_more_of_it_is_read() -> None:
    subject = good(attempted_before)
    there = Attempt("2026-11-30T05:00:00Z")
    assert (True, [("memory.attempt", there)]) == asked(lambda it: it.memory.attempt is not None, subject)
    assert (there.before, [("memory.attempt.before", there.before)]) == asked(
        lambda it: it.memory.attempt is not None and it.memory.attempt.before, subject
    )


def test_what_is_not_there_settles_more_than_what_is_there_beside_it() -> None:
    def question(subject: Subject) -> bool:
        window, declared = subject.memory.window, subject.declared
        return window is None or declared is None

    assert (True, [("declared", GOOD.declared), ("memory.window", None)]) == asked(question)


def test_what_was_read_before_these_two_stays_before_them() -> None:
    _, readings = asked(lambda it: (it.locked, it.inhibited, it.memory.window, it.declared)[2] is None)
    assert [("locked", ""), ("inhibited", ""), ("declared", GOOD.declared), ("memory.window", None)] == readings


def test_an_object_that_nobody_looked_into_is_no_reading() -> None:
    subject = good(after(Withdraw("shop", "web")))
    assert (True, []) == asked(lambda it: it.memory is not None and it.results[0] is not None, subject)


def test_a_value_that_is_read_again_counts_where_it_was_read_last() -> None:
    _, readings = asked(lambda it: (it.locked, it.inhibited, it.locked))
    assert [("inhibited", ""), ("locked", "")] == readings


def test_which_member_of_a_union_it_is_is_a_reading() -> None:
    assert (True, [("seen", Gone())]) == asked(lambda it: isinstance(it.seen, Gone), good(seen(Gone())))
    assert (True, [("route", RouteSeen((BIND,)))]) == asked(lambda it: not isinstance(it.route, RouteUnread))


def test_a_match_finds_the_class_and_its_fields() -> None:
    def question(subject: Subject) -> str:
        match subject.seen:
            case Unread(reason):
                return reason
            case Container(started_at=started_at, health=Health(status=HealthStatus.NONE)):
                return started_at
            case _:
                return ""

    assert (STARTED, [("seen.started_at", STARTED), ("seen.health.status", HealthStatus.NONE)]) == asked(question)
    assert ("silence", [("seen.reason", "silence")]) == asked(question, good(seen(Unread("silence"))))


def test_methods_and_properties_run_on_what_is_watched() -> None:
    assert (False, [("memory.failures", 0), ("memory.attempt", None), ("memory.strikes", None)]) == asked(
        lambda it: it.memory.has_history()
    )
    assert ("shop/web", [("app", "shop"), ("service", "web")]) == asked(lambda it: it.name)


def test_what_is_derived_is_read_as_what_it_is_derived_from() -> None:
    assert (SeenAs.RUNNING, [("seen.started_at", STARTED), ("seen.status", GOOD.seen.status)]) == asked(lambda it: it.seen_as)
    binds, readings = asked(lambda it: it.binds)
    assert ((BIND,), ["declared.ports", "seen.ports[0].port", "seen.ports[0].host_ip", "seen.ports[0].host_port"]) == (
        binds,
        [path for path, _ in readings],
    )


@frozen
class Cut:
    """Something with a length that is derived, a half of it that may be given, and two fields that are as they always are."""

    starts: int
    ends: int
    length: int = field(init=False)
    half: int = field()
    edges: int = field(init=False, default=2)
    kept: list[int] = field(init=False, factory=list, eq=False)

    @length.default
    def _length(self) -> int:
        return self.ends - self.starts

    @half.default
    def _half(self) -> int:
        return self.length // 2


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (lambda it: it.length, [Reading("it.starts", 3), Reading("it.ends", 9)]),
        (lambda it: it.half, [Reading("it.half", 4)]),
        (lambda it: it.edges, [Reading("it.edges", 2)]),
        (lambda it: it.kept, [Reading("it.kept", [])]),
    ],
)
def test_derived_is_what_cannot_be_given_and_is_made_of_the_rest(
    question: Callable[[Cut], object], expected: list[Reading]
) -> None:
    cut, notes = Cut(3, 9, half=4), Notes()
    assert question(cut) == question(watched(cut, "it", notes))
    assert expected == sorted(notes.readings(), key=lambda each: each.path, reverse=True)


def test_an_attribute_that_is_not_there_is_not_there() -> None:
    asked(lambda it: getattr(it.memory, "nonsense", "nothing"))


EMPTY = having(orphans=())
TWO = having(orphans=("one", "two"))


@pytest.mark.parametrize(
    ("question", "path"),
    [
        (lambda it: bool(it.orphans), "orphans"),
        (lambda it: len(it.orphans), "orphans"),
        (lambda it: list(it.orphans), "orphans"),
        (lambda it: set(it.orphans), "orphans"),
        (lambda it: (*it.orphans, "three"), "orphans"),
        (lambda it: "two" in it.orphans, "orphans"),
        (lambda it: it.orphans == ("one", "two"), "orphans"),
        (lambda it: it.orphans == it.orphans, "orphans"),
        (lambda it: it.orphans != ("one",), "orphans"),
        (lambda it: it.orphans != ("one", "two"), "orphans"),
        (lambda it: ("one", "two") == it.orphans, "orphans"),
        (lambda it: {it.orphans: 1}[("one", "two")], "orphans"),
        (lambda it: it.orphans[1:], "orphans"),
        (lambda it: it.orphans[-1], "orphans[1]"),
        (lambda it: it.orphans[0], "orphans[0]"),
    ],
)
def test_tuples_note_what_is_asked_of_them(question: Callable[[Subject], object], path: str) -> None:
    _, readings = asked(question, good(TWO))
    assert path == readings[-1][0]


def test_one_of_a_tuple_is_a_reading_of_its_own() -> None:
    assert (True, [("orphans[1]", "two")]) == asked(lambda it: it.orphans[-1] == "two", good(TWO))


def test_members_of_a_tuple_are_watched_under_their_index() -> None:
    subject = good(after(Withdraw("shop", "web")), after(Probe(GENERATION, STARTED, (BIND,), 0.0)))
    found, readings = asked(lambda it: [each.outcome for each in it.results if isinstance(each.effect, Probe)], subject)
    assert ([Done()], ["results[0].effect", "results[1].effect"]) == (found, [path for path, _ in readings])
    _, readings = asked(lambda it: it.results[-1].outcome == Done(), subject)
    assert [("results[1].outcome", Done())] == readings


def test_a_whole_that_settled_it_stays_though_parts_of_it_were_read() -> None:
    _, readings = asked(lambda it: (it.results[0].effect == Done(), bool(it.results)), good(after(Withdraw("shop", "web"))))
    assert ["results[0].effect", "results"] == [path for path, _ in readings]


def test_values_are_equal_and_hash_as_they_are() -> None:
    port = Port(80)
    _, readings = asked(lambda it: it.declared is not None and it.declared.ports[0] == port and port in it.declared.ports)
    assert ("declared.ports", (HTTP,)) == readings[-1]
    known = {BIND: "its own", Bind(HTTP, 1): "another"}
    assert "its own" == asked(lambda it: isinstance(it.route, RouteSeen) and known[it.route.binds[0]])[0]


def test_sets_of_watched_and_of_bare_values_compare() -> None:
    def question(subject: Subject) -> bool:
        assert subject.declared is not None
        assert isinstance(subject.route, RouteSeen)
        return set(subject.route.binds) <= {BIND, Bind(HTTP, 1)} and {*subject.declared.binds} == {BIND}

    assert asked(question)[0]


def test_what_is_watched_can_be_had_bare() -> None:
    notes = Notes()
    assert bare(watched(GOOD, "it", notes)) is GOOD
    assert bare(watched(("a",), "these", notes)) == ("a",)
    assert bare(3) == 3
    assert ["it", "these"] == [each.path for each in notes.readings()]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (lambda now_s: now_s < 10.0, False),
        (lambda now_s: now_s <= 10.0, True),
        (lambda now_s: now_s > 10.0, False),
        (lambda now_s: now_s >= 10.0, True),
        (lambda now_s: 9.0 < now_s, True),
        (lambda now_s: now_s - 4.0, 6.0),
        (lambda now_s: min(now_s, 11.0), 10.0),
    ],
)
def test_the_time_is_noted_where_it_matters(question: Callable[[float], object], answer: object) -> None:
    notes = Notes()
    assert answer == question(watched_time(10.0, notes))
    assert (Reading("clock.boot_s", 10.0),) == notes.readings()


def test_a_time_that_nobody_asks_for_is_no_reading() -> None:
    notes = Notes()
    assert isinstance(watched_time(10.0, notes), float)
    assert () == notes.readings()


def test_a_path_is_that_of_a_document() -> None:
    verified = Verified(STARTED, (BIND,), 3)
    subject = evolve(good(remembering(failures=2)), memory=Memory(verified=verified))
    _, readings = asked(lambda it: it.memory.verified is not None and it.memory.verified.binds[0].port.number, subject)
    assert [("memory.verified.binds[0].port", HTTP)] == readings


def test_values_as_data_are_as_in_documents() -> None:
    assert {"route": "seen", "binds": [{"port": "80/tcp", "host_port": 32768}]} == plain(RouteSeen((BIND,)))
    assert {"seen": "gone"} == plain(Gone())
    assert [1, "starting", None, "80/tcp"] == plain((1, HealthStatus.STARTING, None, HTTP))
