"""The commands of `gordon-shell`, as an operator types them: what they say, what they end with, and what they do."""

from pathlib import Path

import pytest
from attrs import evolve

from gordon_core.observation import Bind, Gone, Port
from gordon_core.snapshot import Intent
from gordon_shell.file_locks import FileLocks
from gordon_shell.memory.container import Behaviour
from gordon_shell.wishes import COMPOSE_PROJECT, COMPOSE_SERVICE
from tests.shell_worlds import HTTP, Shell

# --- adopt -------------------------------------------------------------------------------------------------------------


def test_adopt_makes_the_state_says_what_it_declared_and_what_is_next(shell: Shell) -> None:
    shell.container("web-1", HTTP, host_ip="0.0.0.0", restart_policy="always")  # noqa: S104 - simulated
    code, out, err = shell.run("adopt", "shop", "web=web-1", "--http", "web=/healthz")
    assert (0, "") == (code, err)
    declared, exposed, restarts, following = out.splitlines()
    assert declared == (
        "shop/web: adopted container web-1 (010101010101), revision 1, publishes 80/tcp, "
        "ready when GET /healthz at 80/tcp answers, 10 s to stop in"
    )
    assert exposed == (
        "    note: 80/tcp is bound to 0.0.0.0, reachable from beyond this host; bind it to 127.0.0.1 to keep others out"
    )
    assert restarts.startswith("    note: Docker restarts it too (restart policy always); ")
    assert following == "Adopted; the next pass verifies and publishes; now: gordon-shell once"
    assert (0o600, {}) == (shell.path.stat().st_mode & 0o777, shell.router.read().by_service)


def test_adopting_the_same_again_says_that_nothing_changed(shell: Shell) -> None:
    shell.container("web-1", HTTP)
    shell.run("adopt", "shop", "web=web-1")
    assert shell.run("adopt", "shop", "web=0101").out == (
        "shop/web: unchanged, container web-1 (010101010101), revision 1, publishes 80/tcp, 10 s to stop in\n"
    )


def test_adopting_into_a_stopped_app_or_an_inhibited_container_says_so(shell: Shell) -> None:
    shell.container("web-1", HTTP)
    shell.run("adopt", "shop", "web=web-1")
    shell.run("stop", "shop")
    shell.run("inhibit", "shop/web", "--reason", "corrupts its data")
    _, inhibited, stopped = shell.run("adopt", "shop", "web=web-1").out.splitlines()
    assert "shop/web is inhibited (corrupts its data): gordon-shell allow shop/web" == inhibited
    assert "shop is to be stopped; to have it run: gordon-shell start shop" == stopped


def test_a_compose_project_is_adopted_whole(shell: Shell) -> None:
    for service in ("web", "db", "migrate"):
        labels = ((COMPOSE_PROJECT, "site"), (COMPOSE_SERVICE, service))
        shell.container(f"site-{service}-1", *([HTTP] if service == "web" else []), labels=labels)
    words = ("adopt", "--compose", "site", "--app", "shop", "--except", "migrate", "--grace", "db=60")
    code, out, _ = shell.run(*words)
    assert code == 0
    assert [line.split(",")[0] for line in str(out).splitlines() if line.startswith("shop/")] == [
        "shop/db: adopted container site-db-1 (020202020202)",
        "shop/web: adopted container site-web-1 (010101010101)",
    ]
    assert "unpublished, 1 min to stop in" in str(out)
    assert shell.stored("shop", "migrate") is None


def test_a_successor_is_verified_before_the_former_container_is_retired(shell: Shell) -> None:
    old, new = shell.container("web-1", HTTP), shell.container("web-2", HTTP)
    shell.run("adopt", "shop", "web=web-1")
    shell.run("once")
    shell.engine.behave(new, Behaviour(listens=False))
    shell.run("adopt", "shop", "web=web-2")
    assert shell.run("once").code == 1
    assert {("shop", "web"): (Bind(HTTP, 32768),)} == dict(shell.router.read().by_service)
    shell.engine.behave(new, Behaviour())
    assert shell.run("once").code == 0
    assert {("shop", "web"): (Bind(HTTP, 32769),)} == dict(shell.router.read().by_service)
    assert Gone() == shell.engine.inspect(old)


def test_a_former_container_that_is_kept_is_never_touched(shell: Shell) -> None:
    old = shell.container("web-1", HTTP)
    shell.container("web-2", HTTP)
    shell.run("adopt", "shop", "web=web-1")
    shell.run("once")
    before = shell.engine.inspect(old)
    shell.run("adopt", "shop", "web=web-2", "--keep-old")
    assert shell.run("once").code == 0
    assert before == shell.engine.inspect(old)


# --- once --------------------------------------------------------------------------------------------------------------


def test_once_is_one_line_where_all_is_well(shell: Shell) -> None:
    shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    first, second = shell.run("once"), shell.run("once")
    assert (0, "") == (first.code, first.err)
    assert first.out.startswith("1 service: 1 as desired; 4 steps taken in ")
    assert (0, "1 service: 1 as desired; nothing needed to be done.\n", "") == tuple(second)


def test_once_ends_with_1_and_a_line_for_each_service_that_failed(shell: Shell) -> None:
    shell.container("web-1", HTTP)
    shell.container("db-1", behaviour=Behaviour(exits_after_s=0.0))
    shell.adopted(web="web-1", db="db-1")
    code, out, err = shell.run("once")
    assert (1, "") == (code, err)
    failed, last = str(out).splitlines()
    assert failed.startswith("shop/db: down; ")
    assert failed.endswith("; to help: docker logs 020202020202")
    assert last.startswith("2 services: 1 held, 1 as desired; ")


def test_once_tells_steps_only_where_somebody_watches(shell: Shell) -> None:
    shell.container("web-1", HTTP, running=False)
    shell.adopted(web="web-1")
    told = shell.run("once", is_watched=True).err.splitlines()
    assert ["shop/web: put the attempt on record: done", "shop/web: start it: done"] == told[:2]
    assert "shop/web: publish 80/tcp at 32768: done" == told[-1]


def test_once_leaves_an_app_alone_that_somebody_else_has_locked(shell: Shell) -> None:
    shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    with FileLocks.beside(shell.path).wait_app("shop", 0):
        said = shell.run("once")
    assert (0, "1 service: 1 skipped; nothing needed to be done.\n", "") == tuple(said)


# --- intent, inhibition, history, retirement ---------------------------------------------------------------------------


def test_stop_and_start_leave_it_to_the_next_pass_or_run_one_now(shell: Shell) -> None:
    web = shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    shell.run("once")
    assert shell.run("stop", "shop").out == (
        "shop is to be stopped: web; the next pass stops what runs, and keeps the containers; now: gordon-shell once\n"
    )
    assert {("shop", "web")} == set(shell.router.read().by_service)
    first, second = shell.run("stop", "shop", "--now").out.splitlines()
    assert "shop is to be stopped already: web" == first
    assert second.startswith("1 service: 1 as desired; ")
    assert {} == dict(shell.router.read().by_service)
    said = shell.run("start", "shop", "--now")
    assert (0, "shop is to run: web") == (said.code, said.out.splitlines()[0])
    assert {("shop", "web")} == set(shell.router.read().by_service)
    assert Gone() != shell.engine.inspect(web)


def test_now_tells_of_the_other_apps_nothing(shell: Shell) -> None:
    shell.container("web-1", HTTP)
    shell.container("db-1", behaviour=Behaviour(exits_after_s=0.0))
    shell.adopted(web="web-1")
    shell.adopted("blog", db="db-1")
    code, out, _ = shell.run("start", "shop", "--now")
    assert (0, 2) == (code, len(str(out).splitlines()))


def test_an_inhibited_container_is_withdrawn_and_never_started_until_it_is_allowed(shell: Shell) -> None:
    web = shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    shell.run("once")
    assert "container 010101010101 is inhibited" in shell.run("inhibit", "shop/web", "--reason", "corrupts its data").out
    shell.engine.kill(web)
    code, out, _ = shell.run("once")
    assert code == 1
    assert "shop/web: inhibited (corrupts its data); never started; to help: gordon-shell allow shop/web" in str(out)
    assert shell.run("allow", "shop/web").out.startswith(
        "shop/web: no longer inhibited (it was: corrupts its data); the next pass"
    )
    assert shell.run("allow", "shop/web").out == "shop/web: was not inhibited; nothing changed\n"
    assert shell.run("once").code == 0


def test_retry_ends_a_wait_and_says_what_it_forgot(shell: Shell) -> None:
    web = shell.container("web-1", HTTP, behaviour=Behaviour(exits_after_s=0.0))
    shell.adopted(web="web-1")
    for _ in range(5):
        shell.run("once")
    shell.engine.behave(web, Behaviour())
    assert "waiting out its budget" in shell.run("once").out
    assert shell.run("retry", "shop").out == (
        "shop/web: forgot 3 failures; the next pass tries as if nothing had failed; now: gordon-shell once\n"
    )
    assert shell.run("once").code == 0
    shell.run("retry", "shop/web")
    nothing = "shop/web: nothing to forget, no failure is on record; what is done is started again by the next pass\n"
    assert shell.run("retry", "shop/web").out == nothing


def test_a_retired_container_is_removed_once_the_one_in_care_serves(shell: Shell) -> None:
    old = shell.container("web-0")
    shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    assert shell.run("retire", "shop/web", "web-0", "--grace", "60").out == (
        "shop/web: container 010101010101 is superseded: once shop/web was seen to serve, it is stopped within 1 min and "
        "removed; its volumes stay\n"
    )
    shell.run("once")
    assert Gone() == shell.engine.inspect(old)


# --- forget, haproxy-config, export, import ----------------------------------------------------------------------------


def test_forget_withdraws_and_leaves_the_container_alone(shell: Shell) -> None:
    web = shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    shell.run("once")
    before = shell.engine.inspect(web)
    assert (0, "shop/web: withdrawn and forgotten; left alone: 010101010101\n", "") == tuple(shell.run("forget", "shop"))
    assert ({}, before, None) == (dict(shell.router.read().by_service), shell.engine.inspect(web), shell.stored())
    assert shell.run("once").out == "no services; nothing needed to be done.\n"


def test_without_a_proof_forget_is_69_and_forgets_nothing(shell: Shell) -> None:
    shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    shell.run("once")
    before = shell.stored()
    shell.router.fail_reads = "the proxy does not answer; start it"
    code, out, err = shell.run("forget", "shop/web")
    assert (69, "") == (code, out)
    assert "the withdrawal of shop/web is not proven, so nothing was forgotten: the proxy does not answer" in str(err)
    assert before == shell.stored()


def test_haproxy_config_has_a_backend_for_each_published_tcp_port(shell: Shell) -> None:
    shell.container("web-1", HTTP, Port(443))
    shell.container("db-1", Port(5432))
    shell.run("adopt", "shop", "web=web-1", "db=db-1", "--unpublished", "db")
    out = shell.run("haproxy-config", "--haproxy", "/run/my.sock").out
    backends = [line for line in out.splitlines() if line.startswith("backend")]
    assert ["backend gordon:shop:web:80", "backend gordon:shop:web:443"] == backends
    assert "stats socket /run/my.sock mode 600" in out


def test_export_and_import_round_trip_the_state(shell: Shell, tmp_path: Path) -> None:
    shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    shell.run("once")
    shell.run("stop", "shop")
    text, file = shell.run("export").out, tmp_path / "export.json"
    assert (0, "", "") == tuple(shell.run("export", "-o", str(file)))
    assert (text, 0o600) == (file.read_text(), file.stat().st_mode & 0o777)
    other = evolve(shell, path=tmp_path / "other" / "state.db")
    assert (0, "") == (other.run("import", str(file)).code, "")
    assert (shell.stored(), Intent.STOPPED) == (other.stored(), other.stored().intent)  # type: ignore[union-attr]
    assert text == other.run("export").out


def test_a_state_that_is_not_empty_is_not_imported_into(shell: Shell, tmp_path: Path) -> None:
    shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    file = tmp_path / "export.json"
    shell.run("export", "-o", str(file))
    code, _, err = shell.run("import", str(file))
    assert (64, f"gordon-shell: the state at {shell.path} is not empty; import into a new one, named with --state\n") == (
        code,
        err,
    )


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        (b"{", ["$: not JSON"]),
        (b"\xff", ["$: not UTF-8 at byte 0; export it again"]),
        (b'{"format": "gordon-state", "version": 1, "extra": 1, "apps": 5}', ["$.extra: unknown key", "$.apps: "]),
    ],
)
def test_a_damaged_document_is_65_names_its_faults_and_makes_no_state(
    shell: Shell, tmp_path: Path, text: bytes, faults: list[str]
) -> None:
    file = tmp_path / "bad.json"
    file.write_bytes(text)
    code, out, err = shell.run("import", str(file))
    assert (65, "") == (code, out)
    lines = str(err).splitlines()
    assert len(faults) == len(lines)
    assert all(line.startswith(f"{file}: {fault}") for line, fault in zip(lines, faults, strict=True))
    assert not shell.path.exists()
