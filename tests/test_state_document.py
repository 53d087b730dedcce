"""The whole state as a document: exact there and back, strict on the way in."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from gordon_core.grants import Overrides
from gordon_core.memory import Memory
from gordon_core.observation import Port
from gordon_core.policy import Policy, WhenUnhealthy
from gordon_core.snapshot import Declared, Hold, HttpCheck, Intent
from gordon_shell.codec import plain
from gordon_shell.errors import DocumentError, UsageError
from gordon_shell.ports import Deployed, Journalled, Marker, Stored
from gordon_shell.sqlite_store import SqliteStore
from tests.deploys import CANDIDATE, kept, revision
from tests.states import BINDS, DECLARED, VERIFIED

RICH = Declared("new", 3, (Port(80),), BINDS, 2.5, http=HttpCheck(80, "/up"), policy=Policy(ladder_s=(0.5, 1.25)))

AT_2 = {"container_id": "c", "revision": 2}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gordon" / "state.db"


def everything(store: SqliteStore) -> None:
    """Put some of all there is into a store."""
    store.activate("shop", "web", DECLARED, 0, None)
    store.activate("shop", "web", RICH, 1, Marker("old", 30.0, BINDS, VERIFIED), (revision(3), revision(1)))
    store.activate("other", "db", Declared("db", 1), 0, None)
    store.save_memory("shop", "web", "old", Memory(failures=2, verified=VERIFIED, boot_id="boot"))
    store.save_memory("shop", "web", "gone", Memory(failures=1))
    store.set_unproven("shop", "web", unproven=True)
    store.set_unproven("left", "x", unproven=True)
    store.set_intent("other", Intent.STOPPED)
    store.set_intent("empty", Intent.STOPPED)
    store.inhibit("shop", "web", "new", "eats data")
    store.inhibit("shop", "never", "seen", "nor this")
    store.set_hold("shop", "web", Hold(90.5, 1796022000.25, "boot", "alice", "migration"))
    store.set_tuning("shop", "web", Overrides(ladder_s=(0.5, 2.0), exit_0_is_done=True, unhealthy=WhenUnhealthy.WITHDRAW))
    store.set_tuning("shop", "never", Overrides(free_failures=5))


class TestTheDocument:
    def test_export_and_import_round_trip_everything(self, tmp_path: Path) -> None:
        with closing(SqliteStore.open(tmp_path / "one.db", create=True)) as one:
            everything(one)
            text = one.export_state()
            assert text == one.export_state()
            with closing(SqliteStore.open(tmp_path / "two.db", create=True)) as two:
                assert () == two.read()
                two.import_state(text)
                assert one.read() == two.read()
                assert kept(3, 1) == two.deployed("shop", "web")
                assert text == two.export_state()
                two.activate("shop", "never", Declared("seen", 1), 0, None)
                assert ["nor this"] == [each.inhibited for each in two.read() if each.service == "never"]

    def test_an_empty_state_is_a_document_too(self, path: Path) -> None:
        with closing(SqliteStore.open(path, create=True)) as store:
            expected = {"format": "gordon-state", "version": 1, "apps": [], "services": []}
            assert expected == json.loads(store.export_state())
            store.import_state(store.export_state())
            assert () == store.read()

    def test_the_journal_of_deploys_is_left_out(self, path: Path, tmp_path: Path) -> None:
        with (
            closing(SqliteStore.open(tmp_path / "one.db", create=True)) as one,
            closing(SqliteStore.open(path, create=True)) as two,
        ):
            everything(one)
            before = one.export_state()
            one.journal("shop", "web", CANDIDATE)
            one.journal("shop", "first", Journalled("c", "x"))
            assert before == one.export_state()
            two.import_state(before)
            assert () == tuple(candidate for each in two.read() for candidate in each.candidates)

    def test_a_document_of_before_there_were_deploys_is_read(self, path: Path) -> None:
        service = {
            "app": "a",
            "service": "s",
            "declared": AT_2,
            "unproven": False,
            "inhibitions": [],
            "markers": [],
            "memories": [],
        }
        with closing(SqliteStore.open(path, create=True)) as store:
            store.import_state(json.dumps({"format": "gordon-state", "version": 1, "apps": [], "services": [service]}))
            assert (Stored("a", "s", Intent.RUNNING, Declared("c", 2)),) == store.read()

    def test_of_more_revisions_than_are_kept_the_newest_are_taken(self, path: Path) -> None:
        def made(numbers: range) -> list[object]:
            return [plain(Deployed(each, "c", "sha256:1", revision(each).blueprint)) for each in numbers]

        service = {"app": "a", "service": "s", "declared": {"container_id": "c", "revision": 20}, "deployed": made(range(1, 21))}
        with closing(SqliteStore.open(path, create=True)) as store:
            store.import_state(json.dumps({"format": "gordon-state", "version": 1, "services": [service]}))
            assert [*range(20, 10, -1)] == [each.revision for each in store.deployed("a", "s")]

    @pytest.mark.parametrize("there", ["service", "intent", "inhibition", "candidate"])
    def test_a_state_that_is_not_empty_takes_none(self, path: Path, tmp_path: Path, there: str) -> None:
        with closing(SqliteStore.open(tmp_path / "one.db", create=True)) as one:
            everything(one)
            text = one.export_state()
        with closing(SqliteStore.open(path, create=True)) as store:
            match there:
                case "service":
                    store.activate("own", "web", DECLARED, 0, None)
                case "intent":
                    store.set_intent("own", Intent.STOPPED)
                case "candidate":
                    store.journal("own", "web", CANDIDATE)
                case _:
                    store.inhibit("own", "web", "c", "why")
            before = store.export_state()
            with pytest.raises(UsageError, match=r"is not empty; import into a new one"):
                store.import_state(text)
            assert before == store.export_state()

    @pytest.mark.parametrize(
        ("text", "faults"),
        [
            ("", ["$: not JSON"]),
            ("\x00", ["$: not JSON"]),
            ("[" * 200_000, ["$: nested too deeply"]),
            ("[]", ["$: expected an object, found a list"]),
            ('{"format": "gordon-state"}', ["$.version: missing"]),
            ('{"format": "other", "version": 2}', ["$.format: 'format' must be in", "$.version: 'version' must be in"]),
            ('{"format": "gordon-state", "version": "1"}', ["$.version: expected a whole number, found '1'"]),
            ('{"format": "gordon-state", "version": 1, "version": 1}', ["the key 'version' is there twice"]),
        ],
    )
    def test_a_damaged_document_is_refused(self, path: Path, text: str, faults: list[str]) -> None:
        with closing(SqliteStore.open(path, create=True)) as store:
            with pytest.raises(DocumentError) as caught:
                store.import_state(text)
            assert () == store.read()
        assert [] == [each for each in faults if each not in str(caught.value)]

    def test_every_fault_is_named_with_its_path(self, path: Path) -> None:
        service = {
            "app": "",
            "service": 7,
            "declared": {"container_id": "c", "revision": 0, "ports": [{"number": 80, "protocol": "sctp"}], "prots": []},
            "unproven": 1,
            "markers": [{"container_id": "m", "binds": {}}, {"stop_grace_s": "ten"}],
            "memories": [{"container_id": "c", "memory": {"failures": 1.5, "verified": {"started_at": None}}}],
        }
        apps = [{"app": "a", "intent": "resting"}]
        document = {"format": "gordon-state", "version": 1, "apps": apps, "services": [service]}
        with closing(SqliteStore.open(path, create=True)) as store, pytest.raises(DocumentError) as caught:
            store.import_state(json.dumps(document))
        at = "$.services[0]"
        expected = [
            "$.apps[0].intent: expected one of running, stopped, found 'resting'",
            f"{at}.service: expected text, found a whole number",
            f"{at}.declared.ports[0].protocol: expected one of tcp, udp, found 'sctp'",
            f"{at}.declared.prots: unknown key",
            f"{at}.unproven: expected true or false, found a whole number",
            f"{at}.markers[0].binds: expected a list, found an object",
            f"{at}.markers[1].stop_grace_s: expected a number, found 'ten'",
            f"{at}.markers[1].container_id: missing",
            f"{at}.memories[0].memory.failures: expected a whole number, found a number",
            f"{at}.memories[0].memory.verified.started_at: expected text, found null",
            f"{at}.memories[0].memory.verified.binds: missing",
            f"{at}.memories[0].memory.verified.revision: missing",
        ]
        assert expected == str(caught.value).split("; ")

    @pytest.mark.parametrize(
        ("change", "fault"),
        [
            ({"app": ""}, "$.services[0].app: "),
            ({"declared": {"container_id": "c", "revision": 0}}, "$.services[0].declared.revision: "),
            ({"declared": {"container_id": "", "revision": 1, "stop_grace_s": -1}}, "$.services[0].declared.stop_grace_s: "),
            ({"markers": [{"container_id": "m", "stop_grace_s": -1}]}, "$.services[0].markers: "),
            ({"markers": [{"container_id": "m"}, {"container_id": "m"}]}, "repeated: m"),
            ({"memories": [{"container_id": "m", "memory": {}}] * 2}, "repeated: m"),
            ({"declared": {"container_id": "c", "revision": 2**70}}, "$: cannot be kept"),
            ({"service": "\ud800", "unproven": True}, "$: cannot be kept"),
            (
                {"deployed": [plain(revision(1))]},
                "$.services[0].deployed: each deployed revision must be the declared one or before",
            ),
            ({"declared": AT_2, "deployed": [plain(revision(each)) for each in (3, 0, 2)]}, "before it; neither: 3, 0"),
            ({"declared": AT_2, "deployed": [plain(revision(2))] * 2}, "each deployed revision once; repeated: 2"),
            ({"declared": AT_2, "deployed": [{"revision": 2}]}, "$.services[0].deployed[0].blueprint: missing"),
        ],
    )
    def test_impossible_values_are_refused(self, path: Path, change: dict[str, object], fault: str) -> None:
        document = {"format": "gordon-state", "version": 1, "services": [{"app": "a", "service": "s"} | change]}
        with closing(SqliteStore.open(path, create=True)) as store:
            with pytest.raises(DocumentError) as caught:
                store.import_state(json.dumps(document))
            assert () == store.read()
        assert fault in str(caught.value)

    def test_a_service_named_twice_is_refused(self, path: Path) -> None:
        service = {"app": "a", "service": "s"}
        document = {"format": "gordon-state", "version": 1, "services": [service, service]}
        with closing(SqliteStore.open(path, create=True)) as store, pytest.raises(DocumentError, match="repeated: a/s"):
            store.import_state(json.dumps(document))

    @pytest.mark.parametrize("other", [{"declared": {"container_id": "c", "revision": 1}}, {"markers": [{"container_id": "c"}]}])
    def test_a_container_that_two_services_name_is_refused(self, path: Path, other: dict[str, object]) -> None:
        first = {"app": "a", "service": "s", "declared": {"container_id": "c", "revision": 1}, "markers": [{"container_id": "c"}]}
        document = {"format": "gordon-state", "version": 1, "services": [first, {"app": "b", "service": "s"} | other]}
        with closing(SqliteStore.open(path, create=True)) as store:
            with pytest.raises(DocumentError, match=r"^\$\.services: a container is of one .* are: c by a/s and b/s$"):
                store.import_state(json.dumps(document))
            store.import_state(json.dumps(document | {"services": [first]}))
            assert ["a"] == [each.app for each in store.read()]
