"""What events point at: coalesced, spaced for each service, and free of charge for containers that are not ours."""

from math import inf

from gordon_shell.hints import MOST_NAMES, SPACING_S, Agenda, Hints

WEB, API = ("shop", "web"), ("shop", "api")
OWNERS = {"w": WEB, "w-old": WEB, "a": API}


def test_a_thousand_hints_at_one_container_are_one_and_ring_once() -> None:
    rings: list[str] = []
    hints = Hints(lambda: rings.append("ring"))
    hints.ours = OWNERS
    for _ in range(1000):
        hints.put("w")
    assert ["ring"] == rings
    assert frozenset({"w"}) == hints.take()
    assert frozenset() == hints.take()
    hints.put("w")
    assert 2 == len(rings)


def test_news_of_a_thousand_strangers_rings_once_and_news_of_ours_always() -> None:
    rings: list[str] = []
    hints = Hints(lambda: rings.append("ring"))
    hints.ours = OWNERS
    for each in range(1000):
        hints.put(f"foreign-{each}")
    assert ["ring"] == rings
    hints.put("w")
    assert 2 == len(rings)


def test_more_names_than_can_be_kept_are_a_look_at_everything() -> None:
    hints = Hints()
    for each in range(MOST_NAMES):
        hints.put(f"{each}")
    assert not hints.wants_whole
    hints.put("one more")
    assert hints.wants_whole
    assert frozenset() == hints.take()


def test_a_look_at_everything_answers_what_was_said_before_it() -> None:
    hints = Hints()
    hints.put("w")
    hints.ask_whole()
    hints.take_whole()
    assert not hints.wants_whole
    assert frozenset() == hints.take()


def test_hints_are_of_services_and_each_comes_at_once_the_first_time() -> None:
    agenda = Agenda()
    agenda.add({"w", "w-old", "a"}, OWNERS, 100.0)
    assert (API, WEB) == agenda.due(100.0, ())
    assert 0.0 == agenda.due_in_s(100.0, ())


def test_a_service_gets_one_targeted_pass_a_second_and_others_do_not_wait_for_that() -> None:
    agenda = Agenda()
    agenda.add({"w"}, OWNERS, 100.0)
    agenda.begin([WEB], 100.0)
    agenda.add({"w", "a"}, OWNERS, 100.1)
    assert (API,) == agenda.due(100.1, ())
    agenda.begin([API], 100.1)
    assert () == agenda.due(100.9, ())
    assert 1.0 == SPACING_S
    assert 0.5 == agenda.due_in_s(100.5, ())
    assert (WEB,) == agenda.due(101.0, ())


def test_a_busy_service_is_looked_at_once_it_is_not() -> None:
    agenda = Agenda()
    agenda.add({"w"}, OWNERS, 100.0)
    assert () == agenda.due(100.0, {WEB})
    assert inf == agenda.due_in_s(100.0, {WEB})
    assert (WEB,) == agenda.due(100.0, ())


def test_a_look_that_began_after_the_hint_has_answered_it() -> None:
    agenda = Agenda()
    agenda.add({"w", "a"}, OWNERS, 100.0)
    agenda.answered(WEB, 99.9)
    agenda.answered(API, 100.1)
    assert (WEB,) == agenda.due(100.2, ())


def test_what_could_not_be_done_comes_again_after_a_second_and_no_look_has_answered_it() -> None:
    agenda = Agenda()
    agenda.add({"w"}, OWNERS, 100.0)
    agenda.begin([WEB], 100.0)
    agenda.again([WEB])
    assert () == agenda.due(100.5, ())
    assert (WEB,) == agenda.due(101.0, ())


def test_strangers_are_asked_after_at_most_once_a_second_and_forgotten_where_nobody_knows_them() -> None:
    agenda = Agenda()
    agenda.add({"new", "foreign"}, OWNERS, 100.0)
    assert agenda.is_to_meet(100.0)
    assert () == agenda.due(100.0, ())
    agenda.meet(OWNERS | {"new": WEB}, 100.0)
    assert (WEB,) == agenda.due(100.0, ())
    assert not agenda.is_to_meet(200.0)
    agenda.add({"foreign"}, OWNERS, 100.1)
    assert not agenda.is_to_meet(100.9)
    assert 0.0 < agenda.due_in_s(100.5, {WEB}) <= 0.5
    assert agenda.is_to_meet(101.0)


def test_a_look_at_everything_clears_the_agenda_but_for_what_is_busy() -> None:
    agenda = Agenda()
    agenda.add({"w", "a", "foreign"}, OWNERS, 100.0)
    agenda.clear(100.0, {WEB})
    assert (WEB,) == agenda.due(100.0, ())
    assert not agenda.is_to_meet(100.0)
