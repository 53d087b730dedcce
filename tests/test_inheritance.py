"""What a deploy begins with: the present container with what only ACTIVE and the records know, or an earlier revision."""

import pytest
from attrs import evolve

from gordon_core.blueprint import Blueprint, Made, Mode, Mount, Publication, Readiness, Variable
from gordon_core.observation import Port
from gordon_core.snapshot import Declared, HttpCheck
from gordon_shell.errors import NoWayBackError, UsageError
from gordon_shell.inheritance import Service, again, chosen, present
from gordon_shell.ports import Deployed
from tests.deploys import BLUEPRINT, SECRET, kept

HTTP = Port(80)
MADE = Made(Blueprint("shop:2", ports=(Publication(HTTP),), mounts=(Mount("files", "/files"),)), "sha256:2")


def service(container: str = "c2", *deployed: Deployed, declared: Declared | None = None) -> Service:
    return Service("shop/web", declared or Declared(container, 2, (HTTP,)), deployed)


def test_what_was_adopted_is_what_its_container_and_active_say() -> None:
    declared = Declared("c2", 2, (HTTP,), stop_grace_s=2.5, published=False, http=HttpCheck(80, "/up"))
    expected = evolve(MADE.blueprint, stop_grace_s=2.5, published=False, readiness=Readiness(http=HttpCheck(80, "/up")))
    assert expected == present(service(declared=declared), MADE)


def test_what_has_no_port_would_be_published_if_it_had_one_unless_its_deploy_said_otherwise() -> None:
    portless, declared = evolve(MADE, blueprint=Blueprint("work:1")), Declared("c2", 2, published=False)
    assert present(service(declared=declared), portless).published
    record = Deployed(2, "c2", "sha256:2", Blueprint("work:1", published=False))
    assert not present(service("c2", record, declared=declared), portless).published


def test_its_record_knows_what_is_exclusive_and_how_it_is_told_ready() -> None:
    declared = Declared("c2", 2, (HTTP,), http=HttpCheck(80, "/up"))
    expected = evolve(
        MADE.blueprint, mounts=(Mount("files", "/files", exclusive=True),), downtime=True, readiness=BLUEPRINT.readiness
    )
    assert expected == present(service("c2", *kept(2), declared=declared), MADE)


def test_a_container_that_no_deploy_made_takes_after_the_latest_that_one_did() -> None:
    found = present(service("adopted", *kept(2, 1)), MADE)
    assert (True, Readiness(Mode.AUTO, None, 1.0, 2.0, 3.0)) == (found.downtime, found.readiness)


def test_the_way_back_leads_to_the_revision_before() -> None:
    assert 1 == chosen(service("c2", *kept(2, 1)), None).revision


def test_and_from_there_to_where_one_came_from() -> None:
    assert 2 == chosen(service("c3", *kept(3, 2, 1)), None).revision


def test_from_what_was_adopted_it_leads_to_the_latest_on_record() -> None:
    assert 2 == chosen(service("adopted", *kept(2, 1)), None).revision


def test_a_deploy_that_was_switched_back_never_served() -> None:
    """Revision 3 failed, and 4 is the container of revision 2 again."""
    switched_back = evolve(kept(2)[0], revision=4)
    now = service("c2", switched_back, *kept(3, 2, 1))
    assert (1,) == tuple(each.revision for each in now.before())
    assert 1 == chosen(now, None).revision
    later = service("c5", *kept(5), switched_back, *kept(3, 2, 1))
    assert (4, 1) == tuple(each.revision for each in later.before())


def test_a_revision_can_be_named() -> None:
    assert 1 == chosen(service("c3", *kept(3, 2, 1)), 1).revision


@pytest.mark.parametrize(
    ("revision", "wrong"),
    [
        (7, "revision 7 of shop/web is not on record; there are 2, 1"),
        (3, "revision 3 of shop/web is what it is at present; there"),
    ],
)
def test_one_that_is_not_there_or_is_there_already_is_refused(revision: int, wrong: str) -> None:
    with pytest.raises(UsageError) as raised:
        chosen(service("c3", *kept(3, 2, 1)), revision)
    assert wrong == str(raised.value)[: len(wrong)]


def test_without_a_record_there_is_no_way_back() -> None:
    with pytest.raises(NoWayBackError, match="nothing is on record of what shop/web was before; deploy the image that it had"):
        chosen(service("c2", *kept(2)), None)


def test_its_variables_have_the_values_of_now_and_those_given_outweigh_them() -> None:
    now = (Variable("PASSWORD", SECRET), Variable("EMPTY", "full"), Variable("NEW", "1"))
    record = kept(1)[0]
    expected = (Variable("PASSWORD", SECRET), Variable("EMPTY", ""), Variable("MORE", "2"))
    found = again(service(), record, "sha256:1", now, (Variable("EMPTY", ""), Variable("MORE", "2")))
    assert evolve(BLUEPRINT, image="sha256:1", environment=expected) == found


def test_values_that_nobody_has_are_asked_for_by_name() -> None:
    with pytest.raises(UsageError) as raised:
        again(service(), kept(1)[0], "shop:1", (), (Variable("OTHER", SECRET),))
    expected = (
        "revision 1 of shop/web had PASSWORD, EMPTY, which the present container has not, and values are never stored; "
        "give them: --env PASSWORD --env EMPTY"
    )
    assert expected == str(raised.value)
