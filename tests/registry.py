"""A real image registry at 127.0.0.1, small: it serves one image, a busybox, by one name, and nothing else."""

import gzip
import hashlib
import http.server
import io
import json
import shutil
import tarfile
import threading
from pathlib import Path

_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
_CONFIG = "application/vnd.docker.container.image.v1+json"
_LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"


class Registry:
    """Serves `NAME:1` over HTTP, which an engine accepts at 127.0.0.1, until it is closed. Any other name is unknown to it."""

    def __init__(self, name: str) -> None:
        """Serve at a port of its own; `requests` are those that it got."""
        self.requests: list[str] = []
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(_content(name), self.requests))
        self._serving = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._serving.start()
        self.address = f"127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Serve no more."""
        self._server.shutdown()
        self._serving.join()
        self._server.server_close()


def _content(name: str) -> dict[str, tuple[str, bytes]]:
    """Return every path with its type and bytes."""
    tree = _tree()
    layer = gzip.compress(tree, mtime=0)
    config = json.dumps({
        "architecture": "amd64",
        "os": "linux",
        "config": {"Cmd": ["sh"], "Labels": {"served": "yes"}},
        "rootfs": {"type": "layers", "diff_ids": [_digest(tree)]},
        "history": [{"created": "2026-01-01T00:00:00Z"}],
    }).encode()  # fmt: skip
    manifest = json.dumps({
        "schemaVersion": 2,
        "mediaType": _MANIFEST,
        "config": {"mediaType": _CONFIG, "size": len(config), "digest": _digest(config)},
        "layers": [{"mediaType": _LAYER, "size": len(layer), "digest": _digest(layer)}],
    }).encode()  # fmt: skip
    at = f"/v2/{name}"
    return {
        "/v2/": ("application/json", b"{}"),
        f"{at}/manifests/1": (_MANIFEST, manifest),
        f"{at}/manifests/{_digest(manifest)}": (_MANIFEST, manifest),
        f"{at}/blobs/{_digest(config)}": (_CONFIG, config),
        f"{at}/blobs/{_digest(layer)}": (_LAYER, layer),
    }


def _tree() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        busybox = tarfile.TarInfo("bin/busybox")
        program = Path(shutil.which("busybox") or "busybox").read_bytes()
        busybox.size, busybox.mode = len(program), 0o755
        tar.addfile(busybox, io.BytesIO(program))
        shell = tarfile.TarInfo("bin/sh")
        shell.type, shell.linkname = tarfile.SYMTYPE, "busybox"
        tar.addfile(shell)
    return made.getvalue()


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _handler(content: dict[str, tuple[str, bytes]], requests: list[str]) -> type[http.server.BaseHTTPRequestHandler]:
    unknown = json.dumps({"errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]}).encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def answer(self) -> None:
            requests.append(f"{self.command} {self.path}")
            kind, body = content.get(self.path, ("application/json", unknown))
            self.send_response(200 if self.path in content else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Docker-Distribution-Api-Version", "registry/2.0")
            if self.path in content:
                self.send_header("Docker-Content-Digest", _digest(body))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_GET = do_HEAD = answer  # noqa: N815 - the server's own names

    return Handler
