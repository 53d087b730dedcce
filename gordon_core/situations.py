"""The names of all situations; the value of each is the sentence that every plan prints, filled in from the subject."""

from enum import Enum


class Situation(Enum):
    """Where a service is. Rows of the table in `services` say when each holds; here stands what it means in words."""

    CLASHING = "its route names port {port}, which {other} holds now; the route must go"
    LOCKED = "skipped: {locked}"
    IN_FLIGHT = "an earlier command ({in_flight}) has not come back yet; nothing else until it does"
    SUPPLANTED = "ACTIVE changed during this pass; nothing more is done to it in this pass"
    ABANDONED = "not in ACTIVE, but still routed or perhaps routed; the route must go"
    LEFTOVER = "not in ACTIVE, but still remembered"
    ABSENT = "not in ACTIVE; its workload is left alone"

    REVIVED_ROUTED = "the operator wants it stopped, and it may still be routed; the route must go first"
    REVIVED = "the operator wants it stopped, but it is {status}"
    LEAVING = "the operator wants it stopped, and the engine is removing it"
    SHUT_UNREAD = "the operator wants it stopped, but it could not be read ({reason}); nothing is concluded"
    SHUT_REMEMBERED = "stopped, as the operator wants; its history can go"
    SHUT_ROUTED = "stopped, as the operator wants, but its route could not be withdrawn; trying again in the next pass"
    SHUT = "stopped, as the operator wants"

    ON_HOLD = "held {hold}"

    INHIBITED_ROUTED = "inhibited ({inhibited}), and it may still be routed; the route must go"
    INHIBITED = "inhibited ({inhibited}); never started"
    UNPROVEN = "an earlier withdrawal is unproven; nothing else is done before it is proven"
    UNREADABLE = "it could not be read ({reason}); nothing is concluded"
    MISROUTED = "its route does not lead to a verified execution that runs"
    GONE_UNPROVEN = "gone, and the router could not be read; the route must provably go"
    UNRELEASED = "gone, but its port claims remain"
    UNFORGOTTEN = "gone, but still remembered"
    GONE = "gone; never rebuilt by recovery"
    TRANSITIONAL = "{status}: the engine is changing it; looking again in the next pass"
    PAUSED = "paused; left alone, and not counted as stable"
    UNSAFE = "{status}; left alone, and not counted as stable"
    DONE_ROUTED = "done, but it may still be routed; the route must go"
    DONE_REMEMBERED = "done; its history can go"
    DONE = "done: it ended by itself with exit code 0, and is not started again"
    CONTESTED_ROUTED = "port {port} is also named by the route of {other}, which could not be withdrawn; its own route must go"
    CONTESTED = "port {port} is also named by the route of {other}, which could not be withdrawn; it must not answer there"
    CONTENDING = "port {port} is also named by the route of {other}; waiting until that is withdrawn"

    UNREADY = "not ready: {answer}"
    ENDED = "ended with an attempt pending, not yet charged"
    RELAPSED = "unhealthy with an attempt pending, not yet charged"
    REFUSED = "the engine refused to start it: {refusal}"
    SIDELINED_ROUTED = "unhealthy at {strikes}, and it may still be routed; the route must go"
    SIDELINED = "unhealthy at {strikes}; left running, and not routed before it is healthy"
    COOLING = "{state}, waiting out its budget until {until}, in {wait}, after {failures}"
    UNGRANTED = "{state}, but the host's grant is missing: {ungranted}"
    SPENT = "{state}; {attempted} in this pass already, trying again in the next"
    HELD_OFF = "down; its port {port} is still named by the route of {other}; waiting until that is withdrawn"
    EXCLUDED = "{state}; the candidate of an interrupted deploy may still run, and both must not run at once"
    EXPOSED = "{state}, and it may still be routed; the route must provably go first"
    DUE = "{state}, and free to {verb}"
    DOWN = "down, its attempt on record"
    SICK = "unhealthy at {strikes}, its attempt on record"

    UNBOUND = "running, but {missing} not bound on loopback, not yet charged"
    PORTLESS = "running, but {missing} not bound on loopback; never published"
    STARTING = "running, and its health check has not said anything yet"
    STARTING_YET = "running, and its health check has still not said anything; looking again in the next pass"
    ILL = "running, but unhealthy ({strikes}); not published before it is healthy"
    HEALTH_UNREAD = "running, but its health could not be read; not published"
    BLIND = "running, but the router could not be read ({unread}); nothing is published or withdrawn"
    NOT_READY = "running, but not ready: {answer}; trying again in the next pass"
    UNPROBED = "running, but this execution has not answered its readiness check at these binds"
    UNSAVED = "ready, but its binds are not on record"
    UNREMEMBERED = "ready, but not yet remembered as verified"
    UNROUTED = "ready and on record, but not routed"
    RECOVERED = "five stable minutes; {history} can be forgotten"
    SERVING_HELD = "serving; held {hold}"
    WATCHED = "serving, but unhealthy ({strikes})"
    UNCONFIRMED = "serving, but its health is not known; not counted as stable"
    PROVING = "serving again; {history} forgotten at {until}, in {wait}, if it stays stable"
    ORPHANED = "as desired, but an earlier container is still remembered"
    SETTLED = "as desired"

    BLOCKED = "{blocked}; trying again in the next pass"

    OLD_HELD = "superseded; {held}"
    RECLAIMED = "marked as superseded, but ACTIVE names it; it stays"
    OLD_UNREAD = "superseded, but it could not be read ({reason}); nothing is concluded"
    AWAITING = "superseded; kept until its successor was seen to serve"
    OLD_ROUTED = "superseded, but the route to it is not proven gone; kept until it is"
    UNCLAIMED = "superseded and gone, but its port claims remain"
    FINISHED = "superseded and gone; only its marker is left"
    OLD_ON_HOLD = "superseded; held {hold}"
    RETIRED = "superseded and stopped; it can be removed"
    OLD_LEAVING = "superseded; the engine is removing it"
    OUTLIVED = "superseded; its successor serves, or none is wanted"

    CANDIDATE_HELD = "left by a deploy; {held}"
    PROMOTED = "named in ACTIVE or by a marker, so the journal can let go of it"
    CHOSEN = "named in ACTIVE or by a marker; kept"
    CANDIDATE_UNREAD = "left by a deploy, but it could not be read ({reason}); kept"
    CANDIDATE_GONE = "left by a deploy, and gone; only its journal entry is left"
    NEVER_WAS = "bore a name of this service, and is gone"
    FOREIGN = "bears a name of this service, but no label says that a deploy of it made it; left alone"
    CANDIDATE_ROUTED = "bears a name of this service, and a route may lead to it; kept"
    UNSELECTED = "bears a name of this service, and may be what serves, since nothing that ACTIVE names runs; kept"
    NAMESAKE = "bears the canonical name of this service, and runs; kept"
    CANDIDATE_ON_HOLD = "left by a deploy; held {hold}"
    STALE = "left running by an interrupted deploy"
    STUBBORN = "left by an interrupted deploy, and it did not stop"
    LEFT_DOWN = "left by an interrupted deploy, and down"
    CANDIDATE_LEAVING = "left by a deploy; the engine is removing it"


REMEDIES: dict[Situation, str] = {
    Situation.SHUT_UNREAD: "docker inspect {id}",
    Situation.SHUT_ROUTED: "gordon-shell status",
    Situation.INHIBITED: "gordon-shell allow {name}",
    Situation.UNREADABLE: "docker inspect {id}",
    Situation.GONE: "gordon-shell adopt {app} {service}=CONTAINER",
    Situation.TRANSITIONAL: "docker inspect {id}",
    Situation.PAUSED: "docker unpause {id}",
    Situation.UNSAFE: "docker inspect {id}",
    Situation.CONTENDING: "gordon-shell once",
    Situation.SIDELINED: "docker inspect {id}",
    Situation.COOLING: "gordon-shell retry {name}",
    Situation.UNGRANTED: "grant it in the host policy, or deploy it without",
    Situation.SPENT: "docker logs {id}",
    Situation.HELD_OFF: "gordon-shell once",
    Situation.EXCLUDED: "gordon-shell once",
    Situation.PORTLESS: "docker port {id}",
    Situation.BLIND: "gordon-shell status",
    Situation.STARTING_YET: "docker inspect {id}",
    Situation.ILL: "docker inspect {id}",
    Situation.HEALTH_UNREAD: "docker inspect {id}",
    Situation.NOT_READY: "docker logs {id}",
    Situation.BLOCKED: "gordon-shell once",
    Situation.OLD_UNREAD: "docker inspect {id}",
    Situation.OLD_ROUTED: "gordon-shell once",
    Situation.CANDIDATE_UNREAD: "docker inspect {id}",
}
"""The situations that are held: without an effect, and yet not as the operator wants it; with the one command that would help."""

REMEDIES_IN_THE_DARK: dict[Situation, str] = {
    Situation.LOCKED: "gordon-shell once, as soon as that lock is free",
    Situation.IN_FLIGHT: "gordon-shell once, as soon as that has come back",
    Situation.SUPPLANTED: "gordon-shell once",
    Situation.ON_HOLD: "gordon-shell release {name}",
}
"""The situations that pass a service over. Such a one is held only where it is to run and does not serve."""
