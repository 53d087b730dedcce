"""A headless Chromium, as a program of its own, and its screenshots as pixels."""

import shutil
import struct
import subprocess
import tempfile
import zlib
from collections.abc import Sequence
from html import escape
from pathlib import Path

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
    "--disable-background-networking", "--disable-extensions", "--force-device-scale-factor=1", "--virtual-time-budget=3000",
)  # fmt: skip
DARK, LIGHT = "--blink-settings=preferredColorScheme=0", "--blink-settings=preferredColorScheme=1"


def chromium() -> str:
    """Return the program, or skip the test."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("there is no Chromium (apt-get install chromium)")
    return found


def run(html: str, *flags: str) -> str:
    """Let it load a page, and return what it writes to standard output."""
    program = chromium()
    with tempfile.TemporaryDirectory(prefix="g-browser-", ignore_cleanup_errors=True) as directory:
        page = Path(directory) / "page.html"
        page.write_text(html, encoding="utf-8")
        ran = subprocess.run(
            [program, *_FLAGS, f"--user-data-dir={directory}/profile", *flags, page.as_uri()],
            capture_output=True, check=False, text=True, timeout=120,
        )  # fmt: skip
        assert 0 == ran.returncode, ran.stderr[-2000:]
        return ran.stdout


def framed(html: str, widths: Sequence[int], script: str) -> str:
    """Return a page that shows another one in frames of these widths, with a script of its own that may look into them."""
    frames = "".join(f'<iframe width="{width}" height="800" srcdoc="{escape(html)}"></iframe>' for width in widths)
    return f'<!DOCTYPE html><meta charset="utf-8"><style>iframe {{ border: 0 }}</style>{frames}<script>{script}</script>'


def pixels(png: bytes) -> tuple[int, int, bytes]:
    """Return width, height and the pixels of a PNG, three bytes each (8 bits a channel, not interlaced)."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert (8, True) == (depth, kind in {2, 6})
    packed, at = b"", 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        packed += png[at + 8 : at + 8 + length] if png[at + 4 : at + 8] == b"IDAT" else b""
        at += 12 + length
    size = 3 if kind == 2 else 4
    flat = _unfiltered(zlib.decompress(packed), width * size, size)
    return width, height, flat if size == 3 else bytes(each for index, each in enumerate(flat) if index % 4 != 3)


def _unfiltered(data: bytes, length: int, size: int) -> bytes:
    before, found = bytearray(length), bytearray()
    for at in range(0, len(data), length + 1):
        line = bytearray(data[at + 1 : at + 1 + length])
        match data[at]:
            case 0:
                pass
            case 1:
                for index in range(size, length):
                    line[index] = (line[index] + line[index - size]) & 255
            case 2:
                line = bytearray((one + other) & 255 for one, other in zip(line, before, strict=True))
            case 3:
                for index in range(length):
                    left = line[index - size] if index >= size else 0
                    line[index] = (line[index] + (left + before[index]) // 2) & 255
            case _:
                for index in range(length):
                    left, corner = (line[index - size], before[index - size]) if index >= size else (0, 0)
                    line[index] = (line[index] + _paeth(left, before[index], corner)) & 255
        found += line
        before = line
    return bytes(found)


def _paeth(left: int, above: int, corner: int) -> int:
    guess = left + above - corner
    return min((left, above, corner), key=lambda each: abs(guess - each))
