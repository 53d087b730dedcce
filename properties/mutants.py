"""Cores broken by hand, to test the proof: each must fail in the simulated world, by the invariant that names its fault.

    python -m properties.mutants                   break the core in every way, and say by what each was found
    python -m properties.mutants "charge per look"  break it in this way alone

Those of the laws for deploys are in `deploy_mutants`, and are tried as well; `broken` says how.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count

from properties import deploy_mutants
from properties.broken import Mutant, Patch, tried

_SERVICES, _FACTS, _FOLDS, _EVIDENCE, _SUPERSEDED = "services.py", "facts.py", "folds.py", "evidence.py", "superseded.py"
_NEVER = "_if(lambda _subject: False)"
_UNSAVED = '    Row(_S.UNSAVED, "12", _RUN, _UP, _if(facts.is_off_the_record), commands.persist_binds),\n'
_UNREMEMBERED = '    Row(_S.UNREMEMBERED, "13", _RUN, _UP, _if(facts.is_unverified), commands.record_verified),\n'
_UNROUTED = '    Row(_S.UNROUTED, "13", _RUN, _UP, _if(facts.is_unrouted), commands.publish),\n'
_MISROUTED = '    Row(_S.MISROUTED, "6", _RUN, _READ, _if(facts.leads_astray), commands.withdraw),\n'
_GONE_UNPROVEN = '    Row(_S.GONE_UNPROVEN, "5", _RUN, _GONE, '
_EXPOSED = "    return needs_attempt(subject) and not is_clear(subject)\n"
_UNSTABLE = "        return None\n    window, start = subject.memory.window, evidence.started_at(subject)\n"
_UNSTABLE_KEPT = _UNSTABLE.replace("return None", "return subject.memory.window")
_UNBROKEN = "    unbroken = (\n        window is not None\n"
_OF_THE_SAME = "        and window.started_at == start\n"

_UNPROVEN = '    Row(_S.UNPROVEN, "3", _RUN, _ANY, _if(facts.is_unproven), commands.withdraw),\n'
_UNPROVEN_GONE: Patch = (_SERVICES, _UNPROVEN, _UNPROVEN.replace("_ANY", "tuple(each for each in SeenAs if each not in _GONE)"))
_BROKEN_OFF = "not (isinstance(subject.route, RouteSeen) and not subject.route.binds)"
_OTHER_BINDS = "        and (not runs(subject) or each.effect.binds == binds)\n"

PUBLICATION = (
    Mutant(
        "publish before persist", "P4", _SERVICES,
        _UNSAVED + _UNREMEMBERED + _UNROUTED, _UNREMEMBERED + _UNROUTED + _UNSAVED,
    ),
    Mutant("evidence about other binds accepted", "P4", _EVIDENCE, _OTHER_BINDS, seed=17),
    Mutant(
        "binds compared by their number", "P1", _EVIDENCE,
        "(len(some) == len(others) and set(some) == set(others))", "len(some) == len(others)", seed=689,
    ),
    Mutant(
        "verification not dropped with a new revision", "P1", _EVIDENCE,
        "        and verified.revision == declared.revision\n", seed=498,
    ),
    Mutant("publish without a probe", "P1", _SERVICES, "_if(facts.needs_a_probe)", _NEVER, seed=9),
    Mutant("another execution's readiness accepted", "P1", _EVIDENCE, "        and each.effect.started_at == start\n", seed=17),
    Mutant(
        "verified still after a restart", "P1", _EVIDENCE,
        "        and verified.started_at == started_at(subject)\n", seed=182,
    ),
    Mutant(
        "no withdrawal before a restart", "P2", _FACTS,
        _EXPOSED, _EXPOSED.replace("needs_attempt(subject)", "needs_attempt(subject) and not is_sick(subject)"),
    ),
    Mutant("no withdrawal before a start", "P2", _FACTS, _EXPOSED, _EXPOSED.replace("needs_attempt", "is_sick"), seed=2),
    Mutant("no withdrawal before a stop", "P2", _SERVICES, "_if(facts.awaits_withdrawal)", _NEVER, seed=14),
    Mutant(
        "an unread router taken for no route", "P2", _FACTS,
        "    if route_is_unread(subject) and not is_published(subject):\n", "    if route_is_unread(subject):\n", seed=2,
    ),
    Mutant(
        "an unproven withdrawal forgotten", "P3", _FOLDS,
        "unproven=not isinstance(outcome, Done)", "unproven=False", seed=97,
    ),
    Mutant(
        "no answer taken for a withdrawal", "P3", _FOLDS,
        "unproven=not isinstance(outcome, Done)", 'unproven=type(outcome).__name__ == "Refused"', seed=560,
    ),
    Mutant("the UNPROVEN row dropped", "P3", _SERVICES, _UNPROVEN, seed=91),
    Mutant(
        "an unproven withdrawal proven by any read", "P3", _FOLDS,
        _BROKEN_OFF, "not isinstance(subject.route, RouteSeen)", seed=76,
    ),
    Mutant(
        "an unproven withdrawal proven by silence", "P3", _FOLDS,
        _BROKEN_OFF, "(isinstance(subject.route, RouteSeen) and bool(subject.route.binds))", seed=13,
    ),
    Mutant(
        "retire before the successor serves", "P5", _SUPERSEDED,
        "_if(_is_needed)", "_if(lambda _old, _subject: False)",
    ),
    Mutant(
        "retire before the successor is routed", "P5", _SUPERSEDED,
        "not tuned_facts.has_taken_over(subject)\n", "not evidence.is_verified(subject)\n", seed=16,
    ),
    Mutant("the marker goes first", "P5", _SUPERSEDED, "_ANY, _OTHERWISE, _retire)", "_ANY, _OTHERWISE, _drop_marker)", seed=5),
    Mutant("start while inhibited", "P6", _SERVICES, "_if(facts.is_inhibited)", _NEVER),
    Mutant(
        "start under stopped intent", "P6", _SERVICES,
        "Scope.RUNNING if subject.intent is Intent.RUNNING else Scope.STOPPED", "Scope.RUNNING", seed=9,
    ),
    Mutant("unread taken for gone", "P7", "observation.py", "return SeenAs.UNREAD\n", "return SeenAs.GONE\n", seed=4),
    Mutant("an app locked by a deploy is touched", "P9", _SERVICES, "_if(facts.is_locked)", _NEVER, seed=2),
    Mutant(
        "claims released while routed", "P10", _SERVICES,
        _MISROUTED + _GONE_UNPROVEN + "_if(facts.is_kept_by_an_unread_route)",
        _MISROUTED.replace("_READ", "_UP") + _GONE_UNPROVEN + _NEVER, seed=164,
    ),
    Mutant(
        "gone while unproven released its claims", "P10", _SERVICES,
        _GONE_UNPROVEN + "_if(facts.is_kept_by_an_unread_route)", _GONE_UNPROVEN + _NEVER, also=(_UNPROVEN_GONE,), seed=164,
    ),
    Mutant(
        "superseded while unproven is retired", "P2", _SUPERSEDED,
        "    if subject.unproven:\n        return True\n    if facts.route_is_unread", "    if facts.route_is_unread", seed=864,
    ),
    Mutant("a clash over a port ignored", "P10", "planner.py", "    if suspects:\n", "    if not suspects:\n", seed=48),
)  # fmt: skip

BUDGET = (
    Mutant("start without an attempt on record", "B1", _SERVICES, "_if(facts.needs_an_attempt_on_record)", _NEVER),
    Mutant(
        "the wall clock used for the budget", "B1", _FOLDS,
        "_after(done, effect, outcome, clock.boot_s)", "_after(done, effect, outcome, clock.wall_s - 1767225600.0)", seed=9,
    ),
    Mutant("IN_FLIGHT row dropped", "F1", _SERVICES, "_if(facts.is_in_flight)", _NEVER, seed=1223),
    Mutant("a missing grant ignored", "F3", _SERVICES, "_if(facts.lacks_a_grant)", _NEVER, seed=87),
    Mutant("the ladder off by one", "B2", "policy.py", "failures - self.free_failures", "failures - self.free_failures - 1"),
    Mutant("two starts in a pass", "F2", _SERVICES, "_if(facts.has_spent_its_pass)", _NEVER, seed=16),
    Mutant(
        "charge per look", "B3", _FACTS,
        "return is_unready(subject) and not is_charged(subject)", "return is_unready(subject)",
    ),
    Mutant(
        "an attempt outlives its charge", "B3", _FOLDS,
        "attempt=None,\n        window=None,\n        v", "window=None,\n        v",
    ),
    Mutant("strike per look", "B3", _FOLDS, "counted.result == failures[-1].started_at", "not failures"),
    Mutant(
        "restart at the first strike", "B3", "policy.py",
        "_threshold: int = field(default=2", "_threshold: int = field(default=1", seed=7,
    ),
    Mutant(
        "one window across executions", "B4", _FOLDS,
        _UNSTABLE + _UNBROKEN + _OF_THE_SAME, _UNSTABLE_KEPT + _UNBROKEN, seed=7,
    ),
    Mutant("an unstable look breaks no window", "B4", _FOLDS, _UNSTABLE, _UNSTABLE_KEPT, seed=7),
    Mutant(
        "a gap breaks no window", "B4", _FOLDS,
        "<= now_s - window.looked_s <= subject.declared.policy.longest_gap_s", "<= now_s", seed=33,
    ),
    Mutant(
        "starting counts as stable", "B4", _FACTS,
        "in {HealthStatus.NONE, HealthStatus.HEALTHY}", "is not HealthStatus.UNHEALTHY", seed=3208,
    ),
    Mutant(
        "a history without trouble", "B5", _FOLDS,
        "return evolve(memory, verified=", "return evolve(memory, attempt=Attempt(effect.started_at), verified=", seed=1,
    ),
    Mutant(
        "a fault of the engine is charged", "B7", _EVIDENCE,
        "return outcome.fault is Fault.WORKLOAD", "return True", seed=60,
    ),
)  # fmt: skip

LIVENESS = (
    Mutant("the budget closed for ever", "L1", "policy.py", "return self.ladder_s[", "return 1e9 + self.ladder_s[", seed=1),
    Mutant("published no more", "L2", _SERVICES, "_if(facts.is_unrouted)", _NEVER),
    Mutant("never stopped", "L3", _SERVICES, "_ALIVE, _always, commands.stop)", "_ALIVE, _always)", seed=9),
    Mutant("never retired", "L4", _SUPERSEDED, "_ANY, _OTHERWISE, _retire)", "_ANY, _OTHERWISE)", seed=5),
    Mutant(
        "what is stopped is withdrawn in every pass", "L5", _FACTS,
        "return may_be_routed(subject) and not results_of(subject, Withdraw)", "return not results_of(subject, Withdraw)", seed=9,
    ),
)  # fmt: skip

_NEVER_TIMED = "lambda _subject, _now_s: False"
_ENDED = '    Row(_S.ENDED, "9", _RUN, _DOWN, _if(evidence.has_landed), commands.charge(Cause.ENDED)),\n'
_DONE_ROUTED = '    Row(_S.DONE_ROUTED, "done"'

TUNED = (
    Mutant(
        "a hold ignored where it is down", "T1", _SERVICES,
        "_DOWN_UP, tuned_facts.is_held_from_touch", f"_DOWN_UP, {_NEVER_TIMED}", seed=6,
    ),
    Mutant(
        "a hold ignored under stopped intent", "T1", _SERVICES,
        '"hold", _STOP, _ALIVE, tuned_facts.is_on_hold', f'"hold", _STOP, _ALIVE, {_NEVER_TIMED}', seed=55,
    ),
    Mutant(
        "retired while on hold", "T1", _SUPERSEDED,
        "_ANY, _is_on_hold", "_ANY, lambda _old, _subject, _now_s: False", seed=59,
    ),
    Mutant(
        "a hold never over", "L1", "tuned_facts.py",
        "and now_s < subject.hold.until_s", "and bool(now_s)", also=(("snapshot.py", "clock.boot_s < self.until_s", "clock"),),
        seed=6,
    ),
    Mutant("what is done is started again", "T2", _EVIDENCE, "return ended_well and not is_called_for", "return False", seed=23),
    Mutant(
        "what is done is charged", "T2", _SERVICES, _ENDED, also=((_SERVICES, _DONE_ROUTED, _ENDED + _DONE_ROUTED),), seed=159,
    ),
    Mutant("any end is a good one", "L1", _EVIDENCE, "seen.exit.code == 0", "seen.exit.code >= 0", seed=6),
    Mutant("done, whatever the operator wants", "L1", _EVIDENCE, "memory.again or ", "", seed=23),
    Mutant("restarted, not only withdrawn", "T3", _EVIDENCE, "y is WhenUnhealthy.WITHDRAW", "y is None", seed=3),
    Mutant("sick, and not withdrawn", "T3", "tuned_facts.py", "is_sidelined(subject) and not is_clear(subject)", "False", seed=3),
)  # fmt: skip

MUTANTS = PUBLICATION + BUDGET + LIVENESS + TUNED + deploy_mutants.MUTANTS


def main() -> int:
    """Try the mutants that are named, or all; return how many were not found by their invariant."""
    missed = 0
    with ThreadPoolExecutor(cpu_count()) as pool:
        for verdict in pool.map(tried, [each for each in MUTANTS if each.name in sys.argv[1:] or not sys.argv[1:]]):
            mutant = verdict.mutant
            missed += not verdict.is_found
            line = f"{mutant.name:44} {mutant.invariant:4} {verdict.took_s:5.1f} s  {verdict.found}"
            sys.stdout.write(f"{line}{'  [' + verdict.told + ']' if verdict.told else ''}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{missed} not found by the invariant that names them\n")
    return missed


if __name__ == "__main__":
    sys.exit(main())
