"""How services are named in HAProxy, and the fragment of its configuration."""

import pytest

from gordon_core.observation import Port, Protocol
from gordon_shell.errors import UsageError
from gordon_shell.haproxy_config import backend_name, haproxy_config, service_of

HTTP, TLS = Port(80), Port(443)


@pytest.mark.parametrize(
    ("app", "service", "name"),
    [
        ("shop", "web", "gordon:shop:web:80"),
        ("my_app-2", "web.v1", "gordon:my_app-2:web.2ev1:80"),
        ("a:b", "c", "gordon:a.3ab:c:80"),
        ("a", "b:c", "gordon:a:b.3ac:80"),
        ("x/gen1 state ready\nquit", ";", "gordon:x.2fgen1.20state.20ready.0aquit:.3b:80"),
        ("é", "\ud800", "gordon:.c3.a9:.ed.a0.80:80"),
    ],
)
def test_a_name_is_safe_and_leads_back_to_its_service(app: str, service: str, name: str) -> None:
    assert name == backend_name(app, service, 80)
    assert (app, service, HTTP) == service_of(name)


@pytest.mark.parametrize(
    "name",
    [
        "web", "gordon", "gordon:a:b", "gordon:a:b:80:1", "gordon::b:80", "gordon:a::80", "gordon:a:b:0", "gordon:a:b:080",
        "gordon:a:b:65536", "gordon:a:b:x", "gordon:.61:b:80", "gordon:.6:b:80", "gordon:.C3.A9:b:80", "gordon:.ff:b:80",
        "gordon:a b:c:80", "Gordon:a:b:80", "gordon:a:b:80\n",
    ],
)  # fmt: skip
def test_a_name_that_is_never_given_is_nobody_s(name: str) -> None:
    assert service_of(name) is None


def test_the_fragment_has_one_backend_for_each_tcp_port_in_a_stable_order() -> None:
    ports = (TLS, Port(53, Protocol.UDP), HTTP)
    text = haproxy_config((("shop", "web", ports), ("blog", "web", (HTTP,)), ("shop", "idle", ())), "/run/gordon.sock")
    backends = [line for line in text.splitlines() if line.startswith("backend ")]
    assert ["backend gordon:blog:web:80", "backend gordon:shop:web:80", "backend gordon:shop:web:443"] == backends
    assert text.endswith(
        "\nbackend gordon:shop:web:443\n    retries 0\n    load-server-state-from-file none\n"
        "    server-template gen 2 127.0.0.1:1 disabled pool-max-conn 0\n"
    )
    assert text == haproxy_config((("blog", "web", (HTTP, HTTP)), ("shop", "web", ports[::-1])), "/run/gordon.sock")
    assert "stats socket /run/gordon.sock mode 600 level admin" in text
    assert "use_backend gordon:blog:web:80 if" in text


def test_a_socket_path_with_spaces_is_quoted_and_one_that_cannot_be_written_is_refused() -> None:
    assert "stats socket '/run/my proxy.sock' mode 600" in haproxy_config((), "/run/my proxy.sock")
    for path in ("", "/run/a\nbackend b", "/run/it's"):
        with pytest.raises(UsageError, match="choose one of plain characters"):
            haproxy_config((), path)
