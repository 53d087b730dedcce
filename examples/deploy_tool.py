"""A deploy tool on gordon's public names: brings the services of a file to what the file says, one after the other.

    deploy_tool.py FILE [SERVICE...]      deploy them, then run one pass of recovery
    deploy_tool.py --dry-run FILE         print every step, and do nothing
    deploy_tool.py --rehearse FILE        deploy them in memory, where every image is simulated; nothing is touched

Exit codes: 0 all is as the file says; 1 a deploy failed, or a service is held; 130 interrupted; else that of the GordonError.
"""

import argparse
import os
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gordon_core import (
    Blueprint,
    DeployDecision,
    Done,
    HttpCheck,
    Mount,
    Outcome,
    Port,
    Publication,
    Readiness,
    Stage,
    Variable,
    Verdict,
    sentence,
    step_in_words,
    why_if_it_fails,
)
from gordon_shell import DocumentError, GordonError, Host, MemoryClock, MemoryEngine, SimulatedImage, UsageError, memory_ports

KEYS = {"image", "command", "ports", "http", "environment", "mounts", "stop_grace_s", "downtime"}


def blueprint(name: str, table: Mapping[str, Any]) -> Blueprint:
    """Return what the file wants of a service; the values of its variables come from the environment."""
    if unknown := table.keys() - KEYS:
        raise DocumentError(f"{name}: unknown key {min(unknown)}; there are {', '.join(sorted(KEYS))}")
    names = table.get("environment", [])
    if missing := [each for each in names if each not in os.environ]:
        raise UsageError(f"the environment has no {' and no '.join(missing)}, which {name} needs; set it first")
    ports = [Port(each) for each in table.get("ports", [])]
    mounts = [each.partition(":") for each in table.get("mounts", [])]
    return Blueprint(
        table["image"],
        command=tuple(table.get("command", [])),
        environment=tuple(Variable(each, os.environ[each]) for each in names),
        ports=tuple(Publication(each) for each in ports),
        mounts=tuple(Mount(source, target) for source, _, target in mounts),
        stop_grace_s=table.get("stop_grace_s", 10),
        downtime=table.get("downtime", False),
        readiness=Readiness(http=HttpCheck(ports[0].number, table["http"]) if "http" in table else None),
    )


def read(path: Path, chosen: list[str]) -> tuple[str, dict[str, Blueprint]]:
    """Return the app, and what is wanted of each service (of those that are named, if any are)."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        tables = document["services"]
        return document["app"], {each: blueprint(each, tables[each]) for each in chosen or tables}
    except OSError as error:
        raise UsageError(f"{path}: it cannot be read ({error.strerror}); name another file") from None
    except KeyError as error:
        raise DocumentError(f"{path}: {error} is missing; write it as in examples/shop.toml") from None
    except (ValueError, TypeError, AttributeError, IndexError) as error:
        raise DocumentError(f"{path}: {error.args[0]}; write it as in examples/shop.toml") from None


def tell(decision: DeployDecision, outcome: Outcome | None) -> None:
    """Print each step before it is taken, and what came of it where that is not well: the listener of a deploy."""
    if decision.step is not None and outcome is None:
        print(f"{decision.deployment.subject.name}: {step_in_words(decision.step)}", flush=True)
    elif outcome is not None and not isinstance(outcome, Done):
        print(f"{decision.deployment.subject.name}: that failed: {outcome.reason}", flush=True)


def told(name: str, verdict: Verdict) -> bool:
    """Print how a deploy ended, and return whether that is well."""
    failure = verdict.failure
    if failure is None:
        what = "nothing to do" if verdict.stage is Stage.UNALTERED else "deployed"
        print(f"{name}: {what}; {verdict.container_id[:12]} serves as revision {verdict.revision}")
        return True
    print(f"{name}: failed, since {failure.why.value}. {failure.reason}\n  likely: {failure.cause}\n  hint: {failure.hint}")
    print("".join(f"  | {line}\n" for line in failure.lines), end="")
    print(f"  now: {verdict.container_id[:12] or 'nothing'} serves, as before")
    return False


def preview(road: tuple[DeployDecision, ...]) -> bool:
    """Print every step of a deploy that is not done."""
    for each in road:
        if each.step is not None:
            why = why_if_it_fails(each)
            fork = f" (on fail: {why.value})" if why is not None else ""
            print(f"{each.deployment.subject.name}: {step_in_words(each.step)}{fork}")
    return road[-1].stage is not Stage.FAILED


def recovered(host: Host) -> bool:
    """Run one pass, and print what is held."""
    report = host.recover()
    for each in report.held:
        print(f"{each.subject.name}: {sentence(each, report.plan.clock)}")
    return not (report.held or report.trouble or report.faults)


def rehearsal(wanted: Mapping[str, Blueprint]) -> Host:
    """Return a host in memory that has every image."""
    engine = MemoryEngine(MemoryClock())
    for each in wanted.values():
        engine.images.add(each.image, SimulatedImage(f"sha256:{each.image}"))
    return Host(memory_ports(engine))


def main() -> int:
    """Do what the command line says, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("services", nargs="*")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--rehearse", action="store_true")
    asked = parser.parse_args()
    try:
        app, wanted = read(asked.file, asked.services)
        with rehearsal(wanted) if asked.rehearse else Host.open() as host:
            if asked.dry_run:
                well = [preview(host.plan_deploy(app, name, wanted[name])) for name in wanted]
            else:
                well = [told(f"{app}/{name}", host.deploy(app, name, wanted[name], listener=tell)) for name in wanted]
                well.append(recovered(host))
            return 0 if all(well) else 1
    except GordonError as error:
        print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130  # whatever was under way has cleaned up by now


if __name__ == "__main__":
    sys.exit(main())
