"""What `gordon-shell hold`, `release`, `tune` and `doctor` do, and what they say; each returns its exit code."""

from collections.abc import Callable

from attrs import frozen

from gordon_core.grants import Overrides
from gordon_core.sentences import wall_time
from gordon_core.snapshot import Hold
from gordon_core.tuning import CONSTANTS, NotUnderstoodError, Value, changed, in_words, read_constant
from gordon_shell import doctor, operations
from gordon_shell.cli_common import printable, write
from gordon_shell.deeds import login
from gordon_shell.errors import EX_FAILED, EX_OK, UsageError
from gordon_shell.holds import held_for, seconds_until
from gordon_shell.observer import Observer
from gordon_shell.ports import Stored
from gordon_shell.recollection import Recollection
from gordon_shell.session import Session


@frozen
class TuneVerbs:
    """The commands over one session."""

    session: Session

    def hold(self, target: str, until: str, reason: str, who: str | None) -> int:
        """Have a service, or an app, left as it is until a time."""
        app, _, service = target.partition("/")
        with self.session.ports() as ports:
            clock = ports.clock.now()
            wish = held_for(clock, seconds_until(until, clock), login() if who is None else who, reason)
            found = self.session.operator(ports).hold(app, service, wish)
        end = wall_time(clock, wish.until_s)
        for each in found:
            _say(f"{_name(each)}: held until {end} by {wish.who}: {wish.reason}; to end that: gordon-shell release {_name(each)}")
        return EX_OK

    def release(self, target: str) -> int:
        """End a hold."""
        app, _, service = target.partition("/")
        with self.session.ports() as ports:
            found = self.session.operator(ports).release(app, service)
        for each in found:
            _say(f"{_name(each)}: {_released(each.hold)}")
        return EX_OK

    def tune(self, target: str, words: tuple[str, ...], unset: tuple[str, ...]) -> int:
        """Set constants of a service by command, and print all that hold for it."""
        app, _, service = target.partition("/")
        if not app or not service:
            message = f"{target!r} names no service; write APP/SERVICE, such as shop/web"
            raise UsageError(message)
        change = _change(words, unset)
        if words or unset:
            with self.session.ports() as ports:
                self.session.operator(ports).tune(app, service, change)
        with self.session.ports(read_only=True) as ports:
            operations.service_of(ports, app, service)
            policies = self.session.world.policies(self.session.options)
            subject = Observer(ports, policies, Recollection(ports.store), remember=False).look_at(app, service)
        known = {each.name: each for each in subject.policy_constants}
        policy = subject.declared.policy if subject.declared is not None else None
        for each in CONSTANTS if policy is not None else ():
            set_by = known.get(each)
            _say(f"{target}: {set_by if set_by is not None else f'{each} = {in_words(getattr(policy, each))}, by default'}")
        _say(*(f"{target}: {each}" for each in subject.policy_faults))
        return EX_OK

    def doctor(self, form: str) -> int:
        """Check the host."""
        findings = doctor.examine(self.session)
        write(doctor.document(findings) if form == "json" else "".join(f"{printable(each)}\n" for each in doctor.lines(findings)))
        return EX_FAILED if any(each.is_bad for each in findings) else EX_OK


def _released(hold: Hold | None) -> str:
    if hold is None:
        return "was not held; nothing changed"
    return f"released (it was held by {hold.who}: {hold.reason}); the next pass looks after it; now: gordon-shell once"


def _change(words: tuple[str, ...], unset: tuple[str, ...]) -> Callable[[Overrides], Overrides]:
    values = dict(map(_constant, words))
    for each in unset:
        if each not in CONSTANTS:
            message = f"--unset {each} is not known; known are {', '.join(CONSTANTS)}"
            raise UsageError(message)
    both = values.keys() & set(unset)
    if both:
        message = f"{min(both)} is both set and unset; leave one of them out"
        raise UsageError(message)

    return lambda before: changed(before, {**dict.fromkeys(unset), **values})


def _constant(word: str) -> tuple[str, Value]:
    constant, equals, text = word.partition("=")
    if not equals:
        message = f"{word!r} sets nothing; write KEY=VALUE, such as free_failures=5"
        raise UsageError(message)
    try:
        return constant, read_constant(constant, text)
    except NotUnderstoodError as error:
        message = f"{word}: {constant} {error}; nothing was changed"
        raise UsageError(message) from None


def _name(stored: Stored) -> str:
    return f"{stored.app}/{stored.service}"


def _say(*lines: str) -> None:
    write("".join(f"{printable(each)}\n" for each in lines))


__all__ = ["TuneVerbs"]
