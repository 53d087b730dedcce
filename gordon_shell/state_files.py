"""The state as a document in a file: what `gordon-shell export` writes, and `import` takes in."""

import errno
import os
import sys
import tempfile
from contextlib import ExitStack, closing
from pathlib import Path

from gordon_shell.errors import DocumentError, UsageError
from gordon_shell.file_locks import FileLocks
from gordon_shell.operations import LOCK_WAIT_S
from gordon_shell.sqlite_store import SqliteStore
from gordon_shell.state_document import StateRecord, state_from_text


def exported(state: Path) -> str:
    """Return the state at this path as a document. Raise StoreError."""
    with closing(SqliteStore.open(state, create=False, read_only=True)) as store:
        return store.export_state()


def save(path: Path, text: str, what: str = "export") -> None:
    """Write a document beside, and put it in place whole, readable by its owner only. Raise UsageError where that cannot be."""
    try:
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "it is no regular file")  # noqa: TRY301 - told like any other reason
        descriptor, made = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            Path(made).replace(path)
        except BaseException:
            Path(made).unlink(missing_ok=True)
            raise
    except OSError as error:
        message = f"{path}: the {what} cannot be written ({error.strerror}); name another file after --output"
        raise UsageError(message) from error


def read(file: str) -> str:
    """Return what a file (-: standard input) says. Raise UsageError where it cannot be read; DocumentError: it is no text."""
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        message = f"{file}: cannot be read ({error.strerror}); name a file that this user may read, or - for standard input"
        raise UsageError(message) from error
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        message = f"{file}: $: not UTF-8 at byte {error.start}; export it again"
        raise DocumentError(message) from error


def take_in(state: Path, file: str, text: str) -> int:
    """Write a document into a state that is empty, or made for it, under the locks of its apps; return how many services it has.

    Raise DocumentError, one line for each fault, before anything is made; UsageError for a state that is not empty; StoreError;
    BusyError.
    """
    try:
        document = state_from_text(text)
        _write(state, document, text)
    except DocumentError as error:
        lines = f"{file}: {error}".replace("; $", f"\n{file}: $")
        raise DocumentError(lines) from error
    return len(document.services)


def _write(state: Path, document: StateRecord, text: str) -> None:
    with closing(SqliteStore.open(state, create=True)) as store, ExitStack() as held:
        locks = FileLocks.beside(state)
        for app in sorted({each.app for each in document.apps} | {each.app for each in document.services}):
            held.enter_context(locks.wait_app(app, LOCK_WAIT_S))
        store.import_state(text)
