"""The law for services: an ordered table of situations. Everything that decides about a service must live here.

The first row that holds wins, and the last one of each scope always holds. A row says for which intent and which kind of look
it can hold, the fact that must hold, and the one effect that it calls for. Read downward it tells first what must not go on, then
how a workload comes back, then what is left to verify, down to SETTLED. `rule` is the clause of spec/recovery.md that it obeys.
"""

from collections.abc import Callable
from enum import Enum

from attrs import frozen

from gordon_core import commands, evidence, facts, tuned_facts
from gordon_core.calm import is_calm
from gordon_core.commands import Command
from gordon_core.effects import Cause
from gordon_core.observation import SeenAs
from gordon_core.situations import Situation
from gordon_core.snapshot import Intent, Subject


class Scope(Enum):
    """What is wanted of a service: nothing (ACTIVE does not name it), that it runs, or that it is stopped."""

    ABSENT = "absent"
    RUNNING = "running"
    STOPPED = "stopped"


Fact = Callable[[Subject, float], bool]


@frozen
class Row:
    """One line of the law. `until` is when a wait ends, in seconds since boot."""

    situation: Situation
    rule: str
    scopes: tuple[Scope, ...]
    looks: tuple[SeenAs, ...]
    holds: Fact
    effect: Command | None = None
    until: Callable[[Subject], float | None] | None = None


def scope(subject: Subject) -> Scope:
    """Return what is wanted of a service."""
    if subject.declared is None:
        return Scope.ABSENT
    return Scope.RUNNING if subject.intent is Intent.RUNNING else Scope.STOPPED


def _if(question: Callable[[Subject], bool]) -> Fact:
    """Turn a fact that does not ask for the time into one that is given it."""

    def holds(subject: Subject, _now_s: float) -> bool:
        return question(subject)

    holds.__doc__ = question.__doc__
    return holds


def _always(_subject: Subject, _now_s: float) -> bool:
    """Otherwise."""
    return True


_S = Situation
_ANY = tuple(SeenAs)
_READ = tuple(each for each in SeenAs if each is not SeenAs.UNREAD)
_GONE, _UNREAD, _DOWN, _UP = (SeenAs.GONE,), (SeenAs.UNREAD,), (SeenAs.DOWN,), (SeenAs.RUNNING,)
_ENDED = (SeenAs.DOWN, SeenAs.GONE)
_DOWN_UP = (SeenAs.DOWN, SeenAs.RUNNING)
_ALIVE = (SeenAs.RUNNING, SeenAs.PAUSED, SeenAs.RESTARTING, SeenAs.UNKNOWN)
_REMOVING = (SeenAs.REMOVING,)
_CHANGING = (SeenAs.RESTARTING, SeenAs.REMOVING)
_PAUSED, _UNKNOWN = (SeenAs.PAUSED,), (SeenAs.UNKNOWN,)
_EVERY = tuple(Scope)
_ABSENT, _RUN, _STOP = (Scope.ABSENT,), (Scope.RUNNING,), (Scope.STOPPED,)

ROWS: tuple[Row, ...] = (
    # What holds for every service, whatever is wanted of it.
    Row(_S.CLASHING, "one pass", _EVERY, _ANY, _if(facts.names_a_foreign_port), commands.withdraw),
    Row(_S.LOCKED, "one pass", _EVERY, _ANY, _if(facts.is_locked)),
    Row(_S.IN_FLIGHT, "one pass", _EVERY, _ANY, _if(facts.is_in_flight)),
    Row(_S.SUPPLANTED, "11", _EVERY, _ANY, _if(evidence.was_supplanted)),
    # ACTIVE names no container.
    Row(_S.ABANDONED, "1", _ABSENT, _ANY, _if(facts.may_be_routed), commands.withdraw),
    Row(_S.LEFTOVER, "memory", _ABSENT, _ANY, _if(facts.has_orphans), commands.forget_orphan),
    Row(_S.ABSENT, "1", _ABSENT, _ANY, _always),
    # Stopped intent: a withdrawal that fails does not keep it running.
    Row(_S.REVIVED_ROUTED, "stopped intent", _STOP, _ANY, _if(facts.awaits_withdrawal), commands.withdraw),
    Row(_S.ON_HOLD, "hold", _STOP, _ALIVE, tuned_facts.is_on_hold, until=evidence.held_until_s),
    Row(_S.REVIVED, "stopped intent", _STOP, _ALIVE, _always, commands.stop),
    Row(_S.LEAVING, "stopped intent", _STOP, _REMOVING, _always),
    Row(_S.SHUT_UNREAD, "stopped intent", _STOP, _UNREAD, _always),
    Row(_S.SHUT_REMEMBERED, "stopped intent", _STOP, _DOWN, _if(facts.has_history), commands.drop_history),
    Row(_S.SHUT_ROUTED, "stopped intent", _STOP, _ENDED, _if(facts.may_be_routed)),
    Row(_S.UNRELEASED, "5", _STOP, _GONE, _if(facts.has_claims), commands.release_binds),
    Row(_S.UNFORGOTTEN, "5", _STOP, _GONE, _if(facts.has_memory), commands.forget),
    Row(_S.ORPHANED, "memory", _STOP, _ENDED, _if(facts.has_orphans), commands.forget_orphan),
    Row(_S.SHUT, "stopped intent", _STOP, _ENDED, _always),
    # Running intent: what must not go on.
    Row(_S.INHIBITED_ROUTED, "2", _RUN, _ANY, _if(facts.is_inhibited_and_exposed), commands.withdraw),
    Row(_S.INHIBITED, "2", _RUN, _ANY, _if(facts.is_inhibited)),
    Row(_S.UNPROVEN, "3", _RUN, _ANY, _if(facts.is_unproven), commands.withdraw),
    Row(_S.UNREADABLE, "4", _RUN, _UNREAD, _always),
    Row(_S.MISROUTED, "6", _RUN, _READ, _if(facts.leads_astray), commands.withdraw),
    Row(_S.GONE_UNPROVEN, "5", _RUN, _GONE, _if(facts.is_kept_by_an_unread_route), commands.withdraw),
    Row(_S.UNRELEASED, "5", _RUN, _GONE, _if(facts.has_claims), commands.release_binds),
    Row(_S.UNFORGOTTEN, "5", _RUN, _GONE, _if(facts.has_memory), commands.forget),
    Row(_S.GONE, "5", _RUN, _GONE, _always),
    Row(_S.TRANSITIONAL, "7", _RUN, _CHANGING, _always),
    Row(_S.PAUSED, "8", _RUN, _PAUSED, _always),
    Row(_S.UNSAFE, "8", _RUN, _UNKNOWN, _always),
    # Done: it ended well, where the policy takes that for its end.
    Row(_S.DONE_ROUTED, "done", _RUN, _DOWN, _if(tuned_facts.is_done_and_exposed), commands.withdraw),
    Row(_S.DONE_REMEMBERED, "done", _RUN, _DOWN, _if(tuned_facts.is_done_with_history), commands.drop_history),
    Row(_S.ORPHANED, "memory", _RUN, _DOWN, _if(tuned_facts.is_done_with_orphans), commands.forget_orphan),
    Row(_S.DONE, "done", _RUN, _DOWN, _if(evidence.is_done)),
    # What must not go on, once more: ports that others' routes name; and from here on a held workload is not touched.
    Row(_S.CONTESTED_ROUTED, "one pass", _RUN, _UP, _if(facts.is_contested_and_exposed), commands.withdraw),
    Row(_S.ON_HOLD, "hold", _RUN, _DOWN_UP, tuned_facts.is_held_from_touch, until=evidence.held_until_s),
    Row(_S.CONTESTED, "one pass", _RUN, _UP, _if(facts.is_contested_for_good), commands.yield_port),
    Row(_S.CONTENDING, "one pass", _RUN, _UP, _if(facts.is_contested)),
    # Charges: each execution once, before anything new is tried.
    Row(_S.UNREADY, "11", _RUN, _DOWN_UP, _if(facts.is_newly_unready), commands.charge(Cause.UNREADY)),
    Row(_S.ENDED, "9", _RUN, _DOWN, _if(evidence.has_landed), commands.charge(Cause.ENDED)),
    Row(_S.RELAPSED, "10", _RUN, _UP, _if(facts.has_relapsed), commands.charge(Cause.RELAPSED)),
    Row(_S.REFUSED, "9", _RUN, _DOWN_UP, _if(facts.was_refused_in_vain), commands.charge(Cause.REFUSED)),
    # Sick, and not to be restarted for that.
    Row(_S.SIDELINED_ROUTED, "10", _RUN, _UP, _if(tuned_facts.is_sidelined_and_exposed), commands.withdraw),
    Row(_S.SIDELINED, "10", _RUN, _UP, _if(evidence.is_sidelined)),
    # The way up: down, or sick.
    Row(_S.COOLING, "9, 10", _RUN, _DOWN_UP, facts.waits_out_its_budget, until=evidence.retry_at_s),
    Row(_S.UNGRANTED, "9, 10", _RUN, _DOWN_UP, _if(facts.lacks_a_grant)),
    Row(_S.SPENT, "one pass", _RUN, _DOWN_UP, _if(facts.has_spent_its_pass)),
    Row(_S.HELD_OFF, "one pass", _RUN, _DOWN, _if(facts.is_contested)),
    Row(_S.EXCLUDED, "candidates", _RUN, _DOWN_UP, _if(facts.is_excluded)),
    Row(_S.EXPOSED, "6, 10", _RUN, _DOWN_UP, _if(facts.is_exposed), commands.withdraw),
    Row(_S.DUE, "9, 10", _RUN, _DOWN_UP, _if(facts.needs_an_attempt_on_record), commands.record_attempt),
    Row(_S.DOWN, "9", _RUN, _DOWN, _always, commands.start),
    Row(_S.SICK, "10", _RUN, _UP, _if(evidence.is_sick), commands.restart),
    # Running: what is left to verify.
    Row(_S.UNBOUND, "11", _RUN, _UP, _if(facts.is_newly_unbound), commands.charge(Cause.UNBOUND)),
    Row(_S.PORTLESS, "11", _RUN, _UP, _if(evidence.is_unbound)),
    Row(_S.BLIND, "router", _RUN, _UP, _if(facts.is_published_blindly)),
    Row(_S.STARTING, "11", _RUN, _UP, _if(facts.is_starting_unawaited), commands.await_health),
    Row(_S.STARTING_YET, "11", _RUN, _UP, _if(facts.is_starting)),
    Row(_S.ILL, "11", _RUN, _UP, _if(facts.is_ill)),
    Row(_S.HEALTH_UNREAD, "11", _RUN, _UP, _if(facts.is_of_unread_health)),
    Row(_S.NOT_READY, "11", _RUN, _UP, _if(evidence.is_unready)),
    Row(_S.UNPROBED, "11", _RUN, _UP, _if(facts.needs_a_probe), commands.probe),
    Row(_S.UNSAVED, "12", _RUN, _UP, _if(facts.is_off_the_record), commands.persist_binds),
    Row(_S.UNREMEMBERED, "13", _RUN, _UP, _if(facts.is_unverified), commands.record_verified),
    Row(_S.UNROUTED, "13", _RUN, _UP, _if(facts.is_unrouted), commands.publish),
    # Serving.
    Row(_S.RECOVERED, "14", _RUN, _UP, facts.has_been_stable, commands.drop_history),
    Row(_S.SERVING_HELD, "hold", _RUN, _UP, tuned_facts.is_on_hold, until=evidence.held_until_s),
    Row(_S.WATCHED, "10", _RUN, _UP, _if(facts.is_unhealthy)),
    Row(_S.UNCONFIRMED, "14", _RUN, _UP, _if(facts.is_unstable)),
    Row(_S.PROVING, "14", _RUN, _UP, _if(facts.has_history), until=evidence.stable_at_s),
    Row(_S.ORPHANED, "memory", _RUN, _UP, _if(facts.has_orphans), commands.forget_orphan),
    Row(_S.SETTLED, "14", _RUN, _UP, _always),
)

NARROWED: dict[tuple[Scope, SeenAs], tuple[Row, ...]] = {
    (wanted, look): tuple(row for row in ROWS if wanted in row.scopes and look in row.looks)
    for wanted in Scope
    for look in SeenAs
}
"""The rows that can hold, in order, by scope and kind of look: derived from ROWS, never a second law."""

_CALM = ROWS[-1:]


def rows(subject: Subject) -> tuple[Row, ...]:
    """Return the rows that can hold for a subject, in order. Of those that are calm, which most are, only the last one can."""
    return _CALM if is_calm(subject) else NARROWED[scope(subject), subject.seen_as]
