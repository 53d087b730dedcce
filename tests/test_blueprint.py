"""What a deploy wants: what is refused, what keeps two from running at once, what differs, and that secrets stay secret."""

from collections.abc import Callable

import pytest
from attrs import evolve
from hypothesis import given, settings

from gordon_core.blueprint import (
    Blueprint,
    HealthCheck,
    Made,
    Mode,
    Mount,
    Publication,
    Readiness,
    Setting,
    Variable,
    differences,
)
from gordon_core.observation import Port, Protocol
from gordon_core.snapshot import HttpCheck
from tests.strategies import MARKED_VALUE, blueprints

WEB = Port(80)
PLAIN = Blueprint("shop:v1", ports=(Publication(WEB),))
ID = "sha256:1"


def changed(**changes: object) -> tuple[str, ...]:
    """Return in which respects the plain container differs from one with changes."""
    return differences(evolve(PLAIN, **changes), ID, Made(PLAIN, ID))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: evolve(PLAIN, ports=(Publication(WEB), Publication(WEB, 1))), "each port once; repeated: 80/tcp"),
        (
            lambda: evolve(PLAIN, ports=(Publication(WEB, 8080), Publication(Port(81), 8080))),
            r"each host port once; repeated: \(8080, 'tcp'\)",
        ),
        (
            lambda: evolve(PLAIN, environment=(Variable("A", "1"), Variable("A", "2"))),
            "each environment variable once; repeated: A",
        ),
        (lambda: evolve(PLAIN, mounts=(Mount("a", "/x"), Mount("b", "/x"))), "each mounted place once; repeated: /x"),
        (lambda: evolve(PLAIN, mounts=tuple(Mount("a", each) for each in ("/x", "/y") * 2)), "repeated: /x, /y$"),
        (
            lambda: evolve(PLAIN, readiness=Readiness(http=HttpCheck(81))),
            "the HTTP path must be at one of its TCP ports; 81/tcp is none of them",
        ),
        (lambda: evolve(PLAIN, readiness=Readiness(Mode.HTTP)), "readiness by HTTP needs an HTTP path; name one"),
        (
            lambda: Blueprint("x", ports=(Publication(Port(53, Protocol.UDP)),), readiness=Readiness(Mode.TCP)),
            "readiness by TCP needs a TCP port; declare one",
        ),
        (lambda: Variable("", "x"), "name"),
        (lambda: Variable("A=B", "x"), "name"),
        (lambda: Variable("A", "a\0b"), "value"),
        (lambda: Mount("a", "x"), "target"),
        (lambda: Publication(WEB, 65536), "host_port"),
        (lambda: Blueprint(""), "image"),
    ],
)
def test_what_cannot_be_is_refused_with_its_remedy(make: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_a_refusal_never_tells_a_value() -> None:
    with pytest.raises(ValueError, match="repeated: A") as refusal:
        evolve(PLAIN, environment=(Variable("A", MARKED_VALUE), Variable("A", MARKED_VALUE)))
    assert MARKED_VALUE not in str(refusal.value)


def test_what_a_readiness_mode_needs_can_be_there() -> None:
    assert Mode.TCP is evolve(PLAIN, readiness=Readiness(Mode.TCP)).readiness.mode
    assert HttpCheck(80) == evolve(PLAIN, readiness=Readiness(Mode.HTTP, HttpCheck(80))).readiness.http
    ports = (Publication(WEB, 8080), Publication(Port(80, Protocol.UDP), 8080))
    assert (WEB, Port(80, Protocol.UDP)) == evolve(PLAIN, ports=ports).declared_ports


@pytest.mark.parametrize(
    ("changes", "overlaps"),
    [
        ({}, True),
        ({"mounts": (Mount("data", "/data"),)}, True),
        ({"mounts": (Mount("data", "/data", exclusive=True),)}, False),
        ({"ports": (Publication(WEB, 8080),)}, False),
        ({"downtime": True}, False),
    ],
)
def test_two_run_side_by_side_unless_a_port_a_volume_or_its_word_forbids_it(changes: dict[str, object], overlaps: bool) -> None:  # noqa: FBT001 - a column
    assert overlaps == evolve(PLAIN, **changes).overlaps


def test_small_questions_are_answered() -> None:
    assert [True, False] == [Mount("/srv", "/x").is_host_path, Mount("data", "/x").is_host_path]
    assert [True, False] == [HealthCheck(("NONE",)).is_off, HealthCheck(("CMD", "true")).is_off]
    assert ["80/tcp", "80/tcp at 8080"] == [str(Publication(WEB)), str(Publication(WEB, 8080))]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ()),
        ({"environment": (Variable("TOKEN", MARKED_VALUE),)}, ("environment TOKEN",)),
        ({"labels": (("a", "1"),)}, ("label a",)),
        ({"ports": (Publication(WEB, 8080),)}, ("port 80/tcp",)),
        ({"ports": ()}, ("port 80/tcp",)),
        ({"mounts": (Mount("data", "/data"),)}, ("mount /data",)),
        ({"settings": (Setting("Memory", "1"),)}, ("setting Memory",)),
        ({"readiness": Readiness(http=HttpCheck(80))}, ("HTTP path",)),
        ({"working_directory": "/srv", "user": "app"}, ("user", "working directory")),
        ({"health": HealthCheck(("CMD", "true"))}, ("health",)),
        ({"stop_grace_s": 3.0, "published": False}, ("stop grace s", "published")),
        ({"devices": ("/dev/fuse",), "networks": ("front",)}, ("devices", "networks")),
        ({"command": ("serve",), "entrypoint": ("sh",)}, ("command", "entrypoint")),
    ],
)
def test_each_respect_is_named_without_a_value(changes: dict[str, object], expected: tuple[str, ...]) -> None:
    assert expected == changed(**changes)


def test_another_image_is_told_by_its_id() -> None:
    assert ("image",) == differences(evolve(PLAIN, image="shop:v1"), "sha256:2", Made(PLAIN, ID))
    assert () == differences(evolve(PLAIN, image="shop:latest"), ID, Made(PLAIN, ID))


def test_what_only_says_how_one_follows_the_other_makes_no_other_container() -> None:
    assert () == changed(downtime=True, readiness=Readiness(deadline_s=1.0, delay_s=2.0))
    twice = evolve(PLAIN, devices=("/dev/kvm", "/dev/fuse"))
    assert () == differences(evolve(twice, devices=("/dev/fuse", "/dev/kvm")), ID, Made(twice, ID))


def test_an_empty_value_is_another_than_none() -> None:
    assert ("environment A",) == changed(environment=(Variable("A", ""),))


@pytest.mark.unmeasured
@settings(deadline=None)
@given(blueprints(), blueprints())
def test_differences_are_the_same_both_ways_and_tell_no_secret(one: Blueprint, other: Blueprint) -> None:
    there, back = differences(one, ID, Made(other, ID)), differences(other, ID, Made(one, ID))
    assert there == back
    assert () == differences(one, ID, Made(one, ID))
    assert MARKED_VALUE not in " ".join(there)
    assert MARKED_VALUE not in f"{one!r} {one} {Made(one, ID)!r}"
