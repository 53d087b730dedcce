"""What a container is declared as, when it is adopted for the first time, again, or in the place of another."""

import pytest
from attrs import evolve

from gordon_core.memory import Memory, Verified
from gordon_core.observation import Bind, Container, Exit, Health, HealthStatus, Port, PortBinding, Protocol, Status
from gordon_core.policy import Policy
from gordon_core.snapshot import Declared, HttpCheck, Intent
from gordon_shell.adoption import Adoption, adoption
from gordon_shell.errors import UsageError
from gordon_shell.ports import Details, Marker, Stored
from gordon_shell.wishes import Wish

EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - told of, never bound

ID, OTHER = "a" * 64, "b" * 64
HTTP, DNS = Port(80), Port(53, Protocol.UDP)
BOUND = (PortBinding(HTTP, "127.0.0.1", 32768),)
WISH = Wish("web", "web-1")
DECLARED = Declared(ID, 3, (HTTP,), (Bind(HTTP, 32768),), 10.0)


def details(
    container_id: str = ID, ports: tuple[PortBinding, ...] = BOUND, status: Status = Status.RUNNING, **more: object
) -> Details:
    return evolve(Details(Container(container_id, status, "t1", ports=ports, name="web-1")), **more)


def known(declared: Declared = DECLARED, memory: Memory = Memory(), **more: object) -> tuple[Stored, ...]:
    return (evolve(Stored("shop", "web", Intent.RUNNING, declared, memory=memory), **more),)


def adopted(
    wish: Wish = WISH, seen: Details | None = None, stored: tuple[Stored, ...] = (), *, keep_old: bool = False
) -> Adoption:
    return adoption("shop", wish, seen or details(), stored, keep_old=keep_old)


def test_a_container_is_declared_with_its_published_ports_and_its_grace() -> None:
    seen = details(ports=(*BOUND, PortBinding(DNS, "127.0.0.1", 32768)), stop_grace_s=42.0)
    found = adopted(seen=seen)
    assert Declared(ID, 1, (HTTP, DNS), stop_grace_s=42.0) == found.declared
    assert (None, None, ()) == (found.former, found.superseded, found.notes)
    assert found.in_words() == (
        "shop/web: adopted container web-1 (aaaaaaaaaaaa), revision 1, publishes 80/tcp and 53/udp, 42 s to stop in"
    )


def test_a_container_that_is_down_is_declared_with_the_ports_that_it_was_created_for() -> None:
    down = details(ports=(), status=Status.EXITED, asked_ports=(PortBinding(HTTP, "127.0.0.1", 0),))
    found = adopted(seen=evolve(down, container=evolve(down.container, exit=Exit(0))))
    assert ((HTTP,), True) == (found.declared.ports, found.declared.published)
    assert found.notes == (
        "it is down (exited), and will be started; if it is a job that has ended, forget it: gordon-shell forget shop/web",
    )


def test_a_job_that_is_done_by_its_label_is_left_alone_and_that_is_told() -> None:
    down = details(status=Status.EXITED, labels={"gordon.recovery.exit_0_is_done": "true"})
    done = adopted(seen=evolve(down, container=evolve(down.container, exit=Exit(0))))
    assert "it ended with exit code 0, and by its label is done with that: it is left alone" == done.notes[-1]
    failed = adopted(seen=evolve(down, container=evolve(down.container, exit=Exit(1))))
    assert failed.notes[-1].startswith("it is down (exited), and will be started")


def test_without_published_ports_it_is_unpublished_and_that_is_told() -> None:
    found = adopted(seen=details(ports=()))
    assert (False, ()) == (found.declared.published, found.declared.ports)
    assert ("it publishes no port, so it is unpublished: kept alive, and never routed",) == found.notes
    assert "revision 1, unpublished, 10 s to stop in" in found.in_words()


def test_what_is_unpublished_on_purpose_keeps_its_ports_to_be_probed_at() -> None:
    found = adopted(evolve(WISH, published=False))
    assert (False, (HTTP,)) == (found.declared.published, found.declared.ports)
    assert "unpublished, probed at 80/tcp" in found.in_words()


def test_binds_beyond_loopback_are_told() -> None:
    both = tuple(PortBinding(HTTP, each, 32768) for each in EVERYWHERE)
    found = adopted(seen=details(ports=both))
    assert (HTTP,) == found.declared.ports
    assert found.notes == tuple(
        f"80/tcp is bound to {ip}, reachable from beyond this host; bind it to 127.0.0.1 to keep others out" for ip in EVERYWHERE
    )


def test_a_port_that_does_not_lead_to_loopback_is_left_out_and_that_is_told() -> None:
    found = adopted(seen=details(ports=(*BOUND, PortBinding(Port(443), "192.0.2.1", 443))))
    assert (HTTP,) == found.declared.ports
    assert found.notes == (
        "443/tcp is bound to 192.0.2.1 alone, which recovery cannot reach, and is left out; bind it to 127.0.0.1",
    )


@pytest.mark.parametrize("policy", ["always", "unless-stopped", "on-failure"])
def test_a_restart_policy_of_docker_is_told(policy: str) -> None:
    (note,) = adopted(seen=details(restart_policy=policy)).notes
    assert note == (
        f"Docker restarts it too (restart policy {policy}); that is coped with, and `docker update --restart no web-1` leaves it "
        "to one of the two"
    )


def test_a_health_check_is_told() -> None:
    seen = details()
    healthy = evolve(seen, container=evolve(seen.container, health=Health(HealthStatus.HEALTHY)))
    assert "with its health check" in adopted(seen=healthy).in_words()


@pytest.mark.parametrize("written", ["/healthz", "80/healthz"])
def test_an_http_check_is_at_the_port_named_or_the_only_one(written: str) -> None:
    found = adopted(evolve(WISH, http=written))
    assert HttpCheck(80, "/healthz") == found.declared.http
    assert "ready when GET /healthz at 80/tcp answers" in found.in_words()


@pytest.mark.parametrize(
    ("written", "ports", "why"),
    [
        ("healthz", BOUND, "'healthz' is no HTTP check for shop/web; write it as"),
        ("/a b", BOUND, "is no HTTP check"),
        ("81/", BOUND, "shop/web publishes no port 81/tcp for the HTTP check '81/'; it publishes 80/tcp"),
        ("99999/", BOUND, "publishes no port 99999/tcp"),
        ("/", (*BOUND, PortBinding(Port(81), "127.0.0.1", 1)), "names no port, and could mean one of 80, 81"),
        ("/", (), "could mean none, since it publishes no TCP port"),
    ],
)
def test_an_http_check_that_cannot_be_is_refused(written: str, ports: tuple[PortBinding, ...], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        adopted(evolve(WISH, http=written), details(ports=ports))


def test_the_same_container_again_changes_nothing_and_keeps_its_revision() -> None:
    found = adopted(stored=known())
    assert (DECLARED, True, None, ()) == (found.declared, found.is_unchanged, found.superseded, found.notes)
    assert found.in_words().startswith("shop/web: unchanged, container web-1 (aaaaaaaaaaaa), revision 3")


def test_the_same_container_declared_otherwise_has_the_next_revision_and_keeps_its_binds() -> None:
    found = adopted(evolve(WISH, grace_s=99.0), stored=known())
    assert evolve(DECLARED, revision=4, stop_grace_s=99.0) == found.declared
    assert (False, None) == (found.is_unchanged, found.superseded)


def test_what_was_said_once_stays_said() -> None:
    """A second `adopt` without options does not route a database, drop a check, or forget constants."""
    before = evolve(DECLARED, published=False, http=HttpCheck(80, "/healthz"), stop_grace_s=99.0, policy=Policy(readiness_s=60.0))
    assert adopted(stored=known(before)).declared is before
    successor = adopted(seen=details(OTHER), stored=known(before)).declared
    assert evolve(before, container_id=OTHER, revision=4, binds=(), stop_grace_s=10.0) == successor


def test_what_was_said_once_can_be_unsaid() -> None:
    before = evolve(DECLARED, published=False, http=HttpCheck(80, "/healthz"))
    found = adopted(evolve(WISH, published=True, http=""), stored=known(before))
    assert evolve(DECLARED, revision=4) == found.declared


def test_a_check_at_a_port_that_is_published_no_more_goes() -> None:
    before = evolve(DECLARED, http=HttpCheck(80, "/healthz"))
    found = adopted(seen=details(ports=(PortBinding(Port(81), "127.0.0.1", 1),)), stored=known(before))
    assert (None, (Port(81),), ()) == (found.declared.http, found.declared.ports, found.declared.binds)


def test_another_container_supersedes_the_former_one_with_its_grace_binds_and_verified_execution() -> None:
    verified = Verified("t0", DECLARED.binds, 3)
    before = evolve(DECLARED, stop_grace_s=33.0)
    found = adopted(seen=details(OTHER), stored=known(before, Memory(failures=2, verified=verified)))
    assert Marker(ID, 33.0, DECLARED.binds, verified) == found.superseded
    assert Declared(OTHER, 4, (HTTP,)) == found.declared
    assert found.notes == (
        "its former container aaaaaaaaaaaa is superseded: once this one was seen to serve, it is stopped within 33 s and removed",
    )


def test_the_former_container_can_be_kept() -> None:
    found = adopted(seen=details(OTHER), stored=known(), keep_old=True)
    assert found.superseded is None
    assert found.notes == ("its former container aaaaaaaaaaaa is left as it is, and nothing looks after it any more",)


@pytest.mark.parametrize(("app", "service"), [("shop", "web2"), ("blog", "web")])
def test_a_container_of_another_service_is_refused(app: str, service: str) -> None:
    stored = (evolve(known()[0], app=app, service=service),)
    with pytest.raises(UsageError) as told:
        adopted(stored=stored)
    assert str(told.value) == (
        f"container web-1 (aaaaaaaaaaaa) is that of {app}/{service} already; "
        f"forget that first: gordon-shell forget {app}/{service}"
    )


def test_a_container_that_another_service_is_to_retire_is_refused_and_one_of_its_own_is_not() -> None:
    other = Stored("blog", "web", Intent.RUNNING, Declared(OTHER, 1), markers=(Marker(ID),))
    with pytest.raises(UsageError, match="is superseded and to be removed as one of blog/web; name another container"):
        adopted(stored=(other,))
    own = known(evolve(DECLARED, container_id=OTHER), markers=(Marker(ID),))
    found = adopted(stored=own)
    assert (ID, Marker(OTHER, 10.0, DECLARED.binds)) == (found.declared.container_id, found.superseded)


def test_a_container_that_is_being_removed_is_refused() -> None:
    with pytest.raises(UsageError, match="container web-1 is being removed; adopt the one that takes its place"):
        adopted(seen=details(status=Status.REMOVING))
