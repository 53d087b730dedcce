"""What `gordon-shell status` says: a line for each service that is enough to act on, and reads only."""

import json

from gordon_core.blueprint import Blueprint
from gordon_core.effects import DONE
from gordon_core.observation import Port
from gordon_shell.memory.container import Behaviour
from gordon_shell.memory.images import SimulatedImage
from tests.shell_worlds import HTTP, Shell


def test_a_settled_service_is_told_in_one_line(shell: Shell) -> None:
    web = shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    shell.run("once")
    shell.clock.advance(60)
    code, out, err = shell.run("status")
    assert (0, "") == (code, err)
    assert out == (
        f"= shop/web (web-1, {web[:12]}): running for 1 min; routed to 80/tcp at 32768: as desired\n1 service: 1 as desired.\n"
    )


def test_what_the_next_pass_will_do_is_told_with_the_command_that_does_it_now(shell: Shell) -> None:
    shell.container("web-1", HTTP, running=False)
    shell.adopted(web="web-1")
    (line, _) = shell.run("status").out.splitlines()
    assert line.startswith("> shop/web (web-1, 010101010101): created, never started; not routed: down, and free to start; ")
    assert line.endswith("next: put the attempt on record; to do it now: gordon-shell once")


def test_whatever_is_held_has_the_one_command_that_would_help(shell: Shell) -> None:
    web = shell.container("web-1", HTTP)
    shell.container("job-1", running=False, behaviour=Behaviour(exits_after_s=0.0))
    shell.adopted(web="web-1", job="job-1")
    for _ in range(5):
        shell.run("once")
    shell.engine.pause(web)
    shell.run("once")
    job, paused, last = shell.run("status", "shop").out.splitlines()
    assert "down, waiting out its budget until 00:01:0" in job
    assert job.endswith("after 3 failures; to help: gordon-shell retry shop/job")
    assert paused.endswith(f"to help: docker unpause {web[:12]}")
    assert last == "2 services: 1 held, 1 waiting."


def test_superseded_containers_have_a_line_of_their_own(shell: Shell) -> None:
    old = shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    shell.run("once")
    shell.container("web-2", HTTP)
    shell.adopted(web="web-2")
    lines = shell.run("status").out.splitlines()
    assert lines[0].startswith(
        "> shop/web (web-2, 020202020202): running since just now; routed to 80/tcp at 32768 of the superseded"
    )
    assert lines[1] == (
        f"~ shop/web, superseded (web-1, {old[:12]}): running since just now: "
        "superseded; kept until its successor was seen to serve"
    )


def test_sessions_over_a_former_route_and_binds_beyond_loopback_are_told(shell: Shell) -> None:
    shell.container("web-1", HTTP, host_ip="0.0.0.0")  # noqa: S104 - simulated
    shell.adopted(web="web-1")
    shell.router.running["shop", "web"] = 2
    line = shell.run("status").out.splitlines()[0]
    assert "; 80/tcp is bound at 0.0.0.0:32768, which is reachable from beyond this host; 2 sessions still over its" in line


def test_json_says_the_same(shell: Shell) -> None:
    web = shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    shell.engine.delete(web)
    code, out, _ = shell.run("status", "--format", "json")
    document = json.loads(str(out))
    assert (0, "gordon-status", 1, "2026-01-01T00:00:00Z") == (code, document["document"], document["version"], document["at"])
    assert document["services"] == [
        {
            "app": "shop",
            "service": "web",
            "role": "service",
            "intent": "running",
            "container_id": web,
            "container_name": "",
            "seen": "gone",
            "route": "not routed",
            "situation": "GONE",
            "sentence": "gone; never rebuilt by recovery",
            "held": True,
            "next": "",
            "help": "gordon-shell adopt shop web=CONTAINER",
            "notes": [],
            "policy": [],
        }
    ]


LABELS = {"gordon.app": "shop", "gordon.service": "web", "gordon.deploy": "t1", "gordon.revision": "2"}


def leave(shell: Shell, name: str, labels: dict[str, str]) -> str:
    """Leave a container as a deploy does that is killed when it has made it; return its ID."""
    shell.engine.images.add("shop:2", SimulatedImage("sha256:2"))
    assert DONE == shell.engine.create(name, Blueprint("shop:2"), labels)
    return next(each.container_id for each in shell.engine.rows() if each.name == name)


def test_what_a_deploy_made_and_did_not_come_to_write_down_is_told(shell: Shell) -> None:
    shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    left = leave(shell, "gordon-shop-web-new", LABELS)
    leave(shell, "by-hand", LABELS)
    leave(shell, "gordon-shop-web-next", {"gordon.app": "shop", "gordon.service": "web"})
    told = (
        f"~ shop/web, left over from an interrupted deploy (gordon-shop-web-new, {left[:12]}): never started; "
        "the next deploy of shop/web removes it"
    )
    assert [told, "1 service: 1 would be verified."] == shell.run("status").out.splitlines()[1:]
    assert told in shell.run("status", "shop").out.splitlines()
    expected = [{"app": "shop", "service": "web", "container_id": left, "name": "gordon-shop-web-new"}]
    assert expected == json.loads(str(shell.run("status", "--format", "json").out))["leftovers"]


def test_it_is_told_of_its_app_alone_and_also_where_nothing_is_adopted(shell: Shell) -> None:
    shell.container("blog-1", HTTP)
    shell.adopted("blog", web="blog-1")
    leave(shell, "gordon-shop-web-new", LABELS)
    assert not any("left over" in each for each in shell.run("status", "blog").out.splitlines())
    shell.run("forget", "blog")
    assert [True, False] == ["left over" in each for each in shell.run("status").out.splitlines()]


def test_what_is_named_is_no_leftover(shell: Shell) -> None:
    left = leave(shell, "gordon-shop-web-new", LABELS)
    shell.adopted(web=left)
    assert not any("left over" in each for each in shell.run("status").out.splitlines())
    shell.container("web-2", HTTP)
    shell.adopted(web="web-2")
    assert not any("left over" in each for each in shell.run("status").out.splitlines())


def test_one_app_alone_and_an_unknown_one(shell: Shell) -> None:
    shell.container("web-1", Port(80))
    shell.container("blog-1", Port(80))
    shell.adopted(web="web-1")
    shell.adopted("blog", web="blog-1")
    lines = shell.run("status", "shop").out.splitlines()
    assert ["> shop/web (", "1 service: 1"] == [each[:12] for each in lines]
    assert (64, "", "gordon-shell: there is no app 'shep'; adopted: blog, shop\n") == tuple(shell.run("status", "shep"))


def test_the_detailed_exit_code_tells_held_before_to_do(shell: Shell) -> None:
    web = shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    assert shell.run("status", "--detailed-exitcode").code == 2
    shell.run("once")
    assert shell.run("status", "--detailed-exitcode").code == 0
    shell.engine.pause(web)
    shell.run("once")
    assert shell.run("status", "--detailed-exitcode").code == 3
    assert shell.run("status").code == 0


def test_it_only_reads(shell: Shell) -> None:
    web = shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    shell.run("once")
    shell.engine.kill(web)
    before = (shell.stored(), shell.router.read(), shell.engine.inspect(web))
    shell.run("status")
    assert before == (shell.stored(), shell.router.read(), shell.engine.inspect(web))


def test_nothing_adopted_is_told_with_how_to_begin(shell: Shell) -> None:
    shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    shell.run("forget", "shop")
    said = shell.run("status")
    assert (0, "Nothing is adopted; to begin: gordon-shell adopt APP SERVICE=CONTAINER\n", "") == tuple(said)


def test_an_engine_out_of_reach_is_a_service_that_is_held(shell: Shell) -> None:
    shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    shell.engine.unreachable("connection refused")
    line = shell.run("status").out.splitlines()[0]
    assert line.startswith(
        "! shop/web (010101010101): not read; not routed: it could not be read (the memory engine gave no answer"
    )
