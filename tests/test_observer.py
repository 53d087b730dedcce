"""Ports in, Snapshot out: what a look puts together, and what it leaves alone when nothing happened."""

from pathlib import Path

import pytest
from attrs import evolve

from gordon_core.effects import Done, Generation, Result, Start
from gordon_core.grants import Grants, HostPolicy, Overrides, PathGrant, Scope
from gordon_core.memory import NOTHING, Memory, Verified
from gordon_core.observation import Bind, Container, Gone, RouteSeen, RouteUnread, Unread
from gordon_core.planner import plan
from gordon_core.policy import Constant, WhenUnhealthy
from gordon_core.snapshot import Clash, Declared, Hold, Snapshot, Subject
from gordon_shell.errors import DocumentError, StoreError
from gordon_shell.memory.container import Behaviour, Simulated
from gordon_shell.observer import Observer, Surroundings
from gordon_shell.ports import Marker, Mount
from gordon_shell.recollection import Recollection
from tests.hosts import HTTP, SETTLED_S, Host

BINDS = (Bind(HTTP, 32768),)
SEEN = ["router.read", "store.read", "engine.rows"]


class Lookout:
    """An observer of a host with one service that runs, verified and routed; the policy can be changed."""

    def __init__(
        self,
        *,
        remember: bool = True,
        mounts: tuple[Mount, ...] = (),
        behaviour: Behaviour | None = None,
        labels: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.host = Host()
        self.policy: HostPolicy | None = None
        self.damage = ""
        self.host.service("web")
        self.host.engine.add(
            Simulated("web-1", "web", ((HTTP, 0),), behaviour=behaviour or Behaviour(), labels=labels, mounts=mounts)
        )
        self.host.engine.start("web-1")
        self.host.verify("web", "web-1")
        self.host.router.publish("shop", "web", BINDS)
        self.host.store.persist_binds(self.generation, BINDS)
        self.observer = Observer(self.host.ports, self.policies, Recollection(self.host.ports.store), remember=remember)
        self.host.clock.advance(SETTLED_S)
        self.observer.look()
        self.host.calls.clear()

    @property
    def generation(self) -> Generation:
        return Generation("shop", "web", "web-1", 1)

    def policies(self) -> HostPolicy | None:
        if self.damage:
            raise DocumentError(self.damage)
        return self.policy

    def look(self, around: Surroundings | None = None) -> Snapshot:
        self.host.clock.advance(15.0)
        return self.observer.look(around)

    def subject(self, around: Surroundings | None = None) -> Subject:
        return next(each for each in self.look(around).subjects if each.service == "web")


def test_a_look_is_one_read_of_each_port_the_router_first() -> None:
    lookout = Lookout()
    lookout.look()
    assert SEEN == lookout.host.calls.made


def test_what_is_seen_comes_from_every_port() -> None:
    lookout = Lookout()
    subject = lookout.subject()
    assert lookout.host.container("web-1") == subject.seen
    assert lookout.host.declared("web") == subject.declared
    assert RouteSeen(BINDS) == subject.route
    assert lookout.host.memory("web") == subject.memory


def test_a_subject_is_the_same_object_while_nothing_happens_and_so_costs_no_decision() -> None:
    lookout = Lookout()
    before = lookout.look()
    decided = plan(before)
    after = lookout.look()
    assert before.subjects[0] is after.subjects[0]
    assert decided.services[0] is plan(after).services[0]


@pytest.mark.parametrize(
    "deed",
    [
        lambda host: host.engine.kill("web-1"),
        lambda host: host.engine.pause("web-1"),
        lambda host: host.engine.delete("web-1"),
        lambda host: host.engine.unreachable("it hangs"),
        lambda host: host.router.forget(),
        lambda host: setattr(host.router, "fail_reads", "no socket"),
        lambda host: host.store.inhibit("shop", "web", "web-1", "broken"),
        lambda host: host.store.set_unproven("shop", "web", unproven=True),
        lambda host: host.store.mark("shop", "web", Marker("web-0")),
        lambda host: host.store.save_memory("shop", "web", "web-1", Memory(failures=1)),
    ],
)
def test_whatever_happens_makes_another_subject(deed: object) -> None:
    assert callable(deed)
    lookout = Lookout()
    before = lookout.subject()
    deed(lookout.host)
    assert before != lookout.subject()


@pytest.mark.parametrize(
    "around",
    [
        Surroundings({"shop": "locked by pid 1"}),
        Surroundings(in_flight={("shop", "web"): "stop it"}),
        Surroundings(results={("shop", "web"): (Result(Start(Lookout().generation), Done()),)}),
    ],
)
def test_whatever_a_pass_adds_makes_another_subject(around: Surroundings) -> None:
    lookout = Lookout()
    before = lookout.subject()
    assert before != lookout.subject(around)
    assert before == lookout.subject()


def test_a_route_of_a_service_that_the_store_does_not_know_is_seen() -> None:
    lookout = Lookout()
    lookout.host.router.route_by_hand("old", "api", (Bind(HTTP, 9000),))
    stray = lookout.look(Surroundings({"shop": ""}, "adopted during this pass")).subjects[0]
    assert ("old/api", None, RouteSeen((Bind(HTTP, 9000),)), "") == (stray.name, stray.declared, stray.route, stray.locked)


def test_what_is_activated_and_published_while_a_look_is_taken_is_no_stray() -> None:
    lookout = Lookout()

    def deploy() -> None:
        lookout.host.store.activate("new", "api", Declared("api-1", 1, (HTTP,)), 0, None)
        lookout.host.router.publish("new", "api", (Bind(HTTP, 9000),))

    for call in SEEN:
        lookout.host.calls.once_before(call, deploy)
        found = {each.name: each.declared for each in lookout.look().subjects}
        assert found.get("new/api", "not seen") is not None, call
        lookout.host.calls.clear()


def test_an_app_that_the_surroundings_do_not_name_is_locked_for_their_reason() -> None:
    lookout = Lookout()
    assert "adopted" == lookout.subject(Surroundings({}, "adopted")).locked
    assert "" == lookout.subject(Surroundings({"shop": ""}, "adopted")).locked


def test_nothing_is_remembered_of_a_locked_app() -> None:
    lookout = Lookout()
    lookout.host.store.set_unproven("shop", "web", unproven=True)
    lookout.host.router.forget()
    assert lookout.subject(Surroundings({"shop": "locked by pid 1"})).unproven
    assert lookout.host.stored("web").unproven
    assert not lookout.subject(Surroundings({"shop": ""})).unproven
    assert not lookout.host.stored("web").unproven


def test_rearm_waits_for_an_app_that_somebody_else_locked() -> None:
    lookout = Lookout()
    waiting = Memory(failures=3, charged="t", charged_at_s=900.0, boot_id="boot-1")
    lookout.host.store.save_memory("shop", "web", "web-1", waiting)
    observer = Observer(lookout.host.ports, lookout.policies, Recollection(lookout.host.ports.store, rearm=True), remember=True)
    observer.look(Surroundings({"shop": "locked by pid 1"}))
    lookout.host.store.save_memory("shop", "web", "web-1", evolve(waiting, failures=4))
    (subject,) = observer.look(Surroundings({"shop": ""})).subjects
    assert (4, None) == (subject.memory.failures, subject.memory.charged_at_s)


def test_without_remember_nothing_is_written() -> None:
    lookout = Lookout(remember=False)
    lookout.host.store.set_unproven("shop", "web", unproven=True)
    lookout.host.router.forget()
    lookout.host.calls.clear()
    assert not lookout.subject().unproven
    assert SEEN == lookout.host.calls.made
    assert lookout.host.stored("web").unproven


def test_what_a_look_adds_is_remembered_once() -> None:
    lookout = Lookout(behaviour=Behaviour(checks=(True, False), check_every_s=SETTLED_S - 20))
    lookout.host.clock.advance(SETTLED_S)
    for _ in range(3):
        lookout.look()
    assert 1 == len(lookout.host.calls.of("store.save_memory"))
    strikes = lookout.host.memory("web").strikes
    assert strikes is not None
    assert 1 == strikes.count


def test_an_engine_that_says_nothing_shows_nothing() -> None:
    lookout = Lookout()
    lookout.host.engine.unreachable("it hangs")
    seen = lookout.subject().seen
    assert isinstance(seen, Unread)
    assert "it hangs" in seen.reason


def test_a_router_that_cannot_be_read_is_unknown_for_every_service_and_shows_no_strays() -> None:
    lookout = Lookout()
    lookout.host.router.route_by_hand("old", "api", (Bind(HTTP, 9000),))
    lookout.host.router.fail_reads = "no socket"
    assert [RouteUnread("no socket")] == [each.route for each in lookout.look().subjects]


def test_a_store_that_cannot_be_read_ends_the_look() -> None:
    lookout = Lookout()
    lookout.host.store.fail_reads("gone")
    with pytest.raises(StoreError, match="gone"):
        lookout.look()


def test_superseded_containers_are_looked_at_too() -> None:
    lookout = Lookout()
    lookout.host.supersede("web")
    subject = lookout.subject()
    assert ["engine.inspect web-2"] == lookout.host.calls.of("engine.inspect")
    (old,) = subject.superseded
    assert isinstance(old.seen, Container)
    assert ("web-1", 7.0, BINDS) == (old.container_id, old.stop_grace_s, old.binds)
    assert isinstance(old.verified, Verified)


# --- the host policy ---------------------------------------------------------------------------------------------------


def granting(path: Path, *, read_only: bool = True) -> HostPolicy:
    return HostPolicy((Scope(grants=Grants((PathGrant(str(path), read_only),))),))


NOTHING_GRANTED = HostPolicy()


def test_the_host_is_asked_for_grants_only_of_what_is_down_or_unhealthy(tmp_path: Path) -> None:
    lookout = Lookout(mounts=(Mount(str(tmp_path), read_only=True),))
    lookout.policy = NOTHING_GRANTED
    assert () == lookout.subject().ungranted
    lookout.host.engine.kill("web-1")
    assert (f"{tmp_path} (read-only) is not granted",) == lookout.subject().ungranted
    lookout.policy = granting(tmp_path)
    assert () == lookout.subject().ungranted


def test_an_unhealthy_container_needs_its_grant(tmp_path: Path) -> None:
    lookout = Lookout(mounts=(Mount(str(tmp_path), read_only=True),), behaviour=Behaviour(checks=(False,)))
    lookout.policy = NOTHING_GRANTED
    assert (f"{tmp_path} (read-only) is not granted",) == lookout.subject().ungranted


def test_a_grant_is_resolved_anew_at_every_look(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    lookout = Lookout(mounts=(Mount(str(source), read_only=True),))
    lookout.host.engine.kill("web-1")
    assert () == lookout.subject().ungranted
    source.rmdir()
    assert (f"{source} does not exist any more",) == lookout.subject().ungranted
    assert (f"{source} does not exist any more",) == lookout.observer.look_again(lookout.subject()).ungranted


def test_a_damaged_policy_grants_nothing_to_what_needs_a_grant_and_says_so(tmp_path: Path) -> None:
    lookout = Lookout(mounts=(Mount(str(tmp_path), read_only=True),))
    lookout.host.engine.kill("web-1")
    lookout.damage = "policy.toml: not TOML"
    fault = "the host policy could not be read: policy.toml: not TOML"
    assert (fault,) == lookout.subject().ungranted
    assert fault == lookout.observer.policy_fault
    lookout.damage = ""
    assert () == lookout.subject().ungranted
    assert "" == lookout.observer.policy_fault


def test_a_damaged_policy_holds_nothing_up_that_needs_no_grant_and_changes_no_constant() -> None:
    lookout = Lookout()
    lookout.policy = HostPolicy((Scope("shop", recovery=Overrides(free_failures=9)),))
    lookout.look()
    lookout.host.engine.kill("web-1")
    lookout.damage = "policy.toml: not TOML"
    subject = lookout.subject()
    assert () == subject.ungranted
    assert subject.declared is not None
    assert 9 == subject.declared.policy.free_failures
    assert (Constant("free_failures", "9", "[apps.shop.recovery] of the host policy"),) == subject.policy_constants


def test_constants_of_the_host_policy_take_the_place_of_the_declared_ones_at_once() -> None:
    lookout = Lookout()
    before = lookout.subject()
    lookout.policy = HostPolicy((Scope("shop", "web", recovery=Overrides(readiness_s=5.0)),))
    after = lookout.subject()
    assert after.declared is not None
    assert 5.0 == after.declared.policy.readiness_s
    assert before.declared == lookout.host.declared("web")
    again = lookout.observer.look_again(after)
    assert again.declared == after.declared


def test_labels_set_constants_without_another_call_and_what_is_tuned_outweighs_them() -> None:
    labels = (("gordon.recovery.unhealthy", "withdraw"), ("gordon.recovery.free_failures", "9"), ("gordon.recovery.x", "1"))
    lookout = Lookout(labels=labels)
    lookout.host.store.set_tuning("shop", "web", Overrides(free_failures=5))
    lookout.host.calls.clear()
    subject = lookout.subject()
    assert SEEN == lookout.host.calls.made
    assert subject.declared is not None
    assert (WhenUnhealthy.WITHDRAW, 5) == (subject.declared.policy.unhealthy, subject.declared.policy.free_failures)
    assert (
        Constant("free_failures", "5", "gordon-shell tune"),
        Constant("unhealthy", "withdraw", "label gordon.recovery.unhealthy"),
    ) == subject.policy_constants
    assert ["policy label gordon.recovery.x=1 is not understood"] == [each.split(":")[0] for each in subject.policy_faults]
    assert subject is lookout.subject()


def test_a_hold_is_seen_until_it_is_over_also_in_a_later_boot() -> None:
    lookout = Lookout()
    now = lookout.host.clock.now()
    lookout.host.store.set_hold("shop", "web", Hold(now.boot_s + 100.0, now.wall_s + 100.0, now.boot_id, "alice", "why"))
    held = lookout.subject().hold
    assert held is not None
    assert now.boot_s + 100.0 == held.until_s
    lookout.host.clock.reboot("boot-2")
    again = lookout.subject().hold
    assert again is not None
    later = lookout.host.clock.now()
    assert later.boot_s + (held.until_wall_s - later.wall_s) == pytest.approx(again.until_s, abs=20.0)
    lookout.host.clock.advance(100.0)
    assert None is lookout.subject().hold


# --- a second look at one service --------------------------------------------------------------------------------------


def test_a_second_look_reads_everything_about_the_service_anew() -> None:
    lookout = Lookout()
    subject = lookout.subject()
    lookout.host.calls.clear()
    lookout.host.engine.restart("web-1", 1.0)
    lookout.host.router.forget()
    lookout.host.store.inhibit("shop", "web", "web-1", "broken")
    again = lookout.observer.look_again(subject)
    assert ["store.read_service shop web", "router.read", "engine.inspect web-1"] == lookout.host.calls.made
    assert (lookout.host.container("web-1"), RouteSeen(), "broken") == (again.seen, again.route, again.inhibited)


def test_a_second_look_keeps_what_the_pass_knows() -> None:
    lookout = Lookout()
    result = Result(Start(Lookout().generation), Done())
    subject = evolve(lookout.subject(), locked="by pid 1", in_flight="stop it", results=(result,))
    again = lookout.observer.look_again(subject)
    assert ("by pid 1", "stop it", (result,)) == (again.locked, again.in_flight, again.results)


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_look_that_takes_long_counts_as_stable_from_its_end(*, is_whole: bool) -> None:
    """Until then nobody had seen that it was; a window that began with the call would be over too soon (seed 62488, B4)."""
    lookout = Lookout()
    host = lookout.host
    host.store.save_memory("shop", "web", "web-1", evolve(host.memory("web"), failures=1, charged="before"))
    observer = Observer(host.ports, lookout.policies, Recollection(host.ports.store), remember=True)
    host.calls.before("engine.inspect web-1", lambda: host.clock.advance(20.0))
    begun_s = host.clock.now().boot_s
    if is_whole:
        (seen,) = observer.look().subjects
    else:
        seen = observer.look_at("shop", "web")
    assert seen.memory.window is not None
    assert begun_s + 20.0 <= seen.memory.window.since_s


def test_a_second_look_that_took_too_long_is_not_remembered() -> None:
    lookout = Lookout()
    lookout.host.store.set_unproven("shop", "web", unproven=True)
    subject = lookout.subject()
    lookout.host.router.forget()
    lookout.observer.look_again(subject, lambda: False)
    assert lookout.host.stored("web").unproven
    lookout.observer.look_again(subject)
    assert not lookout.host.stored("web").unproven


def test_a_second_look_without_the_store_concludes_nothing() -> None:
    lookout = Lookout()
    subject = lookout.subject()
    lookout.host.store.fail_reads("gone")
    assert Unread("the state store could not be read: gone") == lookout.observer.look_again(subject).seen


def test_a_second_look_without_the_store_forgets_what_the_planner_said_of_the_first() -> None:
    """Else the step that follows is decided upon a clash that its record does not show (D2)."""
    lookout = Lookout()
    subject = evolve(lookout.subject(), clash=Clash(32768, "shop/api", mine=True, failed=False))
    lookout.host.store.fail_reads("gone")
    assert lookout.observer.look_again(subject).clash is None


def test_a_second_look_at_what_the_store_forgot_shows_nothing_of_it_but_its_route() -> None:
    lookout = Lookout()
    lookout.host.store.mark("shop", "web", Marker("web-0"))
    subject = evolve(lookout.subject(), orphans=("web-9",))
    lookout.host.store.deactivate(lookout.generation)
    lookout.host.store.drop_marker("shop", "web", "web-0")
    lookout.host.store.save_memory("shop", "web", "web-1", NOTHING)
    again = lookout.observer.look_again(subject)
    assert (None, (), (), NOTHING) == (again.declared, again.superseded, again.orphans, again.memory)
    assert RouteSeen(BINDS) == again.route


def test_routes_are_read_once_for_many_subjects() -> None:
    lookout = Lookout()
    snapshot = lookout.look()
    lookout.host.router.forget()
    lookout.host.calls.clear()
    after = lookout.observer.with_routes(snapshot.subjects)
    assert ["router.read"] == lookout.host.calls.made
    assert [RouteSeen()] == [each.route for each in after.subjects]


def test_a_container_that_is_gone_is_told_from_one_that_was_not_read() -> None:
    lookout = Lookout()
    lookout.host.engine.delete("web-1")
    assert Gone() == lookout.subject().seen


def test_some_services_are_looked_at_with_one_read_of_the_router_and_of_the_policy() -> None:
    lookout = Lookout()
    lookout.host.service("api")
    subjects = lookout.look().subjects
    lookout.host.calls.clear()
    lookout.damage = "policy.toml: not TOML"
    seen = list(lookout.observer.look_at_each(subjects))
    assert [(each.service, each.seen_as) for each in subjects] == [(each.service, each.seen_as) for each in seen]
    assert ["store.read_service shop api", "store.read_service shop web", "router.read"] == lookout.host.calls.of(
        "store.read", "router."
    )
    assert ["engine.inspect api-1", "engine.inspect web-1"] == lookout.host.calls.of("engine.")
    assert "policy.toml" in lookout.observer.policy_fault


def test_some_services_are_looked_at_one_after_the_other_so_that_who_asks_may_stop() -> None:
    lookout = Lookout()
    lookout.host.service("api")
    subjects = lookout.look().subjects
    lookout.host.calls.clear()
    next(lookout.observer.look_at_each(subjects))
    assert ["engine.inspect api-1"] == lookout.host.calls.of("engine.")
