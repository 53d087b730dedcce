"""An hour of chaos on a real engine and a real HAProxy: `python -m tests.chaos --minutes 60` (`make chaos MINUTES=60`).

Thirty containers are in the care of `gordon-shell run`, with a shortened policy. By a seed, containers are killed, stopped,
paused, made ill, removed and replaced, deployed anew (also by a deploy that is killed), held and released; jobs run again, and
the app is stopped as a whole; the engine, the proxy and the program itself are killed and started again (the program in the
first half only: the second half shows whether it grows). Clients ask every service through HAProxy all the while. Then chaos
stops. It must converge within its bound, and stay so; no complete answer may ever have been wrong; the process may not have
grown; and what is on record is held against the invariants. Exit code 1 where any of this does not hold.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Container, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from random import Random

from attrs import define, field

from gordon_core.planner import plan
from gordon_core.situations import Situation
from gordon_shell.errors import GordonError
from gordon_shell.journal import Kind as RecordKind
from gordon_shell.journal import Record
from gordon_shell.recorder import EARLY_S
from gordon_shell.sqlite_journal import SqliteJournal
from gordon_shell.wiring import live_snapshot
from tests.chaos.blows import Chaos
from tests.chaos.clients import Answers, ask, asking
from tests.chaos.court import SPANS, Spans, in_words, judged_by_all
from tests.chaos.growth import Watch, growth
from tests.chaos.host import APP, BOUND_S, CADENCE_S, STABLE_S, Host, boot_s, proxy_config, services
from tests.chaos.judge import Span
from tests.chaos.verdict import unexplained
from tests.engine_fixtures import SCRIPT, Containers, PrivateEngine, spare_engine
from tests.haproxy import running_haproxy, short_directory

MOST_MB_AN_HOUR = 3.0
MOST_MB = 4.0
WARM_UP = 0.25
_LATE_S = 60.0
SERVING = frozenset({Situation.SETTLED, Situation.PROVING, Situation.RECOVERED})


@define
class Findings:
    """What does not hold, in sentences; whatever holds is printed."""

    wrong: list[str] = field(factory=list)

    def demand(self, holds: object, sentence: str) -> None:
        """Print a sentence, and keep it where it does not hold."""
        say(f"{'ok   ' if holds else 'WRONG'} {sentence}")
        if not holds:
            self.wrong.append(sentence)


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def wait_until_well(host: Host, within_s: float) -> float | None:
    """Wait until all that lasts is as desired and answers; return how long that took, None where it did not come."""
    begun_s = time.monotonic()
    while time.monotonic() < begun_s + within_s:
        if not list(unwell(host)):
            return time.monotonic() - begun_s
        time.sleep(0.5)
    return None


def unwell(host: Host, right: Container[Situation] = SERVING) -> Iterator[str]:
    """Yield what lasts and is not as desired, or (at first) does not serve."""
    try:
        now = plan(live_snapshot(host.options))
    except GordonError as error:
        yield str(error)
        return
    for each in now.services:
        if host.services[each.subject.service].lasts and each.situation not in right:
            yield f"{each.subject.name}: {each.situation.name}"
    for name, port in host.ports.items():
        if host.services[name].lasts and ask(port) != (200, name):
            yield f"{name}: {ask(port)}"


def rage(host: Host, chaos: Chaos, minutes: float) -> None:
    """Let things happen for so long."""
    begun_s, told_s = time.monotonic(), time.monotonic()
    while (gone_s := time.monotonic() - begun_s) < 60 * minutes:
        chaos.spares_program = gone_s > 30 * minutes
        chaos.strike()
        if time.monotonic() > told_s + 60:
            told_s = time.monotonic()
            say(f"     minute {gone_s / 60:.0f}: {sum(chaos.counts.values())} blows")
        if host.process is not None and host.process.poll() is not None:
            say("     the program has ended by itself")
            host.start()
            chaos.failures.append(f"gordon-shell run ended by itself with {host.process.poll()}")
        time.sleep(chaos.chance.choice([0.2, 0.5, 1.0, 2.0, 4.0, 8.0]))
    chaos.end()


def judge(host: Host, findings: Findings, quiet_from: int) -> None:
    """Judge what is on record."""
    with closing(SqliteJournal(host.options.history_file(), read_only=True)) as journal:
        records = list(journal.records())
        dossiers = journal.dossiers()
    blind = tuple(lost(records, each) for each in host.kills)
    longest_s = max((end_s - begin_s for begin_s, end_s in blind), default=0.0)
    spans = Spans(blind, tuple(host.deploys), tuple(host.away))
    (host.room / SPANS).write_text(spans.written())
    judges = judged_by_all(records, spans)
    wrong = [words for each in judges for words in each.wrong]
    steps = [each for each in records if each.kind is RecordKind.STEP]
    say(f"     {len(records):,} records ({len(steps):,} steps), {len(dossiers):,} dossiers")
    say(f"     killed {len(blind)} times, and what it did in at most {longest_s:.0f} s before that is not on record")
    for words in in_words(judges):
        say(f"     {words}")
    findings.demand(not wrong, f"what is on record keeps every invariant that came up ({len(wrong)} sentences against them)")
    begun = sorted(host.begun(), key=lambda each: each[1])
    excused = (*((begin_s, end_s + _LATE_S) for begin_s, end_s in blind), *((each.begin_s, each.end_s) for each in host.deploys))
    strange = unexplained(begun, records, excused, _LATE_S)
    for each in strange[:20]:
        say(f"     {each}")
    findings.demand(
        not strange, f"{len(begun):,} starts, as the workloads tell of them: each is called for by one step of its own"
    )
    late = [each for each in steps if each.number > quiet_from and _lasts(host, each)]
    for each in late[:20]:
        say(f"     record {each.number}: {each.step}")
    findings.demand(not late, "once converged, nothing is done to what lasts")


def lost(records: list[Record], killed_s: float) -> Span:
    """Return the span before a kill of which nothing is on record: what a pass does is written every second."""
    last_s = max((each.clock.boot_s for each in records if each.clock.boot_s <= killed_s), default=0.0)
    return min(last_s, killed_s - EARLY_S) - 1.0, killed_s + 1.0


def _lasts(host: Host, record: Record) -> bool:
    return record.step is not None and host.services[record.step.service].lasts


def judge_commands(host: Host, findings: Findings) -> None:
    """Run the commands that read the journal."""
    replay = host.shell("replay", program="gordon-plan")
    findings.demand(replay.returncode == 0, f"gordon-plan replay finds no difference: {replay.stdout.strip().splitlines()[-1:]}")
    for name in list(host.services)[:10]:
        told = [host.shell(verb, f"{APP}/{name}", program="gordon-plan") for verb in ("history", "explain")]
        codes = [each.returncode for each in told]
        well = codes[0] == 0 and codes[1] in {0, 2, 3} and all(each.stdout.strip() and not each.stderr for each in told)
        findings.demand(well, f"gordon-plan history and explain {APP}/{name}: exit codes {codes}")
    log = (host.room / "run.log").read_text()
    findings.demand("fault of ours" not in log and "Traceback" not in log, "the log of run holds no fault of ours")


def judge_growth(watch: Watch, findings: Findings) -> None:
    """Judge how the process grew."""
    found = growth(watch.samples, WARM_UP)
    if found is None:
        say("     too short to tell how the process grows")
        return
    more_mb = found.after.megabytes - found.before.megabytes
    steady = found.megabytes_an_hour <= MOST_MB_AN_HOUR or more_mb <= MOST_MB * found.minutes / 60
    findings.demand(steady, found.in_words)
    findings.demand(found.after.files <= found.before.files + 4, "it holds no more open files")
    findings.demand(found.after.threads <= found.before.threads + 8, "it holds no more threads")


def hour(host: Host, chaos: Chaos, minutes: float, findings: Findings) -> Answers:
    """Do all of it, and return what clients were answered."""
    host.adopt_all()
    host.start()
    findings.demand(wait_until_well(host, BOUND_S + 60) is not None, "all is well at the beginning")
    with asking(host.ports, 1.0) as answers:
        begun_s = time.monotonic()
        rage(host, chaos, minutes)
        say(f"     {(time.monotonic() - begun_s) / 60:.0f} minutes of chaos: {told(chaos)}")
        took_s = wait_until_well(host, BOUND_S)
        for each in unwell(host):
            say(f"     {each}")
        in_words = f"in {took_s:.0f} s" if took_s is not None else "not"
        findings.demand(took_s is not None, f"chaos stopped, and it converged {in_words} (bound {BOUND_S:.0f} s)")
        time.sleep(STABLE_S + 3 * CADENCE_S)
        quiet_from = latest(host)
        time.sleep(3 * CADENCE_S)
        findings.demand(not list(unwell(host, {Situation.SETTLED})), "it stays so, and every history is forgotten")
    findings.demand(host.stop() == 0, "gordon-shell run ends with 0 when it is told to")
    judge(host, findings, quiet_from)
    return answers


def latest(host: Host) -> int:
    """Return the number of the last record."""
    with closing(SqliteJournal(host.options.history_file(), read_only=True)) as journal:
        return max((each.number for each in journal.records(newest=1)), default=0)


def told(chaos: Chaos) -> str:
    """Return how many of each blow there were."""
    return ", ".join(f"{name} {times}" for name, times in chaos.counts.most_common())


def chaos_here(options: argparse.Namespace) -> int:
    """Run it in the engine and the network namespace that this process is in."""
    findings, kinds = Findings(), services(options.containers)
    begun_s = boot_s()
    with ExitStack() as stack:
        room = stack.enter_context(short_directory()) if options.keep is None else options.keep
        room.mkdir(parents=True, exist_ok=True)
        containers = stack.enter_context(Containers(os.environ["DOCKER_HOST"]))
        proxy = stack.enter_context(running_haproxy(proxy_config(kinds), room))
        watch = stack.enter_context(Watch())
        pool = stack.enter_context(ThreadPoolExecutor(1))
        host = Host(containers, PrivateEngine(options.within), proxy, room, kinds, watch)
        chaos = Chaos(host, Random(f"chaos {options.seed}"), pool)  # noqa: S311 - chance that a seed repeats is the point
        say(f"     seed {options.seed}: {len(kinds)} containers, {options.minutes:g} minutes")
        try:
            answers = hour(host, chaos, options.minutes, findings)
            findings.demand(not chaos.failures, f"every command of the operator did its work {chaos.failures[:3]}")
            counted = f"{answers.right:,} right, {answers.refused:,} refused by the proxy, {answers.broken:,} broken"
            for each in answers.wrong[:20]:
                say(f"     {each}")
            findings.demand(not answers.wrong, f"answers through HAProxy: {counted}, {len(answers.wrong)} wrong")
            judge_commands(host, findings)
            judge_growth(watch, findings)
        finally:
            if host.process is not None and host.process.poll() is None:
                host.process.kill()
    say(f"     {(boot_s() - begun_s) / 60:.0f} minutes in all; {len(findings.wrong)} wrong")
    return min(1, len(findings.wrong))


def main() -> int:
    """Start an engine of its own, and go into its network namespace."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0, help="of chaos (60)")
    parser.add_argument("--containers", type=int, default=30, help="how many (30)")
    parser.add_argument("--seed", type=int, default=1, help="which chaos (1)")
    parser.add_argument("--keep", type=Path, help="where state, journal and logs are left, instead of a directory that goes")
    parser.add_argument("--within", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):  # both, also in the background: the engine is stopped, and the program
        signal.signal(number, signal.default_int_handler)
    if options.within is not None:
        try:
            return chaos_here(options)
        except KeyboardInterrupt:
            return 130
    with spare_engine() as engine:
        command = [
            SCRIPT,
            "exec",
            engine.directory,
            sys.executable,
            "-m",
            "tests.chaos",
            *sys.argv[1:],
            "--within",
            engine.directory,
        ]
        with subprocess.Popen(command) as process:
            try:
                return process.wait()
            except KeyboardInterrupt:
                process.terminate()
                process.wait(60)
    return 130


if __name__ == "__main__":
    sys.exit(main())
