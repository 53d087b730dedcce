"""The pure core: decides what should happen, from one snapshot (or one deployment), and never acts, nor imports the world.

What stands here is stable; docs/embedding.md walks through it. Forecasts are in `gordon_core.forecast`, documents of snapshots
and plans in `gordon_core.document`. Each name is imported when it is first asked for: a plan of a document needs no deploys.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gordon_core.blueprint import Blueprint, HealthCheck, Image, Made, Mode, Mount, Publication, Readiness, Setting, Variable
    from gordon_core.deploy_effects import DeployStep, Why
    from gordon_core.deploy_forecast import forecast_deploy, why_if_it_fails
    from gordon_core.deploy_planner import DeployDecision, decide_deploy
    from gordon_core.deploy_sentences import step_in_words
    from gordon_core.deployment import Deployment
    from gordon_core.effects import Done, Effect, Outcome, Refused, Unknown
    from gordon_core.grants import HostPolicy, Overrides
    from gordon_core.memory import Memory, Verified
    from gordon_core.noted import Notice, NoticeKind
    from gordon_core.observation import (
        Bind,
        Clock,
        Container,
        Gone,
        Health,
        HealthStatus,
        Port,
        PortBinding,
        Protocol,
        RouteSeen,
        RouteUnread,
        Status,
        Unread,
    )
    from gordon_core.planner import Decision, Plan, plan
    from gordon_core.policy import Policy, WhenUnhealthy
    from gordon_core.sentences import in_words, sentence
    from gordon_core.situations import Situation
    from gordon_core.snapshot import Candidate, Declared, Hold, HttpCheck, Intent, Snapshot, Subject, Superseded
    from gordon_core.stages import Stage
    from gordon_core.verdicts import Failure, Verdict

__all__ = [
    "Bind",
    "Blueprint",
    "Candidate",
    "Clock",
    "Container",
    "Decision",
    "Declared",
    "DeployDecision",
    "DeployStep",
    "Deployment",
    "Done",
    "Effect",
    "Failure",
    "Gone",
    "Health",
    "HealthCheck",
    "HealthStatus",
    "Hold",
    "HostPolicy",
    "HttpCheck",
    "Image",
    "Intent",
    "Made",
    "Memory",
    "Mode",
    "Mount",
    "Notice",
    "NoticeKind",
    "Outcome",
    "Overrides",
    "Plan",
    "Policy",
    "Port",
    "PortBinding",
    "Protocol",
    "Publication",
    "Readiness",
    "Refused",
    "RouteSeen",
    "RouteUnread",
    "Setting",
    "Situation",
    "Snapshot",
    "Stage",
    "Status",
    "Subject",
    "Superseded",
    "Unknown",
    "Unread",
    "Variable",
    "Verdict",
    "Verified",
    "WhenUnhealthy",
    "Why",
    "decide_deploy",
    "forecast_deploy",
    "in_words",
    "plan",
    "sentence",
    "step_in_words",
    "why_if_it_fails",
]

_ROOMS = {
    "blueprint": (
        "Blueprint",
        "HealthCheck",
        "Image",
        "Made",
        "Mode",
        "Mount",
        "Publication",
        "Readiness",
        "Setting",
        "Variable",
    ),
    "deploy_effects": ("DeployStep", "Why"),
    "deploy_forecast": ("forecast_deploy", "why_if_it_fails"),
    "deploy_planner": ("DeployDecision", "decide_deploy"),
    "deploy_sentences": ("step_in_words",),
    "deployment": ("Deployment",),
    "effects": ("Done", "Effect", "Outcome", "Refused", "Unknown"),
    "grants": ("HostPolicy", "Overrides"),
    "memory": ("Memory", "Verified"),
    "noted": ("Notice", "NoticeKind"),
    "observation": (
        "Bind",
        "Clock",
        "Container",
        "Gone",
        "Health",
        "HealthStatus",
        "Port",
        "PortBinding",
        "Protocol",
        "RouteSeen",
        "RouteUnread",
        "Status",
        "Unread",
    ),
    "planner": ("Decision", "Plan", "plan"),
    "policy": ("Policy", "WhenUnhealthy"),
    "sentences": ("in_words", "sentence"),
    "situations": ("Situation",),
    "snapshot": ("Candidate", "Declared", "Hold", "HttpCheck", "Intent", "Snapshot", "Subject", "Superseded"),
    "stages": ("Stage",),
    "verdicts": ("Failure", "Verdict"),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for. Raise AttributeError."""
    if name not in _ROOM_OF:
        message = f"module {__name__!r} has no attribute {name!r}; the public names are in its __all__"
        raise AttributeError(message)
    found: object = getattr(import_module(f"{__name__}.{_ROOM_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List the public names too, before they were asked for."""
    return sorted({*globals(), *__all__})
