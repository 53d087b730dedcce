"""The witness that tells operators: over a simulated host with the real planner, over restarts, and where something fails."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gordon_core.noted import Notice, NoticeKind, Told
from gordon_core.notices import notice
from gordon_core.planner import plan
from gordon_shell.channel import DELIVERED
from gordon_shell.crew import InlineCrew
from gordon_shell.errors import StoreError
from gordon_shell.host import Host
from gordon_shell.host_settings import NoticeSettings
from gordon_shell.memory.clock import MemoryClock
from gordon_shell.memory.container import Behaviour, Simulated
from gordon_shell.memory.engine import MemoryEngine
from gordon_shell.memory.journal import MemoryJournal
from gordon_shell.memory.locks import MemoryLock, MemoryLocks
from gordon_shell.memory.ports import memory_ports
from gordon_shell.notice_text import Memo, document, memo_in_json, memo_of_json
from gordon_shell.notices import MOST_WAITING, TOLD, Aside, Notices
from gordon_shell.report import Report
from gordon_shell.teller import Teller, carriers, trial
from gordon_shell.wishes import Wish
from gordon_shell.witness import Silent
from tests.core_examples import CLOCK, dark, down, good, having, host
from tests.hosts import HTTP
from tests.receivers import receiver, script, until

WEB, API = "a" * 64, "b" * 64


class Site:
    """A host in memory with a journal, of which everything that is told is taken down."""

    def __init__(self) -> None:
        self.clock = MemoryClock()
        self.engine = MemoryEngine(self.clock)
        self.ports = memory_ports(self.engine)
        self.journal = MemoryJournal()
        self.told: list[Notice] = []
        self.complaints: list[str] = []
        for container_id, name in ((WEB, "web"), (API, "api")):
            self.engine.add(Simulated(container_id, f"{name}-1", ((HTTP, 0),)))
            self.engine.start(container_id)
        self.start()
        self.host.adopt("shop", Wish("web", "web-1"), Wish("api", "api-1"))

    def start(self) -> None:
        """Begin another process."""
        witness = Notices(self.told.append, self.journal, self.complaints.append)
        self.host = Host(self.ports, crew=InlineCrew(), journal=self.journal, witness=witness)

    def passes(self, count: int, cadence_s: float = 15.0, *, restarting: bool = False) -> list[str]:
        """Run passes, in a process for each if `restarting`; return who was told what."""
        before = len(self.told)
        for _ in range(count):
            if restarting:
                self.start()
            self.host.recover()
            self.clock.advance(cadence_s)
        return [f"{each.kind.value} {each.service}" for each in self.told[before:]]


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.mark.parametrize("restarting", [False, True], ids=["one process", "a process for each pass"])
def test_a_crash_loop_of_two_hours_is_told_step_by_step_and_its_end_once(site: Site, *, restarting: bool) -> None:
    assert [] == site.passes(8, restarting=restarting)
    site.engine.behave(WEB, Behaviour(exits_after_s=1.0, exit_code=3))
    site.engine.kill(WEB, 3)
    told = site.passes(4 * 120, restarting=restarting)
    assert ["crashed web", "looping web", *["top_step web"] * 7] == told
    assert 3 == site.told[0].exit_code
    site.engine.behave(WEB, Behaviour())
    assert ["recovered web"] == site.passes(4 * 25, restarting=restarting)
    assert [] == site.passes(4 * 60, restarting=restarting)
    assert () == memo_of_json(site.journal.kept(TOLD)).told.services
    assert [] == site.complaints


def test_one_service_that_loops_says_nothing_of_the_others_and_a_gone_one_is_told(site: Site) -> None:
    site.passes(4)
    site.engine.kill(WEB)
    assert ["crashed web"] == site.passes(4 * 70)
    site.engine.delete(API)
    assert ["gone api"] == site.passes(40)
    site.host.inhibit("shop", "web", "its data is being moved")
    assert ["inhibited web"] == site.passes(40)


def test_only_the_kinds_that_are_wanted_are_handed_on() -> None:
    told: list[Notice] = []
    witness = Notices(told.append, kinds=(NoticeKind.GONE,))
    witness.planned(plan(host(good(dark, down))), is_whole=True)
    assert [] == told


class TestKills:
    """A process that dies between deciding, remembering and delivering tells nothing twice, and leaves nothing out."""

    def test_what_was_kept_and_not_handed_on_is_handed_on_by_the_next_the_very_same(self, site: Site) -> None:
        site.passes(2)
        site.engine.kill(WEB)
        seen: list[Memo] = []

        def die(told: Notice) -> None:
            seen.append(memo_of_json(site.journal.kept(TOLD)))
            site.told.append(told)

        Notices(die, site.journal).planned(site.host.plan(), is_whole=True)  # and here it is killed
        (first,) = site.told
        assert (first,) == seen[0].handing
        assert ["crashed web"] == site.passes(4)
        assert [first, first] == site.told
        assert () == memo_of_json(site.journal.kept(TOLD)).handing

    def test_of_a_loop_one_recovered_is_told_though_each_process_is_killed_before_the_end_of_its_pass(self, site: Site) -> None:
        plain = Host(site.ports, crew=InlineCrew())

        def passes(count: int) -> None:
            for _ in range(count):
                report = plain.recover()
                Notices(site.told.append, site.journal).planned(report.plan, is_whole=True)
                site.clock.advance(15)

        passes(2)
        site.engine.behave(WEB, Behaviour(exits_after_s=1.0))
        site.engine.kill(WEB)
        passes(60)
        site.engine.behave(WEB, Behaviour())
        passes(4 * 30)
        kinds = [each.kind for each in dict.fromkeys(site.told)]
        assert (1, 1) == (kinds.count(NoticeKind.LOOPING), kinds.count(NoticeKind.RECOVERED))

    def test_what_waits_already_is_not_put_once_more(self) -> None:
        journal, complaints = MemoryJournal(), list[str]()
        (crash,) = notice(Told(), plan(host(good(dark, down))), is_whole=True)[1]
        journal.keep(TOLD, memo_in_json(Memo(Told(), (crash,))))
        journal.keep("notices.webhook", json.dumps([document(crash)]))
        with receiver(200) as server, telling(NoticeSettings(webhook=server.url), journal, complaints) as teller:
            teller.ended(Report(plan(host(good()))))
            teller.planned(plan(host(good())), is_whole=True)
        assert ([document(crash)], []) == ([body for _, _, body in server.got], complaints)


class TestBesideAnother:
    def test_only_one_process_tells_and_the_other_when_that_has_ended(self) -> None:
        journal, complaints, locks, crash = MemoryJournal(), list[str](), MemoryLocks(), plan(host(good(dark, down)))
        with receiver(200) as server:
            settings = NoticeSettings(webhook=server.url)
            with telling(settings, journal, complaints, locks) as run:
                run.planned(plan(host(good())), is_whole=True)
                with telling(settings, journal, complaints, locks) as once:
                    once.planned(crash, is_whole=True)
                    once.ended(Report(crash))
                run.ended(Report(crash))
                once.planned(crash, is_whole=True)
            with telling(settings, journal, complaints, locks) as once:
                once.planned(crash, is_whole=True)
        assert (["crashed"], []) == ([json.loads(body)["kind"] for _, _, body in server.got], complaints)

    def test_where_the_lock_cannot_be_had_at_all_it_is_told(self) -> None:
        def fail() -> MemoryLock:
            raise broken

        broken, complaints = StoreError("the lock cannot be taken"), list[str]()
        with receiver(200) as server:
            teller = Teller(NoticeSettings(webhook=server.url), None, complaints.append, fail)
            teller.planned(plan(host(good(dark, down))), is_whole=True)
            teller.end(20.0)
        assert 1 == len(server.got)


class TestTrouble:
    def test_what_cannot_be_kept_is_complained_of_once_and_told_all_the_same(self, site: Site) -> None:
        site.passes(2)
        site.journal.fail("the disk is full; free some space")
        site.engine.kill(WEB)
        assert ["crashed web"] == site.passes(4)
        site.journal.fail("")
        site.passes(1)
        assert ["the disk is full; free some space; what was told of services may be told again"] == site.complaints
        assert ["web"] == [each.service for each in memo_of_json(site.journal.kept(TOLD)).told.services]

    def test_what_cannot_be_read_at_the_begin_is_complained_of(self, site: Site) -> None:
        site.journal.fail("the disk is gone")
        site.passes(1)
        assert ["the disk is gone; what was told of services may be told again"] == site.complaints

    @pytest.mark.parametrize("kept", ["{", '{"told": {"boot_id": 7}}', '{"handing": [1]}', '{"luck": 1}', "[]"])
    def test_what_was_kept_and_is_damaged_is_begun_anew_with_one_complaint(self, site: Site, kept: str) -> None:
        site.journal.keep(TOLD, kept)
        assert [] == site.passes(3)
        (complaint,) = site.complaints
        assert complaint.startswith("what was told of services is damaged, and may be told again ($")
        assert Memo(Told("boot-1")) == memo_of_json(site.journal.kept(TOLD))

    def test_a_tool_that_fails_over_a_notice_ends_no_pass(self, site: Site) -> None:
        def fail(_notice: Notice) -> None:
            raise ZeroDivisionError

        witness = Notices(fail, None, site.complaints.append)
        witness.planned(plan(host(good(dark, down))), is_whole=True)
        assert ["a notice of shop/web could not be handed on: ZeroDivisionError: "] == site.complaints
        Notices(fail).planned(plan(host(good(dark, down))), is_whole=True)


class TestAside:
    def test_no_pass_waits_for_it_and_the_end_waits_so_long(self) -> None:
        hang, heard = threading.Event(), list[str]()

        class Slow(Silent):
            def ended(self, report: Report) -> None:
                hang.wait(30)
                heard.append(report.plan.services[0].subject.app)

        aside = Aside(Slow(), print)
        for _ in range(MOST_WAITING + 5):
            aside.ended(Report(plan(host(good()))))
        aside.end(0.01)
        assert [] == heard
        hang.set()
        aside.end(30.0)
        assert len(heard) in {MOST_WAITING, MOST_WAITING + 1}

    def test_one_that_heard_nothing_ends_at_once(self) -> None:
        Aside(Silent(), print).end(60.0)

    def test_a_fault_of_ours_is_told(self) -> None:
        complaints: list[str] = []

        class Broken(Silent):
            def ended(self, report: Report) -> None:
                raise KeyError(report.took_s)

        aside = Aside(Broken(), complaints.append)
        aside.ended(Report(plan(host(good()))))
        aside.end(20.0)
        assert ["a fault of ours in the notices: KeyError: 0.0; please report it"] == complaints


@contextmanager
def telling(
    settings: NoticeSettings, journal: MemoryJournal, complaints: list[str], locks: MemoryLocks | None = None
) -> Iterator[Teller]:
    locks = locks if locks is not None else MemoryLocks()
    teller = Teller(settings, journal, complaints.append, locks.try_tell)
    try:
        yield teller
    finally:
        teller.end(20.0)


def test_a_crash_reaches_the_command_and_the_webhook(tmp_path: Path) -> None:
    got = tmp_path / "got"
    complaints: list[str] = []
    with receiver(503, 200) as server:
        settings = NoticeSettings((script(tmp_path, f"open({str(got)!r}, 'a').write(sys.stdin.read())"),), server.url)
        with telling(settings, MemoryJournal(), complaints) as teller:
            teller.planned(plan(host(good(dark, down), good(having(app="blog")))), is_whole=True)
            until(lambda: 2 == len(server.got))
    (said,) = map(json.loads, got.read_text().splitlines())
    assert ("crashed", "shop", "web") == (said["kind"], said["app"], said["service"])
    assert [said, said] == [json.loads(body) for _, _, body in server.got]
    assert [
        "notices by the webhook at 127.0.0.1: it answered 503; it is tried again",
        "notices by the webhook at 127.0.0.1: delivered again",
    ] == complaints


def test_what_an_earlier_process_left_is_delivered_by_the_next() -> None:
    journal, complaints = MemoryJournal(), list[str]()
    with receiver(500) as server, telling(NoticeSettings(webhook=server.url), journal, complaints) as teller:
        teller.planned(plan(host(good(dark, down))), is_whole=True)
        until(lambda: bool(server.got))
        teller.ended(Report(plan(host(good(dark, down)))))
    assert complaints[-1].startswith("1 notice could not be delivered by the webhook at 127.0.0.1 before the end; kept for ")
    with receiver(200) as server, telling(NoticeSettings(webhook=server.url), journal, complaints) as teller:
        teller.planned(plan(host(good(dark, down))), is_whole=True)
        until(lambda: bool(server.got))
    assert ["crashed"] == [json.loads(body)["kind"] for _, _, body in server.got]
    assert "" == journal.kept("notices.webhook")


def test_a_trial_tells_of_nothing(tmp_path: Path) -> None:
    assert {} == carriers(NoticeSettings())
    assert (NoticeKind.TEST, "", "") == (trial(CLOCK).kind, trial(CLOCK).app, trial(CLOCK).remedy)
    (hook,) = carriers(NoticeSettings((script(tmp_path, ""),))).values()
    assert DELIVERED == hook.carry("{}")
