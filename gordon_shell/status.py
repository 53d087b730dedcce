"""What `gordon-shell status` prints: one line for each service, read aloud or as JSON."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime

from attrs import asdict

from gordon_core.observation import Clock, Container
from gordon_core.planner import Decision, Plan
from gordon_core.sentences import container_id, in_words, plural, remedy, sentence
from gordon_shell.counts_text import Mark, counts, mark
from gordon_shell.leftovers import Unstarted
from gordon_shell.ports import Service
from gordon_shell.seen_text import exposures, route_in_words, seen_in_words

VERSION = 1
NOTHING = "Nothing is adopted; to begin: gordon-shell adopt APP SERVICE=CONTAINER"

Sessions = Mapping[Service, int]
"""How many sessions still run over former routes of services that are not routed."""


def lines(plan: Plan, sessions: Sessions, left: tuple[Unstarted, ...] = ()) -> tuple[str, ...]:
    """Return a line for each service, each superseded container and what else interrupted deploys left, and one of counts."""
    others = tuple(f"{Mark.WAITS.value} {_leftover(each)}" for each in left)
    if not plan.decisions:
        return (*others, NOTHING)
    told = tuple(f"{mark(each).value} {_line(each, plan.clock, sessions)}" for each in plan.decisions)
    total = counts("service", ((each, ()) for each in plan.services))
    return (*told, *others, f"{total[:1].upper()}{total[1:]}.")


def _leftover(left: Unstarted) -> str:
    whose = f"{left.app}/{left.service}"
    named = f"{left.name}, {left.container_id[:12]}"
    return f"{whose}, left over from an interrupted deploy ({named}): never started; the next deploy of {whose} removes it"


def _line(decision: Decision, clock: Clock, sessions: Sessions) -> str:
    whose = ", ".join(each for each in (_container_name(decision), container_id(decision)[:12]) if each)
    looks = "; ".join(each for each in (_seen(decision, clock), _route(decision)) if each)
    name = decision.subject.name + (f", {decision.role.value}" if decision.old is not None else "")
    parts = [f"{name} ({whose or 'no container'}): {looks}: {sentence(decision, clock)}", *_warnings(decision, sessions)]
    return "; ".join([*parts, *_help(decision, clock)])


def _container_name(decision: Decision) -> str:
    seen = decision.old.seen if decision.old is not None else decision.subject.seen
    return seen.name if isinstance(seen, Container) else ""


def _seen(decision: Decision, clock: Clock) -> str:
    if decision.old is not None:
        return seen_in_words(decision.old.seen, clock)
    return seen_in_words(decision.subject.seen, clock) if decision.subject.declared is not None else ""


def _route(decision: Decision) -> str:
    return route_in_words(decision.subject) if decision.old is None else ""


def _warnings(decision: Decision, sessions: Sessions) -> list[str]:
    if decision.old is not None:
        return []
    left = sessions.get((decision.subject.app, decision.subject.service), 0)
    told = [*exposures(decision.subject), *decision.subject.policy_faults]
    return [*told, *([f"{plural(left, 'session')} still over its former route"] if left else [])]


def _help(decision: Decision, clock: Clock) -> list[str]:
    if decision.effect is not None:
        return [f"next: {in_words(decision.effect)}; to do it now: gordon-shell once"]
    help_with = remedy(decision, clock)
    return [f"to help: {help_with}"] if help_with else []


def document(plan: Plan, sessions: Sessions, left: tuple[Unstarted, ...] = (), *, in_one_line: bool = False) -> str:
    """Return the same as a JSON document; `help` is "" where nobody needs to do anything."""
    at = f"{datetime.fromtimestamp(plan.clock.wall_s, UTC):%Y-%m-%dT%H:%M:%SZ}"
    services = [_fields(each, plan.clock, sessions) for each in plan.decisions]
    leftovers = [asdict(each) for each in left]
    whole = {"document": "gordon-status", "version": VERSION, "at": at, "services": services, "leftovers": leftovers}
    return json.dumps(whole, indent=None if in_one_line else 2) + "\n"


def _fields(decision: Decision, clock: Clock, sessions: Sessions) -> dict[str, object]:
    subject = decision.subject
    return {
        "app": subject.app,
        "service": subject.service,
        "role": decision.role.value,
        "intent": subject.intent.value,
        "container_id": container_id(decision),
        "container_name": _container_name(decision),
        "seen": _seen(decision, clock),
        "route": _route(decision),
        "situation": decision.situation.name,
        "sentence": sentence(decision, clock),
        "held": decision.is_held,
        "next": in_words(decision.effect) if decision.effect is not None else "",
        "help": "gordon-shell once" if decision.effect is not None else remedy(decision, clock),
        "notes": _warnings(decision, sessions),
        "policy": list(map(str, decision.subject.policy_constants)) if decision.old is None else [],
    }
