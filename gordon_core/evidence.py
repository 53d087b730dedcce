"""What can be told from a subject about its container, about this pass's results, and from what is remembered of it."""

from typing import assert_never

from gordon_core.effects import (
    AwaitHealth,
    Done,
    Effect,
    Fault,
    Outcome,
    Probe,
    Refused,
    Restart,
    Result,
    Start,
    Unknown,
)
from gordon_core.memory import Memory
from gordon_core.observation import (
    Binds,
    Container,
    HealthStatus,
    Port,
    PortBinding,
    SeenAs,
)
from gordon_core.policy import WhenUnhealthy
from gordon_core.snapshot import Subject

# --- the container -----------------------------------------------------------------------------------------------------


def started_at(subject: Subject) -> str:
    """Return the start time that names the execution seen, "" where there is none."""
    return subject.seen.started_at if isinstance(subject.seen, Container) else ""


def health(subject: Subject) -> HealthStatus:
    """Return what the health check of the container seen says."""
    return subject.seen.health.status if isinstance(subject.seen, Container) else HealthStatus.UNREAD


def is_down(subject: Subject) -> bool:
    """The container exists and does not run: created, exited, dead or stopped."""
    return subject.seen_as is SeenAs.DOWN


def runs(subject: Subject) -> bool:
    """The container runs, and its execution can be named."""
    return subject.seen_as is SeenAs.RUNNING


def present_binds(subject: Subject) -> Binds:
    """Return the binds that the container seen has now, in the order of the declared ports; missing ones are left out."""
    return subject.binds


def missing_ports(subject: Subject) -> tuple[Port, ...]:
    """Return the declared ports that lead nowhere on loopback."""
    if subject.declared is None:
        return ()
    bound = {each.port for each in present_binds(subject)}
    return tuple(each for each in subject.declared.ports if each not in bound)


def is_unbound(subject: Subject) -> bool:
    """A declared port is not bound on loopback."""
    return bool(missing_ports(subject))


def exposed_bindings(subject: Subject) -> tuple[PortBinding, ...]:
    """Return the bindings of declared ports that are reachable from beyond this host; counted as loopback, and reported."""
    if subject.declared is None or not isinstance(subject.seen, Container):
        return ()
    return tuple(
        each
        for each in subject.seen.ports
        if each.port in subject.declared.ports and not each.host_ip.startswith("127.") and each.host_ip != "::1"
    )


# --- results of this pass ------------------------------------------------------------------------------------------------


def results_of(subject: Subject, *kinds: type[Effect]) -> tuple[Result, ...]:
    """Return this pass's results of some kinds of effect, oldest first."""
    return tuple(each for each in subject.results if isinstance(each.effect, kinds))


def failed(subject: Subject, *kinds: type[Effect]) -> bool:
    """An effect of these kinds was refused, or had no answer, in this pass."""
    return any(not isinstance(each.outcome, Done) for each in results_of(subject, *kinds))


def was_attempted(subject: Subject) -> bool:
    """Recovery called for a start or restart in this pass already."""
    return bool(results_of(subject, Start, Restart))


def was_refused(subject: Subject) -> bool:
    """The engine refused to start the container, in this pass, for the workload's own fault."""
    return any(isinstance(each.outcome, Refused) and is_evidence(each.outcome) for each in results_of(subject, Start, Restart))


def was_awaited(subject: Subject) -> bool:
    """The health check was waited for in this pass already."""
    return bool(results_of(subject, AwaitHealth))


def is_evidence(outcome: Outcome) -> bool:
    """It was done, or refused for the workload's own fault; no answer, and the faults of others, say nothing of the workload."""
    match outcome:
        case Done():
            return True
        case Refused():
            return outcome.fault is Fault.WORKLOAD
        case Unknown():
            return False
        case _ as never:
            assert_never(never)


def answers(subject: Subject) -> tuple[Result, ...]:
    """Return this pass's probe results that are evidence about the execution seen at the binds it has; others prove nothing."""
    binds, start = present_binds(subject), started_at(subject)
    return tuple(
        each
        for each in results_of(subject, Probe)
        if isinstance(each.effect, Probe)
        and each.effect.started_at == start
        and (not runs(subject) or each.effect.binds == binds)
        and is_evidence(each.outcome)
    )


def is_unready(subject: Subject) -> bool:
    """This execution answered, in this pass, that it is not ready."""
    found = answers(subject)
    return bool(found) and isinstance(found[-1].outcome, Refused)


def is_ready(subject: Subject) -> bool:
    """This execution answered its readiness in this pass, at the binds that it still has; or there is nothing to ask."""
    if not present_binds(subject):
        return True
    found = answers(subject)
    return bool(found) and isinstance(found[-1].outcome, Done)


def was_supplanted(subject: Subject) -> bool:
    """ACTIVE names another generation than the one that this pass began with."""
    generation = subject.generation()
    named = (getattr(each.effect, "generation", generation) for each in subject.results)
    return any(each != generation for each in named)


# --- memory --------------------------------------------------------------------------------------------------------------


def same_binds(some: Binds, others: Binds) -> bool:
    """They are the same binds, in whichever order a deploy tool wrote them down."""
    return some == others or (len(some) == len(others) and set(some) == set(others))


def is_verified(subject: Subject) -> bool:
    """The container runs as the verified execution, of this revision, at the verified binds."""
    verified, declared = subject.memory.verified, subject.declared
    return (
        verified is not None
        and declared is not None
        and runs(subject)
        and verified.started_at == started_at(subject)
        and verified.revision == declared.revision
        and same_binds(verified.binds, present_binds(subject))
    )


def is_on_record(subject: Subject) -> bool:
    """The binds on record in ACTIVE are those that the container has."""
    return subject.declared is not None and same_binds(subject.declared.binds, present_binds(subject))


def has_landed(subject: Subject) -> bool:
    """The attempt on record took effect: the container shows another start time than before it. It is pending."""
    attempt = subject.memory.attempt
    return attempt is not None and attempt.before != started_at(subject)


def is_charged(subject: Subject) -> bool:
    """The execution seen was charged already."""
    return subject.memory.charged is not None and subject.memory.charged == started_at(subject)


def retry_at_s(subject: Subject) -> float:
    """Return when the budget opens again, in seconds since boot; 0 where it is open."""
    memory, declared = subject.memory, subject.declared
    if memory.charged_at_s is None or declared is None:
        return 0.0
    return memory.charged_at_s + declared.policy.wait_s(memory.failures)


def strikes(subject: Subject) -> int:
    """Return how many distinct failed health results of the execution seen were counted."""
    counted = subject.memory.strikes
    return counted.count if counted is not None and counted.started_at == started_at(subject) else 0


def is_sick(subject: Subject) -> bool:
    """It runs, and is unhealthy at the threshold."""
    return (
        runs(subject)
        and health(subject) is HealthStatus.UNHEALTHY
        and subject.declared is not None
        and strikes(subject) >= subject.declared.policy.unhealthy_threshold
    )


def is_sidelined(subject: Subject) -> bool:
    """It runs, is unhealthy at the threshold, and its policy is to withdraw it then, and to leave it running."""
    return is_sick(subject) and subject.declared is not None and subject.declared.policy.unhealthy is WhenUnhealthy.WITHDRAW


def needs_attempt(subject: Subject) -> bool:
    """Only a start or a restart brings it back: it is down, or sick and to be restarted then."""
    return is_down(subject) or (is_sick(subject) and not is_sidelined(subject))


def is_done(subject: Subject) -> bool:
    """It ended by itself with exit code 0, its policy takes that for its end, and nobody wants it started again.

    What recovery stopped for a port, or is about to start, did not end by itself.
    """
    seen, declared, memory = subject.seen, subject.declared, subject.memory
    if declared is None or not declared.policy.exit_0_is_done or not isinstance(seen, Container) or seen.exit is None:
        return False
    ended_well = is_down(subject) and bool(seen.started_at) and seen.exit.code == 0 and not seen.exit.error
    is_called_for = memory.again or memory.contested_port > 0 or (memory.attempt is not None and not has_landed(subject))
    return ended_well and not is_called_for


def held_until_s(subject: Subject) -> float | None:
    """Return when its hold ends, in seconds since boot, or None where it has none."""
    return subject.hold.until_s if subject.hold is not None else None


def stable_at_s(subject: Subject) -> float | None:
    """Return when its five stable minutes are over, in seconds since boot, or None outside a stable window."""
    window, declared = subject.memory.window, subject.declared
    if window is None or declared is None or window.started_at != started_at(subject):
        return None
    return window.since_s + declared.policy.stable_window_s


def is_remembered(memory: Memory) -> bool:
    """Something is remembered."""
    is_known = memory.charged is not None or memory.verified is not None
    return memory.has_history() or is_known or memory.contested_port > 0 or memory.again
