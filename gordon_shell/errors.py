"""The families of errors that a caller can see, by whose fault they are; each knows its exit code (sysexits).

An error's text is one sentence that says what is wrong and what would put it right. It is never a traceback.
"""

EX_OK = 0
EX_FAILED = 1
EX_WOULD_ACT = 2
EX_BLOCKED = 3
EX_USAGE = 64
EX_DATAERR = 65
EX_UNAVAILABLE = 69
EX_SOFTWARE = 70
EX_TEMPFAIL = 75


class GordonError(Exception):
    """Any error of this program that is not a bug in it."""

    exit_code = EX_SOFTWARE


class UsageError(GordonError):
    """The command was called wrongly, or names something that does not exist."""

    exit_code = EX_USAGE


class DocumentError(GordonError):
    """A document or a policy file says something impossible."""

    exit_code = EX_DATAERR


class EngineError(GordonError):
    """The engine could not be reached or did not answer; nothing is known."""

    exit_code = EX_UNAVAILABLE


class StoreError(GordonError):
    """The state store cannot be read or written."""

    exit_code = EX_UNAVAILABLE


class JournalError(GordonError):
    """The journal cannot be read or written; no recovery depends on it."""

    exit_code = EX_UNAVAILABLE


class UnprunedError(JournalError):
    """What was to be written is in the journal; what is too old, or too much, could not be let go of."""


class RouterError(GordonError):
    """The router cannot be read."""

    exit_code = EX_UNAVAILABLE


class BusyError(GordonError):
    """Somebody else holds what this command needs; trying again later is right."""

    exit_code = EX_TEMPFAIL


class NoWayBackError(GordonError):
    """What a service was before cannot be had any more: it is not on record, or its image is gone."""

    exit_code = EX_FAILED
