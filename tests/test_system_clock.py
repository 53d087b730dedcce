"""Where the system clock finds the name of the boot."""

from pathlib import Path

import pytest

from gordon_shell.system_clock import BOOT_ID_FILE, SystemClock


def boot_id(file: Path) -> str:
    clock = SystemClock(file)
    try:
        return clock.now().boot_id
    finally:
        clock.close()


def test_the_kernel_names_the_boot() -> None:
    assert BOOT_ID_FILE.read_text().strip() == boot_id(BOOT_ID_FILE)


@pytest.mark.parametrize("content", [None, "", "\n", b"\xff"])
def test_where_the_kernel_hides_it_the_minute_of_the_boot_does(tmp_path: Path, content: str | bytes | None) -> None:
    file = tmp_path / "boot_id"
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert boot_id(file).startswith("booted-")
    assert boot_id(file) == boot_id(file)
