"""Every sentence that a plan prints, as exact text, for the exemplar of its situation, with the command that would help."""

import pytest

from gordon_core.sentences import remedy, sentence
from gordon_core.situations import Situation
from tests.core_examples import EXEMPLARS, decided

EXPECTED: dict[Situation, tuple[str, str]] = {
    Situation.CLASHING: ("its route names port 32768, which blog/web holds now; the route must go", ""),
    Situation.LOCKED: ("skipped: its app is locked by pid 4711", ""),
    Situation.IN_FLIGHT: (
        "an earlier command (stop it, with 10 s to stop in) has not come back yet; nothing else until it does",
        "",
    ),
    Situation.SUPPLANTED: ("ACTIVE changed during this pass; nothing more is done to it in this pass", "gordon-shell once"),
    Situation.ABANDONED: ("not in ACTIVE, but still routed or perhaps routed; the route must go", ""),
    Situation.LEFTOVER: ("not in ACTIVE, but still remembered", ""),
    Situation.ABSENT: ("not in ACTIVE; its workload is left alone", ""),
    Situation.REVIVED_ROUTED: ("the operator wants it stopped, and it may still be routed; the route must go first", ""),
    Situation.REVIVED: ("the operator wants it stopped, but it is running", ""),
    Situation.LEAVING: ("the operator wants it stopped, and the engine is removing it", ""),
    Situation.SHUT_UNREAD: (
        "the operator wants it stopped, but it could not be read (the engine did not answer within 10 s); nothing is concluded",
        "docker inspect 3f2a9c1b7d4e",
    ),
    Situation.SHUT_REMEMBERED: ("stopped, as the operator wants; its history can go", ""),
    Situation.SHUT_ROUTED: (
        "stopped, as the operator wants, but its route could not be withdrawn; trying again in the next pass",
        "gordon-shell status",
    ),
    Situation.SHUT: ("stopped, as the operator wants", ""),
    Situation.ON_HOLD: ("held until 07:04:12Z by alice: migration", "gordon-shell release shop/web"),
    Situation.SERVING_HELD: ("serving; held until 07:04:12Z by alice: migration", ""),
    Situation.OLD_ON_HOLD: ("superseded; held until 07:04:12Z by alice: migration", ""),
    Situation.CANDIDATE_ON_HOLD: ("left by a deploy; held until 07:04:12Z by alice: migration", ""),
    Situation.DONE_ROUTED: ("done, but it may still be routed; the route must go", ""),
    Situation.DONE_REMEMBERED: ("done; its history can go", ""),
    Situation.DONE: ("done: it ended by itself with exit code 0, and is not started again", ""),
    Situation.SIDELINED_ROUTED: ("unhealthy at strike 2 of 2, and it may still be routed; the route must go", ""),
    Situation.SIDELINED: (
        "unhealthy at strike 2 of 2; left running, and not routed before it is healthy",
        "docker inspect 3f2a9c1b7d4e",
    ),
    Situation.INHIBITED_ROUTED: ("inhibited (its volume is being moved), and it may still be routed; the route must go", ""),
    Situation.INHIBITED: (
        "inhibited (its volume is being moved); never started",
        "gordon-shell allow shop/web",
    ),
    Situation.UNPROVEN: ("an earlier withdrawal is unproven; nothing else is done before it is proven", ""),
    Situation.UNREADABLE: (
        "it could not be read (the engine did not answer within 10 s); nothing is concluded",
        "docker inspect 3f2a9c1b7d4e",
    ),
    Situation.MISROUTED: ("its route does not lead to a verified execution that runs", ""),
    Situation.GONE_UNPROVEN: ("gone, and the router could not be read; the route must provably go", ""),
    Situation.UNRELEASED: ("gone, but its port claims remain", ""),
    Situation.UNFORGOTTEN: ("gone, but still remembered", ""),
    Situation.GONE: (
        "gone; never rebuilt by recovery",
        "gordon-shell adopt shop web=CONTAINER",
    ),
    Situation.TRANSITIONAL: (
        "restarting: the engine is changing it; looking again in the next pass",
        "docker inspect 3f2a9c1b7d4e",
    ),
    Situation.UNSAFE: ("unknown; left alone, and not counted as stable", "docker inspect 3f2a9c1b7d4e"),
    Situation.PAUSED: (
        "paused; left alone, and not counted as stable",
        "docker unpause 3f2a9c1b7d4e",
    ),
    Situation.CONTESTED_ROUTED: (
        "port 32768 is also named by the route of shop/web, which could not be withdrawn; its own route must go",
        "",
    ),
    Situation.CONTESTED: (
        "port 32768 is also named by the route of shop/web, which could not be withdrawn; it must not answer there",
        "",
    ),
    Situation.CONTENDING: (
        "port 32768 is also named by the route of shop/web; waiting until that is withdrawn",
        "gordon-shell once",
    ),
    Situation.UNREADY: ("not ready: 80/tcp at 32768 closed the connection at once", ""),
    Situation.ENDED: ("ended with an attempt pending, not yet charged", ""),
    Situation.RELAPSED: ("unhealthy with an attempt pending, not yet charged", ""),
    Situation.REFUSED: ('the engine refused to start it: 500: exec: "serve": executable file not found', ""),
    Situation.COOLING: (
        "down, waiting out its budget until 07:04:12Z, in 4 min 12 s, after 6 failures",
        "gordon-shell retry shop/web",
    ),
    Situation.UNGRANTED: (
        "down, but the host's grant is missing: /srv/data does not exist any more; /dev/fuse is not granted",
        "grant it in the host policy, or deploy it without",
    ),
    Situation.SPENT: (
        "down; it was started in this pass already, trying again in the next",
        "docker logs 3f2a9c1b7d4e",
    ),
    Situation.HELD_OFF: (
        "down; its port 32768 is still named by the route of shop/web; waiting until that is withdrawn",
        "gordon-shell once",
    ),
    Situation.EXCLUDED: (
        "down; the candidate of an interrupted deploy may still run, and both must not run at once",
        "gordon-shell once",
    ),
    Situation.EXPOSED: ("unhealthy, and it may still be routed; the route must provably go first", ""),
    Situation.DUE: ("down, and free to start", ""),
    Situation.DOWN: ("down, its attempt on record", ""),
    Situation.SICK: ("unhealthy at strike 2 of 2, its attempt on record", ""),
    Situation.UNBOUND: ("running, but 80/tcp is not bound on loopback, not yet charged", ""),
    Situation.PORTLESS: (
        "running, but 80/tcp is not bound on loopback; never published",
        "docker port 3f2a9c1b7d4e",
    ),
    Situation.STARTING: ("running, and its health check has not said anything yet", ""),
    Situation.STARTING_YET: (
        "running, and its health check has still not said anything; looking again in the next pass",
        "docker inspect 3f2a9c1b7d4e",
    ),
    Situation.ILL: (
        "running, but unhealthy (strike 1 of 2); not published before it is healthy",
        "docker inspect 3f2a9c1b7d4e",
    ),
    Situation.HEALTH_UNREAD: (
        "running, but its health could not be read; not published",
        "docker inspect 3f2a9c1b7d4e",
    ),
    Situation.BLIND: (
        (
            "running, but the router could not be read (the proxy's socket refused the connection); "
            "nothing is published or withdrawn"
        ),
        "gordon-shell status",
    ),
    Situation.NOT_READY: (
        "running, but not ready: 80/tcp at 32768 closed the connection at once; trying again in the next pass",
        "docker logs 3f2a9c1b7d4e",
    ),
    Situation.UNPROBED: ("running, but this execution has not answered its readiness check at these binds", ""),
    Situation.UNSAVED: ("ready, but its binds are not on record", ""),
    Situation.UNREMEMBERED: ("ready, but not yet remembered as verified", ""),
    Situation.UNROUTED: ("ready and on record, but not routed", ""),
    Situation.RECOVERED: ("five stable minutes; 2 failures can be forgotten", ""),
    Situation.WATCHED: ("serving, but unhealthy (strike 1 of 2)", ""),
    Situation.UNCONFIRMED: ("serving, but its health is not known; not counted as stable", ""),
    Situation.PROVING: ("serving again; 2 failures forgotten at 07:04:12Z, in 4 min 12 s, if it stays stable", ""),
    Situation.ORPHANED: ("as desired, but an earlier container is still remembered", ""),
    Situation.SETTLED: ("as desired", ""),
    Situation.BLOCKED: (
        "could not publish 80/tcp at 32768: the proxy still shows the server up; trying again in the next pass",
        "gordon-shell once",
    ),
    Situation.OLD_HELD: ("superseded; skipped: its app is locked by pid 4711", ""),
    Situation.RECLAIMED: ("marked as superseded, but ACTIVE names it; it stays", ""),
    Situation.OLD_UNREAD: (
        "superseded, but it could not be read (the engine did not answer within 10 s); nothing is concluded",
        "docker inspect 9bd01e55c0aa",
    ),
    Situation.AWAITING: ("superseded; kept until its successor was seen to serve", ""),
    Situation.OLD_ROUTED: (
        "superseded, but the route to it is not proven gone; kept until it is",
        "gordon-shell once",
    ),
    Situation.UNCLAIMED: ("superseded and gone, but its port claims remain", ""),
    Situation.FINISHED: ("superseded and gone; only its marker is left", ""),
    Situation.RETIRED: ("superseded and stopped; it can be removed", ""),
    Situation.OLD_LEAVING: ("superseded; the engine is removing it", ""),
    Situation.OUTLIVED: ("superseded; its successor serves, or none is wanted", ""),
    Situation.CANDIDATE_HELD: ("left by a deploy; skipped: its app is locked by pid 4711", ""),
    Situation.PROMOTED: ("named in ACTIVE or by a marker, so the journal can let go of it", ""),
    Situation.CHOSEN: ("named in ACTIVE or by a marker; kept", ""),
    Situation.CANDIDATE_UNREAD: (
        "left by a deploy, but it could not be read (the engine did not answer within 10 s); kept",
        "docker inspect c4nd1da7ec4n",
    ),
    Situation.CANDIDATE_GONE: ("left by a deploy, and gone; only its journal entry is left", ""),
    Situation.NEVER_WAS: ("bore a name of this service, and is gone", ""),
    Situation.FOREIGN: (
        "bears a name of this service, but no label says that a deploy of it made it; left alone",
        "",
    ),
    Situation.CANDIDATE_ROUTED: ("bears a name of this service, and a route may lead to it; kept", ""),
    Situation.UNSELECTED: (
        "bears a name of this service, and may be what serves, since nothing that ACTIVE names runs; kept",
        "",
    ),
    Situation.NAMESAKE: ("bears the canonical name of this service, and runs; kept", ""),
    Situation.STALE: ("left running by an interrupted deploy", ""),
    Situation.STUBBORN: ("left by an interrupted deploy, and it did not stop", ""),
    Situation.LEFT_DOWN: ("left by an interrupted deploy, and down", ""),
    Situation.CANDIDATE_LEAVING: ("left by a deploy; the engine is removing it", ""),
}
"""The sentence, and the one command that would help."""


@pytest.mark.parametrize("situation", Situation, ids=lambda each: each.name)
def test_the_sentence_of_each_situation_reads_aloud(situation: Situation) -> None:
    snapshot = EXEMPLARS[situation]
    decision = decided(snapshot, situation)
    assert EXPECTED[situation] == (sentence(decision, snapshot.clock), remedy(decision, snapshot.clock))
