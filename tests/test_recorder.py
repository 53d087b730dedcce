"""What of passes is written into the journal, when, and what happens where it cannot be."""

import threading
import time
from collections.abc import Iterable

import pytest

from gordon_core.document import write_plan
from gordon_core.effects import DONE, Publish, RecordAttempt, Restart, Start, Withdraw
from gordon_core.looks import WHOLE_EVERY_S
from gordon_core.observation import Bind
from gordon_core.planner import plan
from gordon_core.sentences import record
from gordon_core.situations import Situation
from gordon_shell import recorder as room
from gordon_shell import scribe
from gordon_shell.crew import InlineCrew
from gordon_shell.errors import UnprunedError
from gordon_shell.heard import Looking, Take
from gordon_shell.host import Host
from gordon_shell.journal import Dossier, Kind, Record
from gordon_shell.memory.clock import MemoryClock
from gordon_shell.memory.container import Behaviour, Simulated
from gordon_shell.memory.engine import MemoryEngine
from gordon_shell.memory.journal import MemoryJournal
from gordon_shell.memory.ports import memory_ports
from gordon_shell.ports import Details
from gordon_shell.reconciler import Reconciler
from gordon_shell.recorder import Recorder, Writing, recording
from gordon_shell.report import Report
from gordon_shell.scribe import LOOKED, MOST_UNWRITTEN, Scribe
from gordon_shell.wishes import Wish
from gordon_shell.witness import Witness
from tests.core_examples import CLOCK, down, good, having, host
from tests.hosts import HTTP

WEB, API = "a" * 64, "b" * 64


class Site:
    """A host in memory with a journal; `complaints` is what was told."""

    def __init__(self) -> None:
        self.clock = MemoryClock()
        self.engine = MemoryEngine(self.clock)
        self.ports = memory_ports(self.engine)
        self.journal = MemoryJournal()
        self.complaints: list[str] = []
        self.host = Host(self.ports, crew=InlineCrew(), journal=self.journal, complain=self.complaints.append)
        for container_id, name in ((WEB, "web"), (API, "api")):
            self.engine.add(Simulated(container_id, f"{name}-1", ((HTTP, 0),)))
            self.engine.start(container_id)
        self.host.adopt("shop", Wish("web", "web-1"), Wish("api", "api-1"))

    def settled(self) -> "Site":
        """Be as desired, with nothing on record but that."""
        for _ in range(3):
            self.host.recover()
            self.clock.advance(100)
        return self

    def reconciler(self, witness: Witness) -> Reconciler:
        return Reconciler(self.ports, lambda: None, crew=InlineCrew(), witness=witness)

    def after(self, number: int) -> list[Record]:
        return [each for each in self.journal.records() if each.number > number]

    def pass_(self) -> list[Record]:
        """Run a pass, and return what was recorded of it."""
        before = self.journal.extent().records
        self.host.recover()
        return self.after(before)


@pytest.fixture
def site() -> Site:
    return Site()


class _Talkative:
    """Says the same whatever it is asked."""

    def __init__(self, *lines: str) -> None:
        self._lines = lines

    def logs(self, container_id: str, lines: int, until_s: float | None = None) -> tuple[str, ...]:
        del container_id, until_s
        return self._lines[-lines:]


def services(record_: Record) -> list[str]:
    return [each.service for each in record_.snapshot.subjects]


def effects(records: list[Record]) -> list[type]:
    return [type(each.step.result.effect) for each in records if each.step is not None]


class TestLooks:
    def test_the_first_look_is_whole_and_then_only_what_is_new(self, site: Site) -> None:
        first, *others = site.pass_()
        assert (Kind.LOOK, True, ["api", "web"]) == (first.kind, first.is_whole, services(first))
        api, web = (each for each in others if each.kind is Kind.LOOK)
        assert [(False, ["api"]), (False, ["web"])] == [(each.is_whole, services(each)) for each in (api, web)]

    def test_how_a_service_is_left_is_on_record_when_its_job_has_ended(self, site: Site) -> None:
        """Not with the look at the end of the pass: it serves, though a sibling takes a minute yet."""
        _, *others = site.pass_()
        kinds = [(each.kind, services(each)) for each in others]
        looked = kinds.index((Kind.LOOK, ["api"]))
        assert [(Kind.STEP, ["api"])] * looked == kinds[:looked]
        assert [Situation.SETTLED] == [each.situation for each in plan(others[looked].snapshot).services]
        assert {(Kind.STEP, "web"), (Kind.LOOK, "web")} == {(kind, each) for kind, (each,) in kinds[looked + 1 :]}

    def test_a_pass_in_which_nothing_is_new_leaves_no_record(self, site: Site) -> None:
        site.settled()
        assert [] == site.pass_()

    def test_only_the_service_of_which_something_new_was_decided_is_on_record(self, site: Site) -> None:
        site.settled()
        site.engine.kill(WEB)
        assert {("web",)} == {tuple(services(each)) for each in site.pass_()}

    def test_how_a_targeted_pass_left_its_service_is_on_record_once(self, site: Site) -> None:
        """Else the page shows until the next look at everything what was seen of a crash, though it serves again."""
        site.settled()
        with recording(site.journal, site.ports, site.complaints.append) as witness:
            reconciler = site.reconciler(witness)
            reconciler.run_pass()
            before = site.journal.extent().records
            site.engine.kill(WEB)
            reconciler.hints.put(WEB)
            assert reconciler.answer() is not None
            answered_s = site.clock.now().boot_s
            reconciler.hints.put(WEB)
            site.clock.advance(2.0)
            assert reconciler.answer() is not None
            reconciler.run_pass()
        seen, *steps, left = site.after(before)
        assert [Situation.MISROUTED] == [each.situation for each in plan(seen.snapshot).services]
        assert {Kind.STEP} == {each.kind for each in steps}
        assert (Kind.LOOK, False, ["web"]) == (left.kind, left.is_whole, services(left))
        assert [Situation.PROVING] == [each.situation for each in plan(left.snapshot).services]
        assert answered_s == left.snapshot.clock.boot_s
        assert left.plan == write_plan(record(plan(left.snapshot)))

    def test_once_a_day_a_look_is_whole(self, site: Site) -> None:
        site.settled()
        site.clock.advance(WHOLE_EVERY_S)
        (whole,) = site.pass_()
        assert (True, ["api", "web"]) == (whole.is_whole, services(whole))

    def test_the_next_process_goes_on_where_one_ended_well(self, site: Site) -> None:
        site.settled()
        again = Host(site.ports, crew=InlineCrew(), journal=site.journal)
        before = site.journal.extent().records
        again.recover()
        assert before == site.journal.extent().records

    def test_after_one_that_was_killed_all_is_written_down(self, site: Site) -> None:
        """What it wrote last is not known for sure."""
        site.settled()
        writer = Scribe(site.journal, site.engine, site.complaints.append)
        writer.write([Looking(plan(host(good(down))), is_whole=True, clock=CLOCK)])
        assert "" == site.journal.kept(LOOKED)
        (whole,) = site.pass_()
        assert whole.is_whole

    @pytest.mark.parametrize("kept", ["{", "[]", '{"marks": {}}', "nonsense"])
    def test_what_is_kept_of_another_version_is_as_good_as_nothing(self, site: Site, kept: str) -> None:
        site.settled()
        site.journal.keep(LOOKED, kept)
        (whole,) = site.pass_()
        assert (True, []) == (whole.is_whole, site.complaints)


class TestSteps:
    def test_every_step_is_on_record_in_order_with_what_was_decided_upon(self, site: Site) -> None:
        site.settled()
        site.engine.kill(WEB)
        records = site.pass_()
        assert [Withdraw, RecordAttempt, Start] == effects(records)[:3]
        assert Publish is effects(records)[-1]
        for each in records:
            assert write_plan(record(plan(each.snapshot))) == each.plan
            if each.step is not None:
                assert each.step.result.effect == plan(each.snapshot).effects[0]
                assert each.step.result == each.step.after.results[-1]
        assert 1 == len({each.pass_number for each in records})

    def test_a_refused_step_is_on_record_with_its_reason(self, site: Site) -> None:
        site.settled()
        site.engine.refuse("start", WEB, "no such file")
        site.engine.kill(WEB)
        (start,) = [each.step for each in site.pass_() if each.step is not None and isinstance(each.step.result.effect, Start)]
        assert "no such file" in str(start.result.outcome)

    def test_a_route_that_is_withdrawn_first_is_on_record_with_whom_it_clashed(self, site: Site) -> None:
        site.settled()
        site.engine.kill(WEB)
        seen = site.engine.inspect(API)
        assert isinstance(seen, Details)
        taken = seen.container.ports[0].host_port
        site.ports.router.publish("shop", "web", (Bind(HTTP, taken),))
        withdrawn = next(each for each in site.pass_() if Withdraw in effects([each]))
        assert ["api", "web"] == services(withdrawn)
        assert withdrawn.step is not None
        assert withdrawn.step.result.effect in plan(withdrawn.snapshot).effects


class TestParts:
    """What is done is on record a second later, not when the pass is over: whatever kills the program costs no more."""

    def test_what_was_heard_so_far_is_written_while_the_pass_is_under_way(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(room, "EARLY_S", 0.02)
        with recording(site.journal, site.ports, site.complaints.append) as witness:
            for crashed in (good(down), good(down, having(app="blog"))):
                before = site.journal.extent().records
                snapshot = host(crashed)
                now = plan(snapshot)
                witness.planned(now, is_whole=True)
                _until_it_holds(site.journal, before + 1)
                (decision,) = now.services
                witness.stepped(snapshot, decision, DONE, decision.subject)
                _until_it_holds(site.journal, before + 2)
                witness.ended(Report(now))
            witness.stepped(snapshot, decision, DONE, decision.subject)
        assert [1, 1, 2, 2, 3] == [each.pass_number for each in site.journal.records()]
        assert [Kind.LOOK, Kind.STEP, Kind.LOOK, Kind.STEP, Kind.STEP] == [each.kind for each in site.journal.records()]
        assert [] == site.complaints

    def test_what_is_over_is_not_taken_as_a_part(self, site: Site) -> None:
        """All of it is in what is written at the end, and what comes then is of the next pass."""
        takes: list[Take] = []

        class Keeping(Scribe):
            def begun(self, take: Take) -> None:
                takes.append(take)

        recorder = Recorder(Keeping(site.journal, site.engine, site.complaints.append), site.clock.now)
        snapshot = host(good(down))
        now = plan(snapshot)
        recorder.planned(now, is_whole=True)
        recorder.ended(Report(now))
        recorder.stepped(snapshot, now.services[0], DONE, now.services[0].subject)
        assert (2, [], 1) == (len(takes), takes[0](), len(takes[1]()))


def _until_it_holds(journal: MemoryJournal, records: int) -> None:
    ends_s = time.monotonic() + 20
    while journal.extent().records < records:
        assert time.monotonic() < ends_s
        time.sleep(0.005)


class TestDossiers:
    def test_a_crash_leaves_its_exit_its_last_lines_and_its_health(self, site: Site) -> None:
        site.engine.behave(WEB, Behaviour(checks=(True,)))
        site.settled()
        site.engine.say(WEB, *(f"line {each}" for each in range(60)))
        site.clock.advance(1)
        site.engine.kill(WEB, 3)
        site.engine.behave(WEB, Behaviour(checks=(True,), says=("of the next one",)))
        site.host.recover()
        (found,) = site.journal.dossiers()
        assert found.end is not None
        assert ("shop", "web", WEB, 3) == (found.app, found.service, found.container_id, found.end.code)
        assert not found.was_restarted
        assert tuple(f"line {each}" for each in range(10, 60)) == found.lines
        assert 5 == len(found.probes)
        assert () == found.unread

    def test_it_is_taken_once_for_each_death(self, site: Site) -> None:
        site.settled()
        for _ in range(3):
            site.engine.kill(WEB)
            site.engine.refuse("start", WEB, "no", times=1)
            for _ in range(4):
                site.host.recover()
                site.clock.advance(1000)
        assert 3 == len({each.started_at for each in site.journal.dossiers()}) == len(site.journal.dossiers())

    def test_nor_is_it_taken_again_where_only_the_journal_knows_of_it(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        """Of how many containers that is kept in mind is bounded: a program that runs for years sees many."""
        monkeypatch.setattr(scribe, "MOST_TAKEN", 1)
        site.settled()
        for each in (WEB, API):
            site.engine.kill(each)
            site.engine.refuse("start", each, "no")
        for _ in range(3):
            site.host.recover()
            site.engine.say(WEB, "later")
            site.clock.advance(1000)
        assert {WEB: (), API: ()} == {each.container_id: each.lines for each in site.journal.dossiers()}
        assert 2 == len(site.journal.dossiers())

    def test_it_is_not_taken_again_by_the_next_process(self, site: Site) -> None:
        site.settled()
        site.engine.kill(WEB)
        site.engine.refuse("start", WEB, "no")
        site.host.recover()
        before = site.journal.dossiers()
        site.engine.say(WEB, "later")
        site.journal.keep(LOOKED, "")
        Host(site.ports, crew=InlineCrew(), journal=site.journal).recover()
        assert before == site.journal.dossiers()

    def test_a_restart_for_being_sick_has_one_too_that_says_what_is_not_seen(self, site: Site) -> None:
        site.settled()
        site.engine.say(WEB, "sick")
        site.engine.behave(WEB, Behaviour(checks=(False,), check_retries=2))
        site.clock.advance(30)
        records: list[Record] = []
        while Restart not in effects(records):
            records += site.pass_()
            site.clock.advance(5)
        (found,) = site.journal.dossiers()
        assert (True, None, ("sick",)) == (found.was_restarted, found.end, found.lines)
        assert {"not well"} == {each.output for each in found.probes}
        assert ("how it ended is not seen: it was restarted",) == found.unread

    def test_what_the_operator_stops_has_none(self, site: Site) -> None:
        site.settled()
        site.host.stop("shop")
        site.host.recover()
        site.host.recover()
        assert () == site.journal.dossiers()

    def test_what_cannot_be_read_is_said_and_recovery_goes_on(self, site: Site) -> None:
        site.settled()
        site.engine.kill(WEB)
        heard = [Looking(site.host.plan(), is_whole=True, clock=site.clock.now())]
        site.engine.delete(WEB)
        Scribe(site.journal, site.engine, site.complaints.append).write(heard)
        (found,) = site.journal.dossiers()
        assert () == found.lines
        assert found.unread[0].startswith("its last lines could not be read: the memory engine has no container aaaa")

    def test_an_end_of_which_the_engine_says_nothing_is_said(self, site: Site) -> None:
        heard = [Looking(plan(host(good(down))), is_whole=True, clock=CLOCK)]
        Scribe(site.journal, _Talkative(), site.complaints.append).write(heard)
        (found,) = site.journal.dossiers()
        assert ("the engine does not say how it ended",) == found.unread

    def test_long_and_strange_output_is_cut_and_cleaned(self, site: Site) -> None:
        heard = [Looking(plan(host(good(down))), is_whole=True, clock=CLOCK)]
        Scribe(site.journal, _Talkative("x" * 5000, "half \ud800 a pair"), site.complaints.append).write(heard)
        (found,) = site.journal.dossiers()
        assert ("x" * 2000, "half ? a pair") == found.lines


class TestTrouble:
    def test_a_journal_that_cannot_be_written_is_told_once_and_recovery_goes_on(self, site: Site) -> None:
        site.settled()
        with recording(site.journal, site.ports, site.complaints.append) as witness:
            reconciler = site.reconciler(witness)
            site.journal.fail("the disk is full; free some space")
            for _ in range(3):
                site.engine.kill(WEB)
                assert Publish is type(reconciler.run_pass().results["shop", "web"][-1].effect)
                site.clock.advance(500)
        assert ["the disk is full; free some space; recovery goes on without it"] == site.complaints

    def test_what_could_not_be_written_is_written_later(self, site: Site) -> None:
        site.settled()
        site.journal.fail("full")
        writer = Scribe(site.journal, site.engine, site.complaints.append)
        site.engine.kill(WEB)
        writer.write([Looking(site.host.plan(), is_whole=True, clock=site.clock.now())])
        site.journal.fail("")
        before = site.journal.extent()
        writer.write([])
        after = site.journal.extent()
        assert (1, 1) == (after.records - before.records, after.dossiers - before.dossiers)
        site.journal.fail("full")
        writer.write([Looking(plan(host(good())), is_whole=True, clock=CLOCK)])
        assert ["full; recovery goes on without it"] * 2 == site.complaints

    def test_what_was_written_and_could_not_be_pruned_is_told_and_not_written_again(self, site: Site) -> None:
        unpruned = UnprunedError("it cannot be pruned")

        class Stuck(MemoryJournal):
            def write(self, records: Iterable[Record], dossiers: Iterable[Dossier] = (), *_: object, **__: bool) -> None:
                super().write(records, dossiers)
                raise unpruned

        journal = Stuck()
        writer = Scribe(journal, site.engine, site.complaints.append)
        for subject in (good(down), good()):
            writer.write([Looking(plan(host(subject)), is_whole=True, clock=CLOCK)])
        assert (2, 1) == (journal.extent().records, journal.extent().dossiers)
        assert ["it cannot be pruned; recovery goes on without it"] == site.complaints

    def test_what_waits_for_a_journal_is_bounded(self, site: Site) -> None:
        site.journal.fail("full")
        writer = Scribe(site.journal, site.engine, site.complaints.append)
        for number in range(MOST_UNWRITTEN + 10):
            subject = good(down) if number % 2 else good()
            writer.write([Looking(plan(host(subject)), is_whole=True, clock=CLOCK)])
        site.journal.fail("")
        writer.end()
        assert MOST_UNWRITTEN == site.journal.extent().records

    def test_what_no_document_can_say_is_told_and_the_rest_is_written(self, site: Site) -> None:
        writer = Scribe(site.journal, site.engine, site.complaints.append)
        strange, well = good(having(locked="\ud800")), good(having(app="blog"))
        writer.write([Looking(plan(host(each)), is_whole=False, clock=CLOCK) for each in (strange, well)])
        assert ["blog"] == [each.snapshot.subjects[0].app for each in site.journal.records()]
        assert site.complaints[0].startswith("what was decided of shop/web cannot be put in the journal: ")

    def test_a_fault_of_ours_in_the_thread_is_told(self, site: Site) -> None:
        class Broken(MemoryJournal):
            def kept(self, key: str) -> str:
                raise ZeroDivisionError(key)

        with recording(Broken(), site.ports, site.complaints.append) as witness:
            witness.planned(plan(host(good())), is_whole=True)
            witness.ended(Report(plan(host(good()))))
        assert "a fault of ours in the journal: ZeroDivisionError: looked; please report it" in site.complaints

    def test_a_pass_does_not_wait_for_a_journal_that_hangs_and_the_end_waits_so_long(self, site: Site) -> None:
        hang = threading.Event()

        class Hanging(MemoryJournal):
            def kept(self, key: str) -> str:
                hang.wait(60)
                return super().kept(key)

        writing = Writing(Scribe(Hanging(), site.engine, site.complaints.append), site.complaints.append, lambda: 0.05)
        recorder = Recorder(writing, site.clock.now)
        began_s = time.monotonic()
        site.reconciler(recorder).run_pass()
        for _ in range(room.MOST_WAITING + 5):
            writing.write([Looking(plan(host(good())), is_whole=True, clock=CLOCK)])
        writing.end()
        assert time.monotonic() - began_s < 30
        hang.set()
        assert [
            "the journal is behind, and the last passes are not recorded; see to its disk",
            "the journal does not have the last passes: they could not be written within 0.05 s",
        ] == site.complaints

    def test_without_a_journal_nothing_is_heard(self, site: Site) -> None:
        with recording(None, site.ports, site.complaints.append) as witness:
            site.reconciler(witness).run_pass()
        assert (0, []) == (site.journal.extent().records, site.complaints)
