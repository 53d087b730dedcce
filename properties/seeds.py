"""Good documents of every kind, to be damaged: the examples, one snapshot for each situation, their plans, a state, policies."""

import json
import tomllib

from properties.replay import EXAMPLES, GOLDEN, SITUATIONS

SNAPSHOTS: tuple[object, ...] = (
    *(json.loads(each.read_bytes()) for each in sorted(EXAMPLES.glob("*.json"))),
    *json.loads(SITUATIONS.read_bytes()),
)
PLANS: tuple[object, ...] = tuple(plan for each in sorted(GOLDEN.glob("*.plan.json")) for plan in json.loads(each.read_bytes()))


def _state(number: int, snapshot: dict[str, object]) -> object:
    """Return a state document with what a snapshot says of each service, as far as the state holds it."""
    services = snapshot["services"]
    assert isinstance(services, list)
    return {
        "format": "gordon-state",
        "version": 1,
        "apps": [
            {"app": each, "intent": "stopped" if number % 2 else "running"} for each in sorted({one["app"] for one in services})
        ],
        "services": [_service(each) for each in services],
    }


def _service(subject: dict[str, object]) -> object:
    declared = _in_store(subject.get("declared"))
    memories = [{"container_id": "3f2a9c1b7d4e00", "memory": _in_store(subject["memory"])}] if "memory" in subject else []
    old = subject.get("superseded", [])
    assert isinstance(old, list)
    return {
        "app": subject["app"],
        "service": subject["service"],
        "declared": declared,
        "unproven": subject.get("unproven", False),
        "inhibitions": [{"container_id": "c9", "reason": "its volume is being moved"}],
        "markers": [_in_store({key: item for key, item in each.items() if key != "seen"}) for each in old],
        "memories": memories,
    }


def _in_store(value: object) -> object:
    """Return a part of a snapshot document as the state writes it: a port is an object there, and not "80/tcp"."""
    match value:
        case dict():
            return {key: _in_store(item) for key, item in value.items()}
        case list():
            return [_in_store(each) for each in value]
        case str() if value.endswith(("/tcp", "/udp")):
            number, _, protocol = value.partition("/")
            return {"number": int(number), "protocol": protocol}
        case _:
            return value


STATES: tuple[object, ...] = tuple(_state(number, each) for number, each in enumerate(SNAPSHOTS) if isinstance(each, dict))
POLICIES: tuple[bytes, ...] = (
    b"",
    b"""\
[recovery]
free_failures = 5
ladder_s = [60, 120.5, 300]
stable_window_s = 300
readiness_s = 0

[grants]
paths = [{path = "/srv/public"}, {path = "/srv/shared", read_only = false}]
devices = ["/dev/kvm"]
""",
    b"""\
[apps.shop.recovery]
longest_gap_s = 1e3
unhealthy_threshold = 0x3
shortest_deadline_s = 120
[apps.shop.services.web.grants]
devices = ['/dev/fuse']
[[apps.shop.services.db.grants.paths]]
path = "/srv/\\u00fc"
""",
    b'apps = {"a b" = {services = {"\\u202e" = {recovery = {readiness_s = 90}}}}} # inline\r\n',
)
POLICY: object = {
    **tomllib.loads(POLICIES[1].decode()),
    "apps": {"shop": {"recovery": {"readiness_s": 90}, "services": {"web": {"grants": {"paths": [{"path": "/srv"}]}}}}},
}
