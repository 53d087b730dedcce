"""A TLS endpoint before a Unix socket, as a Docker engine with `--tlsverify` has one: real handshakes, real certificates."""

import contextlib
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import frozen

_MISSING = "there is no openssl on the path (Debian: apt-get install openssl)"
NEEDS_OPENSSL = pytest.mark.skipif(shutil.which("openssl") is None, reason=_MISSING)
_CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
_ENGINE = "subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth\n"
_ELSEWHERE = "subjectAltName=DNS:engine.example\nextendedKeyUsage=serverAuth\n"
_CLIENT = "extendedKeyUsage=clientAuth\n"
_AUTHORITY = ("-addext", "keyUsage=critical,keyCertSign,cRLSign")


@frozen
class Certificates:
    """Files in one directory: `ca`, and what it signed for an `engine` here, one `elsewhere` and a `client`; as well those of a
    `stranger` authority with a client of its own, `stray`."""

    directory: Path

    def certificate(self, name: str) -> Path:
        return self.directory / f"{name}.pem"

    def key(self, name: str) -> Path:
        return self.directory / f"{name}.key"

    def folder(self, place: Path, *, authority: str = "ca", client: str = "client") -> Path:
        """Put them into a folder as the Docker CLI wants them ("" for what is not to be there), for DOCKER_CERT_PATH."""
        place.mkdir()
        if authority:
            shutil.copy(self.certificate(authority), place / "ca.pem")
        if client:
            shutil.copy(self.certificate(client), place / "cert.pem")
            shutil.copy(self.key(client), place / "key.pem")
        return place


def made_certificates(directory: Path) -> Certificates:
    """Make all of them, valid for a day."""
    made = Certificates(directory)
    for authority in ("ca", "stranger"):
        files = ("-keyout", made.key(authority), "-out", made.certificate(authority))
        _openssl("req", "-x509", *_CURVE, "-days", "1", "-subj", f"/CN=gordon test {authority}", *_AUTHORITY, *files)
    for name, authority, extensions in (
        ("engine", "ca", _ENGINE), ("elsewhere", "ca", _ELSEWHERE), ("client", "ca", _CLIENT), ("stray", "stranger", _CLIENT),
    ):  # fmt: skip
        asked, more = directory / f"{name}.csr", directory / f"{name}.ext"
        more.write_text(extensions)
        _openssl("req", "-new", *_CURVE, "-subj", f"/CN=gordon test {name}", "-keyout", made.key(name), "-out", asked)
        signer = ("-CA", made.certificate(authority), "-CAkey", made.key(authority), "-CAcreateserial")
        _openssl("x509", "-req", "-in", asked, *signer, "-days", "1", "-extfile", more, "-out", made.certificate(name))
    return made


def _openssl(*words: object) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, timeout=60)


@contextlib.contextmanager
def tls_endpoint(certificates: Certificates, unix_socket: str, *, name: str = "engine") -> Iterator[int]:
    """Accept TLS at a port of 127.0.0.1 from clients with a certificate of `ca`, and pass on to the socket; give the port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.certificate(name), certificates.key(name))
    context.load_verify_locations(certificates.certificate("ca"))
    context.verify_mode = ssl.CERT_REQUIRED
    with socket.create_server(("127.0.0.1", 0)) as listening, contextlib.ExitStack() as threads:
        over = threading.Event()
        listening.settimeout(0.05)

        def accept() -> None:
            while not over.is_set():
                with contextlib.suppress(TimeoutError):
                    client, _ = listening.accept()
                    one = threading.Thread(target=_serve, args=(context, client, unix_socket, over))
                    one.start()
                    threads.callback(one.join, 20)

        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield listening.getsockname()[1]
        finally:
            over.set()
            accepting.join(20)


def _serve(context: ssl.SSLContext, client: socket.socket, unix_socket: str, over: threading.Event) -> None:
    """Shake hands, and carry bytes both ways until either side is done."""
    client.settimeout(20)
    shaken = context.wrap_socket(client, server_side=True, do_handshake_on_connect=False)
    try:
        shaken.do_handshake()
    except OSError:
        _dismiss(socket.socket(fileno=shaken.detach()))
        return
    with shaken, socket.socket(socket.AF_UNIX) as engine:
        engine.connect(unix_socket)
        back = threading.Thread(target=_carry, args=(engine, shaken, over))
        back.start()
        _carry(shaken, engine, over)
        back.join(20)


def _dismiss(client: socket.socket) -> None:
    """Let the client read why: what it sent meanwhile is taken, since a close over that would take the alert back."""
    client.settimeout(5)
    with client, contextlib.suppress(OSError):
        client.shutdown(socket.SHUT_WR)
        while client.recv(65536):
            pass


def _carry(source: socket.socket, target: socket.socket, over: threading.Event) -> None:
    source.settimeout(0.05)
    with contextlib.suppress(OSError):
        while not over.is_set():
            with contextlib.suppress(TimeoutError):
                data = source.recv(65536)
                if not data:
                    break
                target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
