"""How notices leave the host: a real command, a real web server, a queue that tries again, and what is left at the end."""

import json
import os
import socket
import threading
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from gordon_core.noted import Notice, NoticeKind
from gordon_shell.channel import DELIVERED, MOST_WAITING, Answer, Channel, Verdict, ended
from gordon_shell.hook import Hook
from gordon_shell.memory.journal import MemoryJournal
from gordon_shell.notice_text import document
from gordon_shell.webhook import Webhook
from tests.core_examples import CLOCK, NOW_S, WEB_ID
from tests.receivers import receiver, script, until

NOTICE = Notice(
    NoticeKind.TOP_STEP, "shop", "web", WEB_ID, CLOCK, "still in a crash loop", "gordon-shell retry shop/web", "COOLING", 7, 137,
    NOW_S + 900,
)  # fmt: skip


# --- the document ----------------------------------------------------------------------------------------------------------


def test_a_notice_is_one_line_of_json_that_says_all() -> None:
    text = document(NOTICE, "host-1")
    said = json.loads(text)
    assert "\n" not in text
    assert 24 == len(said.pop("id"))
    assert {
        "document": "gordon-notice",
        "version": 1,
        "kind": "top_step",
        "at": "2026-11-30T07:00:00Z",
        "host": "host-1",
        "app": "shop",
        "service": "web",
        "container_id": WEB_ID,
        "sentence": "still in a crash loop",
        "remedy": "gordon-shell retry shop/web",
        "situation": "COOLING",
        "failures": 7,
        "exit_code": 137,
        "next_try": "2026-11-30T07:15:00Z",
    } == said


def test_its_id_is_that_of_this_notice_alone_and_its_words_are_tame_and_short() -> None:
    wild = Notice(NoticeKind.CRASHED, "shop", "web", WEB_ID, CLOCK, "\x1b[2J\ud800" + "x" * 5000)
    said = json.loads(document(wild))
    assert json.loads(document(NOTICE))["id"] == json.loads(document(NOTICE))["id"] != said["id"]
    assert said["sentence"].startswith("\\x1b[2J\\ud800xxx")
    assert 2000 == len(said["sentence"])
    assert (None, os.uname().nodename) == (said["next_try"], said["host"])


# --- a command -----------------------------------------------------------------------------------------------------------


class TestHook:
    def test_it_reads_the_notice_from_its_standard_input(self, tmp_path: Path) -> None:
        command = script(tmp_path, f"open({str(tmp_path / 'got')!r}, 'w').write(sys.argv[1] + sys.stdin.read())")
        hook = Hook((command, "--urgent "), 30.0)
        assert DELIVERED == hook.carry(document(NOTICE))
        assert f"--urgent {document(NOTICE)}\n" == (tmp_path / "got").read_text()

    def test_one_that_reads_nothing_and_says_much_is_fine(self, tmp_path: Path) -> None:
        assert DELIVERED == Hook((script(tmp_path, "sys.stderr.write('x' * 300000)"),), 30.0).carry("x" * 300000)

    def test_it_is_not_told_what_systemd_told_us(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("NOTIFY_SOCKET", "/run/nowhere")
        monkeypatch.setenv("PAGER_TOKEN", "x")
        command = script(tmp_path, "sys.exit('NOTIFY_SOCKET' in os.environ or 'PAGER_TOKEN' not in os.environ)")
        assert DELIVERED == Hook((command,), 30.0).carry("{}")

    @pytest.mark.parametrize(
        ("body", "why"),
        [
            ("sys.stderr.write('no such\\nchannel'); sys.exit(3)", "it ended with exit status 3: no such channel"),
            ("sys.exit(1)", "it ended with exit status 1, and said nothing on standard error"),
            ("os.kill(os.getpid(), 9)", "signal 9 ended it, and said nothing on standard error"),
            ("sys.stderr.write('x' * 5000 + 'end'); sys.exit(1)", f"it ended with exit status 1: {'x' * 297}end"),
        ],
    )
    def test_one_that_fails_is_not_tried_again_and_says_why(self, tmp_path: Path, body: str, why: str) -> None:
        assert Answer(Verdict.REFUSED, why) == Hook((script(tmp_path, body),), 30.0).carry("{}")

    def test_one_that_was_told_to_end_as_all_of_a_unit_are_is_tried_again(self, tmp_path: Path) -> None:
        answer = Hook((script(tmp_path, "os.kill(os.getpid(), 15)"),), 30.0).carry("{}")
        assert Answer(Verdict.LATER, "signal 15 ended it, and said nothing on standard error") == answer

    def test_one_that_is_not_there_says_so(self, tmp_path: Path) -> None:
        answer = Hook((str(tmp_path / "nothing"),), 30.0).carry("{}")
        assert Answer(Verdict.REFUSED, "it could not be started (No such file or directory)") == answer

    def test_one_that_hangs_is_killed_with_all_that_it_began(self, tmp_path: Path) -> None:
        command = tmp_path / "hook"
        command.write_text(f"#!/bin/sh\nsleep 600 &\necho $! >{tmp_path}/child\nsleep 600\n")
        command.chmod(0o700)
        answer = Hook((str(command),), 1.5).carry("{}")
        assert Answer(Verdict.REFUSED, "it was not done within 1.5 s, and was killed") == answer
        child = int((tmp_path / "child").read_text())
        until(lambda: not _lives(child))

    def test_one_that_is_dropped_is_to_be_told_again(self, tmp_path: Path) -> None:
        body = f"open({str(tmp_path / 'begun')!r}, 'w').close(); time.sleep(600)"
        hook = Hook((script(tmp_path, body),), 600.0)
        answers: list[Answer] = []
        thread = threading.Thread(target=lambda: answers.append(hook.carry("{}")))
        thread.start()
        until((tmp_path / "begun").exists)
        hook.drop()
        thread.join(20)
        assert [Answer(Verdict.LATER)] == answers
        assert Answer(Verdict.LATER) == hook.carry("{}")

    def test_one_that_says_without_end_takes_no_memory(self, tmp_path: Path) -> None:
        hook = Hook((script(tmp_path, "while True: sys.stderr.write('x' * 65536)"),), 1.5)
        tracemalloc.start()
        try:
            assert Answer(Verdict.REFUSED, "it was not done within 1.5 s, and was killed") == hook.carry("{}")
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert most < 2_000_000

    def test_what_it_leaves_running_is_not_waited_for(self, tmp_path: Path) -> None:
        command = tmp_path / "hook"
        command.write_text("#!/bin/sh\nsleep 30 &\n")
        command.chmod(0o700)
        began_s = time.monotonic()
        assert DELIVERED == Hook((str(command),), 20.0).carry("{}")
        assert time.monotonic() - began_s < 15

    def test_what_it_is_called_holds_no_argument(self) -> None:
        assert "the command '/opt/my tools/page'" == Hook(("/opt/my tools/page", "--token=x"), 1.0).name


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


# --- a webhook -----------------------------------------------------------------------------------------------------------


class TestWebhook:
    def test_it_posts_the_notice_as_json(self) -> None:
        with receiver(204) as server:
            assert DELIVERED == Webhook(server.url, 20.0).carry(document(NOTICE))
        assert [("/services/secret", "application/json", document(NOTICE))] == server.got

    @pytest.mark.parametrize(
        ("answer", "expected"),
        [
            (500, Answer(Verdict.LATER, "it answered 500")),
            (503, Answer(Verdict.LATER, "it answered 503")),
            (429, Answer(Verdict.LATER, "it answered 429")),
            (404, Answer(Verdict.REFUSED, "it answered 404, and the notice is lost")),
            (302, Answer(Verdict.REFUSED, "it answered 302, and the notice is lost; name the address that it leads to")),
        ],
    )
    def test_what_is_worth_another_try_is_told_from_what_is_not(self, answer: int, expected: Answer) -> None:
        with receiver(answer) as server:
            assert expected == Webhook(server.url, 20.0).carry("{}")
        assert ["/services/secret"] == [path for path, _, _ in server.got]

    def test_a_server_that_hangs_or_is_not_there_is_worth_another_try_and_the_address_is_not_said(self) -> None:
        with receiver(0) as server:
            hook = Webhook(server.url, 0.2)
            assert Answer(Verdict.LATER, "it did not answer within 0.2 s") == hook.carry("{}")
        assert Answer(Verdict.LATER, "it could not be reached (Connection refused)") == hook.carry("{}")
        assert "the webhook at 127.0.0.1" == hook.name

    @pytest.mark.parametrize("before", [b"", b"HTTP/1.1 200 OK\r\nX-Slow: "])
    def test_one_that_answers_drop_by_drop_has_its_time_and_no_more(self, before: bytes) -> None:
        began_s = time.monotonic()
        with dripping(before) as url:
            answer = Webhook(url, 1.0).carry("{}")
        assert time.monotonic() - began_s < 15
        # Of headers that were cut off, the status may have been understood.
        assert answer in (Answer(Verdict.LATER, "it did not answer within 1 s"), *[DELIVERED] * bool(before))

    @pytest.mark.parametrize("before", [b"", b"HTTP/1.1 202 ", b"HTTP/1.1 404 "])
    def test_a_try_under_way_is_ended_where_it_is_dropped(self, before: bytes) -> None:
        """What was said by then may look like a whole answer, and is none."""
        answers: list[Answer] = []
        with dripping(before) as url:
            hook = Webhook(url, 60.0)
            thread = threading.Thread(target=lambda: answers.append(hook.carry("{}")))
            thread.start()
            time.sleep(0.3)
            hook.drop()
            thread.join(20)
        assert [Answer(Verdict.LATER)] == answers

    def test_what_is_said_beside_the_status_is_not_waited_for(self) -> None:
        with dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n") as url:
            assert DELIVERED == Webhook(url, 60.0).carry("{}")

    def test_one_that_was_dropped_tries_no_more(self) -> None:
        hook = Webhook("http://127.0.0.1:9/", 0.2)
        hook.drop()
        assert Answer(Verdict.LATER) == hook.carry("{}")


@contextmanager
def dripping(before: bytes = b"") -> Iterator[str]:
    """Give the address of a server that answers so, and then a byte now and again, for ever."""
    over = threading.Event()

    def drip(server: socket.socket) -> None:
        with suppress(OSError), closing(server.accept()[0]) as client:
            client.sendall(before or b"HTTP/1.1 ")
            while not over.wait(0.1):
                client.sendall(b"2")

    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        thread = threading.Thread(target=drip, args=(server,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/services/secret"
        finally:
            over.set()
            thread.join(20)


# --- the queue -----------------------------------------------------------------------------------------------------------


class Cart:
    """A carrier that answers as it is told: the last answer again and again; `carried` is what it was given."""

    name = "the cart"

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers) or [DELIVERED]
        self.carried: list[str] = []
        self.free = threading.Event()
        self.free.set()
        self.dropped = False

    def carry(self, document: str) -> Answer:
        self.carried.append(document)
        self.free.wait(30)
        return Answer(Verdict.LATER) if self.dropped else self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def drop(self) -> None:
        self.dropped = True
        self.free.set()


LATER, REFUSED = Answer(Verdict.LATER, "it is closed"), Answer(Verdict.REFUSED, "it is full")


class Post:
    """A channel with its journal and what it complained of."""

    def __init__(self, cart: Cart, journal: MemoryJournal | None = None) -> None:
        self.cart, self.journal = cart, journal
        self.complaints: list[str] = []
        self.channel = Channel("notices.cart", cart, journal, self.complaints.append, first_pause_s=0.01)
        self.channel.begin()

    def put(self, *documents: str) -> "Post":
        for each in documents:
            self.channel.put(each)
        return self

    def has_carried(self, *documents: str) -> None:
        until(lambda: len(self.cart.carried) >= len(documents))
        assert list(documents) == self.cart.carried


class TestChannel:
    def test_everything_is_delivered_in_order(self) -> None:
        post = Post(Cart()).put("1", "2", "3")
        post.channel.begin()
        post.has_carried("1", "2", "3")
        post.channel.end(5.0)
        assert [] == post.complaints

    def test_what_is_worth_another_try_is_tried_again_and_said_once(self) -> None:
        post = Post(Cart(LATER, LATER, DELIVERED)).put("1", "2")
        post.has_carried("1", "1", "1", "2")
        post.channel.end(5.0)
        assert ["notices by the cart: it is closed; it is tried again", "notices by the cart: delivered again"] == post.complaints

    def test_what_is_refused_is_said_once_and_the_next_one_follows(self) -> None:
        post = Post(Cart(REFUSED, REFUSED, DELIVERED)).put("1", "2", "3")
        post.has_carried("1", "2", "3")
        post.channel.end(5.0)
        assert ["notices by the cart: it is full", "notices by the cart: delivered again"] == post.complaints

    def test_a_fault_of_ours_is_told_and_ends_nothing(self) -> None:
        class Broken(Cart):
            def carry(self, document: str) -> Answer:
                answer = super().carry(document)
                if document == "1":
                    raise ZeroDivisionError
                return answer

        post = Post(Broken()).put("1", "2")
        post.has_carried("1", "2")
        post.channel.end(5.0)
        assert post.complaints[0].startswith("notices by the cart: a fault of ours: ZeroDivisionError")

    def test_the_end_waits_for_what_is_under_way_and_delivers_the_rest(self) -> None:
        post = Post(Cart())
        post.cart.free.clear()
        post.put("1", "2")
        until(lambda: post.cart.carried == ["1"])
        threading.Timer(0.1, post.cart.free.set).start()
        post.channel.end(20.0)
        assert (["1", "2"], []) == (post.cart.carried, post.complaints)

    def test_the_end_does_not_wait_longer_than_it_may_and_what_is_left_is_kept(self) -> None:
        journal = MemoryJournal()
        post = Post(Cart(), journal)
        post.cart.free.clear()
        post.put("1", "2")
        until(lambda: post.cart.carried == ["1"])
        began_s = time.monotonic()
        post.channel.end(0.05)
        assert time.monotonic() - began_s < 10
        assert ["2 notices could not be delivered by the cart before the end; kept for the next start"] == post.complaints
        then = Post(Cart(), journal).put("3")
        then.has_carried("1", "2", "3")
        then.channel.end(5.0)
        assert "" == journal.kept("notices.cart")

    def test_at_the_end_nothing_is_tried_twice(self) -> None:
        post = Post(Cart(LATER))
        post.channel.end(5.0)
        post = Post(Cart(LATER), MemoryJournal()).put("1", "2")
        until(lambda: bool(post.cart.carried))
        post.channel.end(5.0)
        assert {"1"} == set(post.cart.carried)
        assert "2 notices could not be delivered by the cart before the end; kept for the next start" == post.complaints[-1]

    def test_what_waits_survives_a_kill(self) -> None:
        journal = MemoryJournal()
        post = Post(Cart(), journal)
        post.cart.free.clear()
        post.put("1")
        until(lambda: journal.kept("notices.cart") == '["1"]')
        post.cart.free.set()
        until(lambda: journal.kept("notices.cart") == "")
        post.channel.end(5.0)

    def test_without_a_journal_what_is_left_is_lost_and_that_is_said(self) -> None:
        post = Post(Cart(LATER)).put("1")
        until(lambda: bool(post.cart.carried))
        post.channel.end(5.0)
        assert "1 notice could not be delivered by the cart before the end; lost" == post.complaints[-1]

    def test_a_queue_that_is_too_long_loses_its_oldest_and_says_so_once(self) -> None:
        post = Post(Cart())
        post.cart.free.clear()
        post.put("first")
        until(lambda: post.cart.carried == ["first"])
        post.put(*map(str, range(MOST_WAITING + 20)))
        post.cart.free.set()
        post.channel.end(20.0)
        assert ["first", *map(str, range(21, MOST_WAITING + 20))] == post.cart.carried
        assert [f"notices by the cart: more than {MOST_WAITING} are waiting, and the oldest are lost"] == post.complaints

    @pytest.mark.parametrize("kept", ["{", "[1]", '{"1": 2}'])
    def test_what_was_kept_and_is_damaged_is_complained_of_once(self, kept: str) -> None:
        journal = MemoryJournal()
        journal.keep("notices.cart", kept)
        post = Post(Cart(), journal).put("1")
        post.has_carried("1")
        post.channel.end(5.0)
        (complaint,) = post.complaints
        assert complaint.startswith("the notices that an earlier process left are damaged, and are not delivered (")

    def test_what_was_kept_before_it_was_tried_is_not_called_lost_where_the_journal_fails_at_the_end(self) -> None:
        journal = MemoryJournal()
        post = Post(Cart(LATER), journal).put("1")
        until(lambda: bool(post.cart.carried))
        journal.fail("another program has kept it locked")
        post.channel.end(5.0)
        assert "1 notice could not be delivered by the cart before the end; kept for the next start" == post.complaints[-1]

    def test_a_journal_that_fails_keeps_nothing_from_being_delivered(self) -> None:
        journal = MemoryJournal()
        journal.fail("the disk is full; free some space")
        post = Post(Cart(), journal).put("1")
        post.has_carried("1")
        post.channel.end(5.0)
        expected = "the disk is full; free some space; notices that an earlier process left are not delivered"
        assert [expected] == post.complaints

    def test_one_that_never_began_ends_at_once(self) -> None:
        channel = Channel("notices.cart", Cart(), None, print)
        channel.end(60.0)
        ended((), 60.0)

    def test_several_end_side_by_side(self) -> None:
        posts = [Post(Cart()), Post(Cart())]
        for each in posts:
            each.cart.free.clear()
            each.put("1")
        until(lambda: all(each.cart.carried for each in posts))
        began_s = time.monotonic()
        ended(tuple(each.channel for each in posts), 0.5)
        assert time.monotonic() - began_s < 20
        assert [1, 1] == [len(each.complaints) for each in posts]
