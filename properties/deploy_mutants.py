"""Laws for deploys broken by hand, to test the proof of C1 to C3: each must fail in the simulated world, by a named invariant.

`mutants` tries them with those of recovery; `broken` says how.
"""

from properties.broken import DeployMutant

_DEPLOYS, _FACTS, _CANDIDATES = "deploys.py", "deploy_facts.py", "candidates.py"
_RESTORING = "    Row(_S.RESTORING, facts.must_restore, _recover),\n"
_CLEARING = "    Row(_S.CLEARING, facts.must_clear, _clear),\n"
_ON_HOLD = "    Row(_S.ON_HOLD, facts.is_on_hold, _give_up(Why.ON_HOLD, _of_the_hold)),\n"
_LEFT_ON_HOLD = "    Row(_S.CANDIDATE_ON_HOLD, (*_ALIVE, SeenAs.DOWN), _is_on_hold, until=evidence.held_until_s),\n"
_UNSELECTED = (
    "    Row(_S.UNSELECTED, _RUNNING, _if(_is_all_there_is)),\n    Row(_S.NAMESAKE, _RUNNING, _if(_bears_the_canonical_name)),\n"
)
_OLD_ROUTED = "    Row(_S.OLD_ROUTED, facts.is_old_routed, _withdraw),\n"

MUTANTS = (
    DeployMutant("named in ACTIVE before it is ready", "P4", _DEPLOYS, "    Row(_S.UNPROBED, facts.needs_a_probe, _probe),\n"),
    DeployMutant(
        "started before it is journalled", "C1", _DEPLOYS, "    Row(_S.UNJOURNALLED, facts.is_unjournalled, _journal),\n",
    ),
    DeployMutant("never cleared", "C1", _DEPLOYS, _CLEARING, seed=1),
    DeployMutant(
        "backed out without the journal", "C1", _DEPLOYS, "    Row(_S.DISOWNING, facts.must_journal_again, _journal),\n",
        seed=4,
    ),
    DeployMutant(
        "what is routed is cleared", "C2", _CANDIDATES, "    Row(_S.CANDIDATE_ROUTED, _ALIVE, _if(_may_be_routed)),\n",
        seed=234,
    ),
    DeployMutant(
        "all that runs is cleared", "C2", _CANDIDATES, _UNSELECTED, seed=121,
    ),
    DeployMutant(
        "what somebody else made is cleared", "C2", _CANDIDATES, "    Row(_S.FOREIGN, _ANY, _if(_is_foreign)),\n", seed=61,
    ),
    DeployMutant(
        "the old one stopped although both may run", "P6", _FACTS,
        "    return must_yield(deployment) and deployment.subject.seen_as not in",
        "    return not own_started_at(deployment) and deployment.subject.declared is not None"
        " and deployment.subject.seen_as not in",
        seed=1,
    ),
    DeployMutant(
        "the old one withdrawn although both may run", "P7", _FACTS,
        "    return must_yield(deployment) and not facts.is_clear(deployment.subject)\n",
        "    return not own_started_at(deployment) and deployment.subject.declared is not None"
        " and not facts.is_clear(deployment.subject)\n",
        seed=3,
    ),
    DeployMutant("the old one stopped while routed", "P2", _DEPLOYS, _OLD_ROUTED),
    DeployMutant("both run at once", "F5", _DEPLOYS, "    Row(_S.OLD_UP, facts.is_old_up, _stop),\n"),
    DeployMutant("never restored", "C3", _DEPLOYS, _RESTORING, seed=23),
    DeployMutant("no way back", "C3", _DEPLOYS, "    Row(_S.BACKING_OUT, facts.can_back_out, _go_back),\n", seed=373),
    DeployMutant(
        "gone back to as if it were not verified", "C3", _DEPLOYS, "own.verified_at(deployment, again.revision))", "None)",
        seed=175,
    ),
    DeployMutant("the old one not marked", "P5", _DEPLOYS, "old is None or isinstance(", "old is None or not isinstance("),
    DeployMutant("no name given up", "C3", _DEPLOYS, "    Row(_S.CROWDED, facts.is_crowded, _make_way),\n", seed=303),
    DeployMutant(
        "leftovers left", "C3", _DEPLOYS, "    Row(_S.LEFTOVER, facts.has_leftovers, _clear_leftovers),\n",
        seed=3,
    ),
    DeployMutant("deployed although it is on hold", "T1", _DEPLOYS, _ON_HOLD, seed=6),
    DeployMutant(
        "a hold ignored once a deploy has begun", "T1", _FACTS,
        "deployment.clock.boot_s) and not is_activated(deployment)", "deployment.clock.boot_s) and not deployment.own_id",
        seed=377,
    ),
    DeployMutant("what is left is cleared while on hold", "T1", _CANDIDATES, _LEFT_ON_HOLD, seed=99),
)  # fmt: skip
