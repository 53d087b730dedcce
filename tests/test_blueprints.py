"""What an engine makes of a blueprint and an image, and back again."""

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from gordon_core.blueprint import Blueprint, HealthCheck, Publication, Setting, Variable
from gordon_core.observation import Port, Protocol
from gordon_shell.blueprints import CLEARED, beyond, merged

WORDS = st.tuples() | st.tuples(st.sampled_from(["a", "b"])) | st.tuples(st.just("a"), st.just("b"))
ENVIRONMENT = st.dictionaries(st.sampled_from(["A", "B", "C"]), st.sampled_from(["", "1", "2"])).map(
    lambda found: tuple(Variable(name, value) for name, value in found.items())
)
LABELS = st.dictionaries(st.sampled_from(["a", "b", "c"]), st.sampled_from(["", "1", "2"])).map(
    lambda found: tuple(found.items())
)
SPANS = st.sampled_from([0.0, 1.0, 2.5])
HEALTH = st.none() | st.builds(
    HealthCheck, st.sampled_from([("NONE",), ("CMD", "a"), ("CMD", "b")]), SPANS, SPANS, SPANS, st.sampled_from([0, 1, 2])
)
PLACES = st.sampled_from(["", "/a", "/b"])
PORTS = st.lists(st.builds(Publication, st.builds(Port, st.sampled_from([53, 80]), st.sampled_from(Protocol))), unique=True)
OWN = st.builds(
    Blueprint,
    st.just("own"),
    command=WORDS,
    entrypoint=WORDS,
    environment=ENVIRONMENT,
    labels=LABELS,
    user=st.sampled_from(["", "1", "2"]),
    working_directory=PLACES,
    health=HEALTH,
)
WANTED = st.builds(
    Blueprint,
    st.just("i"),
    command=WORDS,
    entrypoint=WORDS | st.just(CLEARED),
    environment=ENVIRONMENT,
    labels=LABELS,
    ports=PORTS.map(tuple),
    networks=st.sampled_from([(), ("n1",), ("n2", "n1", "n3")]),
    user=st.sampled_from(["", "1", "2"]),
    working_directory=PLACES,
    health=HEALTH,
    settings=st.sampled_from([(), (Setting("B", "1"), Setting("A", "2"))]),
)


def in_order(blueprint: Blueprint) -> Blueprint:
    """Return it with what has no order of its own in one order."""
    return evolve(
        blueprint,
        environment=tuple(sorted(blueprint.environment, key=lambda each: each.name)),
        labels=tuple(sorted(blueprint.labels)),
        ports=tuple(sorted(blueprint.ports, key=str)),
        networks=blueprint.networks[:1] + tuple(sorted(blueprint.networks[1:])),
        settings=tuple(sorted(blueprint.settings, key=lambda each: each.name)),
    )


@given(WANTED, OWN)
def test_what_a_container_is_beyond_its_image_makes_the_same_container_again(wanted: Blueprint, own: Blueprint) -> None:
    whole = merged(wanted, own)
    assert in_order(whole) == in_order(merged(beyond(whole, own), own))


@given(WANTED, OWN)
def test_it_is_the_least_that_does(wanted: Blueprint, own: Blueprint) -> None:
    least = beyond(merged(wanted, own), own)
    assert least == beyond(merged(least, own), own)
    assert not set(least.environment) & set(own.environment)
    assert not set(least.labels) & set(own.labels)
    assert len(least.environment) <= len(wanted.environment)


@given(WANTED)
def test_over_an_image_that_brings_nothing_it_is_the_blueprint_itself(wanted: Blueprint) -> None:
    entrypoint = () if wanted.entrypoint == CLEARED else wanted.entrypoint
    assert in_order(evolve(wanted, entrypoint=entrypoint)) == in_order(beyond(merged(wanted, Blueprint("own")), Blueprint("own")))


def test_an_entry_point_drops_the_command_of_the_image() -> None:
    own = Blueprint("own", command=("serve",), entrypoint=("run",))
    cases = {
        (): (("run",), ("serve",)),
        ("a",): (("a",), ()),
        ("run",): (("run",), ()),
        CLEARED: ((), ()),
    }
    for entrypoint, expected in cases.items():
        whole = merged(Blueprint("i", entrypoint=entrypoint), own)
        assert expected == (whole.entrypoint, whole.command)
        assert entrypoint == beyond(whole, own).entrypoint


def test_labels_that_say_who_made_it_are_left_out() -> None:
    whole = Blueprint(
        "i", labels=(("com.docker.compose.project", "p"), ("gordon.app", "shop"), ("gordonian", "1"), ("tier", "one"))
    )
    assert (("gordonian", "1"), ("tier", "one")) == beyond(whole, Blueprint("own")).labels


def test_the_default_network_is_none() -> None:
    expected = {("bridge",): (), ("default",): (), ("bridge", "b", "a"): ("bridge", "a", "b"), ("n",): ("n",)}
    assert expected == {each: beyond(Blueprint("i", networks=each), Blueprint("own")).networks for each in expected}
