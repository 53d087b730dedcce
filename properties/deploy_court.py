"""The judges of deploys: what the court of recovery demands of every command, and what C1 to C3 add to it.

C2, and that no command darkens what serves, are judged from the host as it really is; what changed since the program last
looked excuses it, since a container can always die between a look and a command. F5 is a rule of the spec without a name: what
must not overlap never does.
"""

from typing import NoReturn

from attrs import define, field, frozen

from gordon_core.blueprint import Blueprint
from gordon_core.memory import Verified
from gordon_core.observation import HealthStatus, Status
from gordon_core.snapshot import Declared, Intent
from gordon_shell.ports import OWNER_LABELS, Details, Marker, Service, Stored
from properties.boxes import Box, Nature
from properties.judges import Court
from properties.notes import Notes, Role, binds_of
from properties.story import Violated

_ALIVE = frozenset({Status.RUNNING, Status.RESTARTING, Status.PAUSED})


@frozen
class Tag:
    """What a deploy's engine keeps of a container beside its box."""

    name: str
    labels: dict[str, str]
    blueprint: Blueprint
    image_id: str

    @property
    def service(self) -> Service | None:
        """Return the service whose deploy made it, as its labels say."""
        app, service = (self.labels.get(each, "") for each in OWNER_LABELS)
        return (app, service) if app else None


@define(eq=False)
class DeployCourt(Court):
    """All judges of a world with deploys.

    `wanted` is what each deploying program deploys; `tags` are of all containers; `published_as` is the execution as which each
    service was published last; `clearing` is the container that a program's deploy is about to clear; `cleared_s` says when one
    was gone; `seen` is what had happened when a program last looked, `looked_from` when a deploy began the look that its step is
    decided upon, and `held_at` when the hold of a service began. `disowned` are those containers that a program tried to
    write down while ACTIVE named them.
    """

    wanted: dict[str, Blueprint] = field(factory=dict)
    tags: dict[str, Tag] = field(factory=dict)
    published_as: dict[Service, tuple[str, str]] = field(factory=dict)
    gave_up: set[str] = field(factory=set)
    clearing: dict[str, str] = field(factory=dict)
    cleared_s: dict[str, float] = field(factory=dict)
    seen: dict[str, int] = field(factory=dict)
    looked_from: dict[str, int] = field(factory=dict)
    held_at: dict[Service, int] = field(factory=dict)
    disowned: set[tuple[str, str]] = field(factory=set)
    found: Violated | None = None

    def condemn(self, invariant: str, wrong: str) -> NoReturn:
        """End the run; whatever the product still does on its way out shows no other fault."""
        self.found = self.found or Violated(invariant, wrong)
        raise self.found

    # --- what serves, as things are ------------------------------------------------------------------------------------------

    def stored(self, service: Service) -> Stored | None:
        """Return what is on disk of a service."""
        return self.world.disk.read_service(*service)

    def named(self, service: Service) -> set[str]:
        """Return the containers that ACTIVE and the markers name."""
        stored = self.stored(service)
        if stored is None:
            return set()
        declared = {stored.declared.container_id} if stored.declared is not None else set()
        return declared | {each.container_id for each in stored.markers}

    def at_the_route(self, service: Service) -> Box | None:
        """Return the running container to which all of the route leads; None where there is none."""
        held = {self.world.holder(each.host_port, each.port.protocol) for each in self.world.routes.get(service, ())}
        box = held.pop() if len(held) == 1 else None
        return box if box is not None and box.status is Status.RUNNING else None

    def lit(self, service: Service) -> bool:
        """Tell whether a good container serves, and nothing is wrong about it: it runs, is healthy, and was published."""
        box = self.at_the_route(service)
        if box is None or not self.is_well(box) or box.container_id not in self.named(service):
            return False
        others = {bind for other, binds in self.world.routes.items() if other != service for bind in binds}
        contested = any(box.holds(each.host_port, each.port.protocol) for each in others)
        return not contested and self.published_as.get(service) == (box.container_id, box.started_at)

    def is_well(self, box: Box) -> bool:
        """Tell whether a container is one of the good ones, and serves by now."""
        health = box.health(self.world.at_s).status
        is_good = box.nature is Nature.KIND and box.shown is None and box.frozen_s is None
        return is_good and box.answers(self.world.at_s) and health in {HealthStatus.NONE, HealthStatus.HEALTHY}

    def overlaps(self, service: Service) -> bool:
        """Tell whether all containers of a service may run side by side."""
        return all(each.blueprint.overlaps for each in self.tags.values() if each.service == service)

    def guarded(self, program: str) -> set[Service]:
        """Return the services that serve now, and that no command of this program may darken."""
        if self.seen.get(program, -1) != self.world.happened:
            return set()
        running = ((each.app, each.service) for each in self.world.disk.read() if each.intent is Intent.RUNNING)
        return {each for each in running if self.overlaps(each) and self.lit(each)}

    def stay_lit(self, before: set[Service], happened: int, what: str) -> None:
        """A command was carried out: what served before it serves still, unless something else happened meanwhile."""
        for service in before if happened == self.world.happened else set():
            serves = self.at_the_route(service) is not None
            self.demand("C3", serves, f"{what} leaves {service} without a container that serves")

    # --- commands ------------------------------------------------------------------------------------------------------------

    def withdraws(self, program: str, service: Service) -> None:
        """Let a deploy whose containers must not overlap withdraw what serves, once its candidate is in the journal.

        Without a candidate (what is wanted is there already, and sick) recovery's rules hold. Any may withdraw another service
        whose route names a port that its candidate was seen to hold.
        """
        if self._is_in_the_way(program, service):
            return
        stored = self.stored(service)
        if self._yields(program) and stored is not None and stored.candidates:
            return
        super().withdraws(program, service)

    def _is_in_the_way(self, program: str, service: Service) -> bool:
        """Tell whether the route of a service names a port of the candidate of another one's deploy."""
        own = ((each, tag.service) for each, tag in self.tags.items() if self._is_own(program, each))
        return any(service in self.notes(program).rivals(its, each) for each, its in own if its is not None)

    def _yields(self, program: str) -> bool:
        """Tell whether a deploy whose containers must not overlap has neither switched nor given up yet."""
        if program not in self.wanted or self.wanted[program].overlaps or program in self.gave_up:
            return False
        named = {each.declared.container_id for each in self.world.disk.read() if each.declared is not None}
        return not any(self._is_own(program, each) for each in named)

    def stops(self, program: str, container_id: str) -> None:
        """It is about to stop a container: also a candidate, or, where both must not overlap, the one that yields."""
        notes = self.notes(program)
        named = notes.named(container_id)
        if named is None or self.clearing.get(program) == container_id:
            self.clears(program, container_id)
        elif self._yields(program) and named[1] is Role.DECLARED and notes.stored[named[0]].intent is Intent.RUNNING:
            self._may_command(notes, named[0])
            self._is_free(notes, named[0], f"stop of {container_id}")
            self._is_clear(notes, named[0], container_id, "stop")
            self.ledger.stopped((named[0], container_id))
        else:
            super().stops(program, container_id)

    def clears(self, program: str, container_id: str) -> None:
        """It is about to stop or remove a candidate or a leftover."""
        tag, box, notes = self.tags.get(container_id), self.world.boxes.get(container_id), self.notes(program)
        service = tag.service if tag is not None else None
        all_stored = self.world.disk.read()
        journalled = any(each.container_id == container_id for stored in all_stored for each in stored.candidates)
        chosen = any(each.declared is not None and each.declared.container_id == container_id for each in all_stored)
        self.demand("C2", not chosen, f"it clears {container_id}, which ACTIVE names")
        self.demand("C2", service is not None or journalled, f"it clears {container_id}, which no deploy made")
        self._is_left_free(program, service, f"it clears {container_id}")
        if box is None or box.status not in _ALIVE:
            return
        # A route of another service that leads here is that one's stale route, and no reason to keep this.
        own = self.world.routes.get(service, ()) if service is not None else ()
        known = own if notes.routes is None or service is None else notes.routes.get(service, ())
        routed = [each for each in own if box.holds(each.host_port, each.port.protocol) and each in known]
        self.demand("C2", not routed, f"it clears {container_id}, which is routed at {routed}")
        # What is paused serves nobody.
        may_go = journalled or box.status is Status.PAUSED or not self._is_all(notes, service)
        self.demand("C2", may_go, f"it clears {container_id}, which is all that runs")

    def _is_all(self, notes: Notes, service: Service | None) -> bool:
        """Tell whether no container that ACTIVE names is alive, or was seen alive."""
        stored = self.stored(service) if service is not None else None
        if stored is None or stored.declared is None:
            return True
        selected, shown = self.world.boxes.get(stored.declared.container_id), notes.look(stored.declared.container_id)
        was_alive = isinstance(shown, Details) and shown.container.status in _ALIVE
        return not was_alive and (selected is None or selected.status not in _ALIVE)

    def starts(self, program: str, container_id: str) -> None:
        """It is about to start what ACTIVE names."""
        super().starts(program, container_id)
        self._is_alone(program, container_id)

    def starts_candidate(self, program: str, container_id: str) -> None:
        """It is about to start a candidate."""
        candidates = {each.container_id for stored in self.world.disk.read() for each in stored.candidates}
        self.demand("C1", container_id in candidates, f"it starts {container_id}, which is in no journal: nobody would clear it")
        self._is_left_free(program, self.tags[container_id].service, f"it starts {container_id}")
        self._is_alone(program, container_id)

    def _is_left_free(self, program: str, service: Service | None, what: str) -> None:
        """T1, of a container that a deploy made for this service."""
        notes = self.notes(program)
        if service is not None and service in notes.stored:
            self._is_free(notes, service, what)

    def _is_free(self, notes: Notes, service: Service, what: str) -> None:
        """T1, but for the step of a deploy that was decided upon a look that had begun when the hold came."""
        known = self.looked_from.get(notes.name)
        if known is None or self.held_at.get(service, 0) <= known:
            super()._is_free(notes, service, what)

    def _is_alone(self, program: str, container_id: str) -> None:
        """Demand that nothing runs that must not run beside it, of what is named or in the journal."""
        service = self.tags[container_id].service
        if service is None or self.overlaps(service) or self.seen.get(program) != self.world.happened:
            return
        stored = self.stored(service)
        known = self.named(service) | {each.container_id for each in (stored.candidates if stored is not None else ())}
        beside = [each for each in known - {container_id} if each in self.world.boxes and self.world.boxes[each].status in _ALIVE]
        self.demand("F5", not beside, f"it starts {container_id} while {beside} runs, and both must not")

    # --- the store -----------------------------------------------------------------------------------------------------------

    def saves(self, program: str, key: tuple[Service, str], memory: object) -> None:
        """It is about to write what it remembers; the budget has worlds of its own."""
        del memory
        self.writes(program, key[0][0], "memory")

    def activates(  # noqa: PLR0913, PLR0917 - as in the port
        self,
        program: str,
        service: Service,
        declared: Declared,
        expected: int,
        marker: Marker | None,
        verified: Verified | None,
    ) -> None:
        """It is about to change ACTIVE: to name its candidate, or to go back. What the compare-and-set refuses is not judged.

        A journal that refuses the candidate keeps nobody from going back: what serves counts for more than a note of what the
        same deploy clears next, and the next deploy knows it by its name.
        """
        self.writes(program, service[0], "ACTIVE")
        before = self.stored(service)
        held = before.declared if before is not None else None
        if expected != (held.revision if held is not None else 0):
            return
        if self._is_own(program, declared.container_id):
            self._is_ready(program, declared, verified)
            old = self.world.boxes.get(held.container_id) if held is not None else None
            marked = marker is not None and held is not None and marker.container_id == held.container_id
            self.demand("P5", old is None or marked, f"it supersedes {held}, and marks {marker}")
            return
        assert before is not None
        assert held is not None
        journal = {each.container_id for each in before.candidates}
        noted = held.container_id in journal or (program, held.container_id) in self.disowned
        self._is_verified_still(declared, verified)
        self.demand("C1", noted, f"it goes back from {held.container_id}, which nothing names then")

    def journals(self, program: str, service: Service, container_id: str) -> None:
        """It is about to write a candidate down: before it is started, or before ACTIVE names it no more."""
        stored = self.stored(service)
        if stored is not None and stored.declared is not None and stored.declared.container_id == container_id:
            self.disowned.add((program, container_id))

    def _is_own(self, program: str, container_id: str) -> bool:
        tag = self.tags.get(container_id)
        return tag is not None and tag.labels.get("by") == program

    def _is_verified_still(self, declared: Declared, verified: Verified | None) -> None:
        """What a deploy goes back to keeps, under its new revision, what an execution of it answered at the same binds."""
        if verified is None:
            return
        what = f"it goes back to {declared.container_id} as {verified}"
        known = {each.binds for each in self.verified.checks.get((declared.container_id, verified.started_at), ())}
        self.demand("P4", frozenset(verified.binds) in known, f"{what}, which was never verified")
        self.demand("P4", verified.revision == declared.revision, f"{what}, and names revision {declared.revision}")
        self.verified.add(declared.container_id, verified.started_at, declared.revision, verified.binds)

    def _is_ready(self, program: str, declared: Declared, verified: Verified | None) -> None:
        """Demand of a candidate all that a publication needs; it then counts as verified under the revision that it gets."""
        notes, what = self.notes(program), f"it names {declared.container_id} in ACTIVE"
        shown = notes.running(declared.container_id)
        self.demand("P4", shown is not None, f"{what}, which was not seen running")
        assert shown is not None
        present = binds_of(declared, shown.container.ports)
        self.demand("P4", declared.binds == present and len(present) == len(declared.ports), f"{what} at {declared.binds}")
        self._was_ready(notes, "P4", declared.container_id, present, what)
        tag = self.tags[declared.container_id]
        could_look = tag.service is not None and notes.routes is not None
        rivals = notes.rivals(tag.service, declared.container_id) if could_look else ()
        self.demand("P10", not rivals, f"{what}, to which the route of {rivals} leads")
        healthy = shown.container.health.status in {HealthStatus.NONE, HealthStatus.HEALTHY}
        self.demand("P4", healthy, f"{what}, which is not healthy")
        as_seen = Verified(shown.container.started_at, present, declared.revision)
        self.demand("P4", verified == as_seen, f"{what} as {verified}, and not as {as_seen}")
        self.verified.add(declared.container_id, shown.container.started_at, declared.revision, present)
