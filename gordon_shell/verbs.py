"""What the commands of `gordon-shell` do, and what they say: each method is one command, and returns its exit code."""

from contextlib import closing
from pathlib import Path

from attrs import frozen

from gordon_core import facts
from gordon_core.planner import Decision, Plan, plan
from gordon_core.sentences import duration, plural
from gordon_core.snapshot import Intent, Snapshot
from gordon_shell import operations, state_files, status, telling, wishes
from gordon_shell.cli_common import printable, write
from gordon_shell.deeds import Operator
from gordon_shell.errors import EX_BLOCKED, EX_FAILED, EX_OK, EX_WOULD_ACT, EngineError, UsageError
from gordon_shell.haproxy_config import haproxy_config
from gordon_shell.leftovers import Unstarted, unstarted
from gordon_shell.observer import Observer
from gordon_shell.ports import Ports, Service
from gordon_shell.recollection import Recollection
from gordon_shell.session import Session
from gordon_shell.sqlite_store import SqliteStore

_DEFAULT_SOCKET = "/run/haproxy/admin.sock"
_NEXT = "the next pass {does}; now: gordon-shell once"


@frozen
class Verbs:
    """The commands over one session."""

    session: Session

    def adopt(self, app: str, words: tuple[str, ...], said: wishes.Said, *, keep_old: bool) -> int:
        """Adopt the containers that SERVICE=CONTAINER words name."""
        wishes.check_name("an app", app)
        wanted = wishes.detailed(wishes.of_words(words), said)
        with self.session.ports(create=True) as ports:
            return _adopt(self.session.operator(ports), app, wanted, keep_old=keep_old)

    def adopt_compose(self, project: str, app: str, said: wishes.Said, left_out: tuple[str, ...], *, keep_old: bool) -> int:
        """Adopt every service of a project of Docker Compose."""
        wishes.check_name("an app", app)
        with self.session.ports(create=True) as ports:
            wanted = wishes.detailed(wishes.of_compose(ports.engine.rows(), project, left_out), said)
            return _adopt(self.session.operator(ports), app, wanted, keep_old=keep_old)

    def once(self) -> int:
        """Run one pass."""
        return self.session.once()

    def run(self, cadence_s: float, *, rearm: bool, metrics: str | None, form: str) -> int:
        """Run passes until told to end."""
        return self.session.run(cadence_s, rearm=rearm, metrics=metrics, form=form)

    def test_notices(self) -> int:
        """Send a notice that tells of nothing by every way that is set, and say what became of it."""
        from gordon_shell.channel import Verdict  # noqa: PLC0415 - for this command alone
        from gordon_shell.notice_text import document  # noqa: PLC0415 - likewise
        from gordon_shell.system_clock import SystemClock  # noqa: PLC0415 - likewise
        from gordon_shell.teller import carriers, trial  # noqa: PLC0415 - likewise

        ways = carriers(self.session.world.settings(self.session.options).notices)
        if not ways:
            message = "nobody is told of anything; name a command or a webhook in [notices] of the host policy"
            raise UsageError(message)
        text = document(trial(SystemClock().now()))
        answers = {each.name: each.carry(text) for each in ways.values()}
        _say(*(f"{name}: {answer.why or 'delivered'}" for name, answer in answers.items()))
        return EX_OK if all(each.verdict is Verdict.DELIVERED for each in answers.values()) else EX_FAILED

    def status(self, app: str, form: str, *, detailed: bool) -> int:
        """Tell where every service is."""
        with self.session.ports(read_only=True) as ports:
            snapshot = Observer(
                ports, self.session.world.policies(self.session.options), Recollection(ports.store), remember=False
            ).look()
            shown = _of(snapshot, app)
            sessions, left = _sessions(ports, shown), _unstarted(ports, snapshot, app)
        if form == "json":
            write(status.document(shown, sessions, left))
        else:
            _say(*status.lines(shown, sessions, left))
        if not detailed:
            return EX_OK
        if any(each.is_held for each in shown.decisions):
            return EX_BLOCKED
        return EX_OK if shown.is_quiet else EX_WOULD_ACT

    def watch(self, app: str, form: str, every_s: float) -> int:
        """Tell where every service is, again and again, until nobody looks any more."""
        from gordon_shell import watching  # noqa: PLC0415 - for this alone

        with self.session.ports(read_only=True) as ports:
            policies = self.session.world.policies(self.session.options)
            observer = Observer(ports, policies, Recollection(ports.store), remember=False)

            def look() -> tuple[Plan, status.Sessions]:
                shown = _of(observer.look(), app)
                return shown, _sessions(ports, shown)

            with watching.on_screen(form, ports.clock, self.session.options.environment) as screen:
                watching.watch(look, screen, every_s)
        return EX_OK

    def stop(self, app: str, *, now: bool) -> int:
        """Record that an app is to be stopped."""
        return self._intend(app, Intent.STOPPED, "stops what runs, and keeps the containers", now=now)

    def start(self, app: str, *, now: bool) -> int:
        """Record that an app is to run."""
        return self._intend(app, Intent.RUNNING, "starts what is down", now=now)

    def _intend(self, app: str, intent: Intent, does: str, *, now: bool) -> int:
        with self.session.ports() as ports:
            before = self.session.operator(ports).set_intent(app, intent)
        already = " already" if all(each.intent is intent for each in before) else ""
        wanted = "is to run" if intent is Intent.RUNNING else "is to be stopped"
        services = telling.joined(each.service for each in before)
        _say(f"{app} {wanted}{already}: {services}{'' if now else '; ' + _NEXT.format(does=does)}")
        return self.session.once(app) if now else EX_OK

    def inhibit(self, target: str, reason: str) -> int:
        """Never start the container of a service."""
        app, service = _service(target)
        with self.session.ports() as ports:
            declared = self.session.operator(ports).inhibit(app, service, reason)
        _say(
            f"{target}: container {declared.container_id[:12]} is inhibited: the next pass withdraws it, and nothing starts it; "
            f"to end that: gordon-shell allow {target}"
        )
        return EX_OK

    def allow(self, target: str) -> int:
        """End an inhibition."""
        app, service = _service(target)
        with self.session.ports() as ports:
            before = self.session.operator(ports).allow(app, service)
        if before.inhibited:
            _say(f"{target}: no longer inhibited (it was: {before.inhibited}); {_NEXT.format(does='looks after it')}")
        else:
            _say(f"{target}: was not inhibited; nothing changed")
        return EX_OK

    def retry(self, target: str) -> int:
        """Forget the history of a service, or of an app."""
        app, _, service = target.partition("/")
        with self.session.ports() as ports:
            found = self.session.operator(ports).retry(app, service)
        for stored, memory in found:
            does = "tries as if nothing had failed"
            _say(f"{stored.app}/{stored.service}: forgot {telling.forgotten(memory)}; {_NEXT.format(does=does)}")
        if not found:
            _say(f"{target}: nothing to forget, no failure is on record; what is done is started again by the next pass")
        return EX_OK

    def retire(self, target: str, container: str, grace_s: float | None) -> int:
        """Mark a container as superseded."""
        app, service = _service(target)
        with self.session.ports() as ports:
            marker = self.session.operator(ports).retire(app, service, container, grace_s)
        _say(
            f"{target}: container {marker.container_id[:12]} is superseded: once {target} was seen to serve, it is stopped "
            f"within {duration(marker.stop_grace_s)} and removed; its volumes stay"
        )
        return EX_OK

    def forget(self, target: str) -> int:
        """Withdraw, prove that, and forget."""
        app, _, service = target.partition("/")
        with self.session.ports() as ports:
            found = self.session.operator(ports).forget(app, service)
        for each in found:
            left = [each.container_id, *each.superseded] if each.container_id else [*each.superseded]
            alone = f"; left alone: {telling.joined(one[:12] for one in left)}" if left else ""
            running = f"; {plural(each.sessions, 'session')} still run over its former route" if each.sessions else ""
            _say(f"{each.app}/{each.service}: withdrawn and forgotten{alone}{running}")
        return EX_OK

    def haproxy_config(self) -> int:
        """Print the fragment for HAProxy."""
        options = self.session.options
        socket = options.haproxy_socket()
        with closing(SqliteStore.open(options.state_file(), create=False, read_only=True)) as store:
            found = store.read()
        services = [(each.app, each.service, each.declared.ports) for each in found if each.declared and each.declared.published]
        write(haproxy_config(services, str(socket) if socket is not None else _DEFAULT_SOCKET))
        return EX_OK

    def export(self, output: Path | None) -> int:
        """Write the whole state as a document."""
        text = state_files.exported(self.session.options.state_file())
        if output is None:
            write(text)
        else:
            state_files.save(output, text)
        return EX_OK

    def import_(self, file: str) -> int:
        """Take such a document into a state that is empty, or made for it."""
        path = self.session.options.state_file()
        count = state_files.take_in(path, file, state_files.read(file))
        _say(f"{path}: took in {plural(count, 'service')}; {_NEXT.format(does='looks after what is in it')}")
        return EX_OK


def _say(*lines: str) -> None:
    write("".join(f"{printable(each)}\n" for each in lines))


def _service(target: str) -> Service:
    app, _, service = target.partition("/")
    if not app or not service:
        message = f"{target!r} names no service; write APP/SERVICE, such as shop/web"
        raise UsageError(message)
    return app, service


def _adopt(operator: Operator, app: str, wanted: tuple[wishes.Wish, ...], *, keep_old: bool) -> int:
    for wish in wanted:
        wishes.check_name("a service", wish.service)
    adopted = operator.adopt(app, wanted, keep_old=keep_old)
    stored = operations.services_of(operator.ports, app)
    for each in adopted:
        _say(each.in_words(), *(f"    note: {note}" for note in each.notes))
    inhibited = {each.service: each.inhibited for each in stored if each.inhibited}
    _say(*(f"{app}/{name} is inhibited ({reason}): gordon-shell allow {app}/{name}" for name, reason in inhibited.items()))
    if stored[0].intent is Intent.STOPPED:
        _say(f"{app} is to be stopped; to have it run: gordon-shell start {app}")
    elif any(not each.is_unchanged for each in adopted):
        _say(f"Adopted; {_NEXT.format(does='verifies and publishes')}")
    return EX_OK


def _of(snapshot: Snapshot, app: str) -> Plan:
    whole = plan(snapshot)
    if not app:
        return whole

    def chosen(decisions: tuple[Decision, ...]) -> tuple[Decision, ...]:
        return tuple(each for each in decisions if each.subject.app == app)

    if not chosen(whole.services):
        message = (
            f"there is no app {app!r}; adopted: {', '.join(sorted({each.subject.app for each in whole.services})) or 'none'}"
        )
        raise UsageError(message)
    return Plan(whole.clock, chosen(whole.services), chosen(whole.superseded))


def _sessions(ports: Ports, shown: Plan) -> status.Sessions:
    """Ask about sessions that are left where a service is published and the router, which answers, does not route it."""
    subjects = (each.subject for each in shown.services if facts.is_published(each.subject))
    former = [each for each in subjects if not facts.route_is_unread(each) and not facts.routed_binds(each)]
    return {(each.app, each.service): ports.router.sessions(each.app, each.service) for each in former}


def _unstarted(ports: Ports, snapshot: Snapshot, app: str) -> tuple[Unstarted, ...]:
    """Ask the engine what deploys made and nothing names; where it gives no answer, the services say so."""
    try:
        rows = ports.engine.rows()
    except EngineError:
        return ()
    return tuple(each for each in unstarted(rows, snapshot.subjects) if app in ("", each.app))


__all__ = ["Verbs"]
