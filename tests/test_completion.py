"""What is wanted, completed by the image; what is there, completed by ACTIVE; and in what the two differ."""

import pytest
from attrs import evolve

from gordon_core.blueprint import Blueprint, HealthCheck, Image, Made, Publication, Readiness, Variable
from gordon_core.observation import Port, Protocol
from gordon_core.snapshot import Declared, HttpCheck
from gordon_shell.completion import as_declared, changes, completed
from gordon_shell.errors import UsageError
from gordon_shell.ports import HTTP_LABEL

HTTP = Port(80)
IMAGE = Image("sha256:1", ports=(HTTP, Port(53, Protocol.UDP)))
BARE = Image("sha256:1")
LABELLED = evolve(IMAGE, labels=((HTTP_LABEL, "/up"),))
PORTS = (Publication(HTTP), Publication(Port(53, Protocol.UDP)))
CHECK = Readiness(http=HttpCheck(80, "/up"))


@pytest.mark.parametrize(
    ("wanted", "image", "expected"),
    [
        (Blueprint("x"), IMAGE, Blueprint("x", ports=PORTS)),
        (Blueprint("x"), LABELLED, Blueprint("x", ports=PORTS, readiness=CHECK)),
        (Blueprint("x", published=False), LABELLED, Blueprint("x", published=False)),
        (Blueprint("x", ports=(Publication(Port(8080)),)), IMAGE, Blueprint("x", ports=(Publication(Port(8080)),))),
        (Blueprint("x", ports=PORTS[:1], readiness=CHECK), evolve(IMAGE, labels=((HTTP_LABEL, "/other"),)),
         Blueprint("x", ports=PORTS[:1], readiness=CHECK)),
        (Blueprint("x", labels=((HTTP_LABEL, ""),)), LABELLED, Blueprint("x", labels=((HTTP_LABEL, ""),), ports=PORTS)),
    ],
    ids=["ports", "ports and check", "unpublished", "ports of its own", "a check of its own", "the label switched off"],
)  # fmt: skip
def test_what_is_empty_is_as_the_image_has_it(wanted: Blueprint, image: Image, expected: Blueprint) -> None:
    assert expected == completed(wanted, image)
    assert expected == completed(expected, image)


def test_a_label_that_is_no_http_check_names_its_place() -> None:
    with pytest.raises(UsageError, match=r"image x, in its label gordon\.http,"):
        completed(Blueprint("x"), evolve(IMAGE, labels=((HTTP_LABEL, "8080/up"),)))


def declared(*, published: bool = True, http: HttpCheck | None = None, ports: tuple[Port, ...] = (HTTP,)) -> Declared:
    return Declared("c", 1, ports, published=published, http=http)


def test_how_it_is_served_is_known_by_active_alone() -> None:
    made = Made(Blueprint("x", ports=PORTS[:1]), "sha256:1")
    found = as_declared(made, declared(published=False, http=CHECK.http)).blueprint
    assert (False, CHECK.http) == (found.published, found.readiness.http)
    assert () == changes(Blueprint("y", ports=PORTS[:1], published=False, readiness=CHECK), BARE, Made(found, "sha256:1"))
    assert ("published",) == changes(Blueprint("y", ports=PORTS[:1], readiness=CHECK), BARE, Made(found, "sha256:1"))


def test_whether_what_has_no_port_would_be_published_makes_no_difference() -> None:
    made = as_declared(Made(Blueprint("x"), "sha256:1"), declared(published=False, ports=()))
    assert [(), ()] == [changes(Blueprint("x", published=each), BARE, made) for each in (True, False)]


def test_labels_that_say_who_made_it_make_no_difference_and_others_do() -> None:
    made = Made(Blueprint("x"), "sha256:1")
    assert () == changes(Blueprint("x", labels=((HTTP_LABEL, "/"), ("com.docker.compose.project", "p"))), BARE, made)
    assert ("label team",) == changes(Blueprint("x", labels=(("team", "shop"),)), BARE, made)


def test_an_http_check_of_a_port_that_it_has_not_is_none() -> None:
    made = Made(Blueprint("x", ports=(Publication(Port(81)),)), "sha256:1")
    assert as_declared(made, declared(http=CHECK.http)).blueprint.readiness.http is None


OWN = Blueprint(
    "own",
    ("serve",),
    ("/init",),
    (Variable("TIER", "one"), Variable("MORE", "1")),
    (("maker", "tests"),),
    user="1000",
    working_directory="/app",
    health=HealthCheck(("CMD", "true"), 5.0),
)


@pytest.mark.parametrize(
    "wanted",
    [
        Blueprint("x", environment=OWN.environment[:1]),
        Blueprint("x", OWN.command),
        Blueprint("x", OWN.command, OWN.entrypoint),
        Blueprint("x", labels=OWN.labels),
        Blueprint("x", user="1000", working_directory="/app"),
        Blueprint("x", health=OWN.health),
        Blueprint("x", health=HealthCheck(("CMD", "true"))),
    ],
    ids=["environment", "command", "entry point", "label", "user and place", "health check", "health check but for its pace"],
)
def test_what_is_wanted_as_the_image_has_it_anyway_makes_no_difference(wanted: Blueprint) -> None:
    image = Image("sha256:1", own=OWN)
    assert () == changes(wanted, image, Made(Blueprint("x"), "sha256:1"))
    other = Blueprint("x", ("other",), environment=(Variable("TIER", "two"),))
    assert ("environment TIER", "command") == changes(other, image, Made(Blueprint("x"), "sha256:1"))
