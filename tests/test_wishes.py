"""What an operator names: containers by name or ID, services of Docker Compose, and what is said of each."""

import pytest

from gordon_core.observation import Status
from gordon_shell.errors import UsageError
from gordon_shell.ports import Row
from gordon_shell.wishes import COMPOSE_PROJECT, COMPOSE_SERVICE, Said, Wish, check_name, detailed, of_compose, of_words, resolve

ROWS = (
    Row("abc1" + "0" * 60, "web", Status.RUNNING, "Up 2 hours"),
    Row("abc2" + "0" * 60, "db", Status.EXITED, "Exited (0) 2 hours ago"),
    Row("def3" + "0" * 60, "abc", Status.RUNNING, "Up 2 hours"),
)
PAIR = (Wish("web", "w"), Wish("db", "d"))


def compose(name: str, service: str, number: int, project: str = "shop", **more: str) -> Row:
    labels = {
        COMPOSE_PROJECT: project,
        COMPOSE_SERVICE: service,
        **{f"com.docker.compose.{key}": text for key, text in more.items()},
    }
    return Row(f"{number:x}" * 64, name, Status.RUNNING, "Up 2 hours", labels=labels)


@pytest.mark.parametrize(
    ("asked", "found"),
    [("web", 0), ("/web", 0), ("abc1", 0), ("ABC2", 1), ("abc2" + "0" * 60, 1), ("abc", 2), ("d", 2)],
)
def test_a_container_is_found_by_name_before_the_start_of_its_id(asked: str, found: int) -> None:
    assert ROWS[found] == resolve(ROWS, asked)


def test_an_ambiguous_start_is_refused_with_those_that_it_could_mean() -> None:
    with pytest.raises(UsageError) as told:
        resolve(ROWS, "ab")
    said = "'ab' is the start of 2 container IDs, abc100000000 (web) and abc200000000 (db); write more of the one that is meant"
    assert said == str(told.value)


@pytest.mark.parametrize("asked", ["nobody", "", "/", "abc1x"])
def test_what_is_not_there_is_refused(asked: str) -> None:
    with pytest.raises(UsageError, match=f"there is no container '{asked}'; `docker ps --all` lists"):
        resolve(ROWS, asked)


def test_a_compose_project_is_one_wish_for_each_service_and_none_for_one_off_runs() -> None:
    rows = (
        compose("shop-web-1", "web", 1),
        compose("shop-db-1", "db", 2),
        compose("shop-web-run-1", "web", 3, oneoff="True"),
        compose("other-web-1", "web", 4, project="other"),
        *ROWS,
    )
    assert (Wish("db", "2" * 64), Wish("web", "1" * 64)) == of_compose(rows, "shop")
    assert (Wish("web", "1" * 64),) == of_compose(rows, "shop", ("db",))


def test_a_scaled_compose_service_is_refused_with_what_to_do_unless_it_is_left_out() -> None:
    rows = (compose("shop-web-1", "web", 1), compose("shop-web-2", "web", 2), compose("shop-db-1", "db", 3))
    with pytest.raises(UsageError) as told:
        of_compose(rows, "shop")
    assert str(told.value) == (
        "service 'web' of Compose project 'shop' has 2 containers, and a service here is one; scale it down, or leave it out "
        "with --except web and adopt each: gordon-shell adopt shop web-1=shop-web-1 web-2=shop-web-2"
    )
    assert (Wish("db", "3" * 64),) == of_compose(rows, "shop", ("web",))


def test_an_unknown_project_or_service_is_refused_with_those_that_there_are() -> None:
    rows = (compose("shop-web-1", "web", 1), compose("blog-web-1", "web", 2, project="blog"))
    with pytest.raises(UsageError, match="no container belongs to a Compose project 'shep'; there are blog, shop"):
        of_compose(rows, "shep")
    with pytest.raises(UsageError, match="there is none at all"):
        of_compose(ROWS, "shop")
    with pytest.raises(UsageError, match="Compose project 'shop' has no service 'job'; there is web"):
        of_compose(rows, "shop", ("job",))


def test_words_are_wishes() -> None:
    assert (Wish("web", "a=b"), Wish("db", "c")) == of_words(("web=a=b", "db=c"))


@pytest.mark.parametrize("word", ["web", "=a", "web=", ""])
def test_a_word_that_is_no_wish_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match=f"'{word}' is not SERVICE=CONTAINER; write it so"):
        of_words((word,))


def test_a_service_named_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="'web' is named twice, as 'a' and as 'b'"):
        of_words(("web=a", "web=b"))


def test_what_is_said_of_a_service_goes_to_that_service_alone() -> None:
    said = Said(published=("web",), unpublished=("db",), http=("web=/healthz",), grace=("db=2.5",))
    assert (Wish("web", "w", published=True, http="/healthz"), Wish("db", "d", published=False, grace_s=2.5)) == detailed(
        PAIR, said
    )
    assert PAIR == detailed(PAIR, Said())


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (Said(unpublished=("cache",)), "'cache' is none of the services to be adopted; there are db, web"),
        (Said(published=("web",), unpublished=("web",)), "'web' is named as published and as unpublished"),
        (Said(grace=("web=soon",)), "'soon' is no grace for 'web'; write a number of seconds from 0 to"),
        (Said(grace=("web=-1",)), "'-1' is no grace"),
        (Said(grace=("web=nan",)), "'nan' is no grace"),
        (Said(grace=("web=inf",)), "'inf' is no grace"),
        (Said(grace=("web",)), "'web' is not SERVICE=SECONDS"),
        (Said(http=("web",)), r"'web' is not SERVICE=\[PORT\]/PATH"),
    ],
)
def test_what_makes_no_sense_is_refused(said: Said, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        detailed(PAIR, said)


@pytest.mark.parametrize("name", ["web", "Web-1.2_x", "0"])
def test_names_are_plain(name: str) -> None:
    check_name("a service", name)


@pytest.mark.parametrize("name", ["", "a/b", "-x", "a b", "a\n", "ä", ".."])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name of a service; use letters"):
        check_name("a service", name)
