"""What an operator names to be adopted: services and their containers, one by one or as a project of Docker Compose. Pure."""

import math
import re
from collections.abc import Iterable, Mapping

from attrs import evolve, frozen

from gordon_shell.errors import UsageError
from gordon_shell.ports import Row

COMPOSE_PROJECT = "com.docker.compose.project"
COMPOSE_SERVICE = "com.docker.compose.service"
_COMPOSE_ONEOFF = "com.docker.compose.oneoff"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_LONGEST_S = 366 * 86400


@frozen
class Wish:
    """A service to be adopted, and the container for it, by name or (the start of its) ID.

    None: as before, or as the container says. `http` is "[PORT]/PATH", or "" for no check.
    """

    service: str
    container: str
    published: bool | None = None
    http: str | None = None
    grace_s: float | None = None


def check_name(what: str, name: str) -> None:
    """Raise UsageError for a name that an app or a service cannot have here."""
    if not _NAME.fullmatch(name):
        message = f"{name!r} cannot be the name of {what}; use letters, digits, '.', '_' and '-', a letter or digit first"
        raise UsageError(message)


def resolve(rows: Iterable[Row], asked: str) -> Row:
    """Return the container that is named: by full ID, by name, or by the start of its ID. Raise UsageError: none, or several."""
    every, name = tuple(rows), asked.removeprefix("/")
    exact = [each for each in every if each.container_id == asked] or [each for each in every if name and each.name == name]
    found = exact or [each for each in every if asked and each.container_id.startswith(asked.lower())]
    if not found:
        message = f"there is no container {asked!r}; `docker ps --all` lists those that there are"
        raise UsageError(message)
    if len(found) > 1:
        which = " and ".join(f"{each.container_id[:12]} ({each.name})" for each in found)
        message = f"{asked!r} is the start of {len(found)} container IDs, {which}; write more of the one that is meant"
        raise UsageError(message)
    return found[0]


def of_compose(rows: Iterable[Row], project: str, left_out: tuple[str, ...] = ()) -> tuple[Wish, ...]:
    """Return one wish for each service of a project of Docker Compose; containers of `docker compose run` are none.

    Raise UsageError: no such project, or a service that has several containers, or one to be left out that it does not have.
    """
    every = tuple(rows)
    services: dict[str, list[Row]] = {}
    for each in every:
        labels = each.labels
        if labels.get(COMPOSE_PROJECT) == project and labels.get(_COMPOSE_ONEOFF, "False").lower() != "true":
            services.setdefault(labels.get(COMPOSE_SERVICE, ""), []).append(each)
    services.pop("", None)
    if not services:
        known = sorted({each.labels[COMPOSE_PROJECT] for each in every if COMPOSE_PROJECT in each.labels})
        message = f"no container belongs to a Compose project {project!r}; there {_there_are(known)}"
        raise UsageError(message)
    _refuse_strangers(left_out, services, project)
    wanted = {service: found for service, found in sorted(services.items()) if service not in left_out}
    _refuse_scaled(wanted, project)
    return tuple(Wish(service, found[0].container_id) for service, found in wanted.items())


def _there_are(names: list[str]) -> str:
    return (
        f"{'is' if len(names) == 1 else 'are'} {', '.join(names)}" if names else "is none at all; see `docker compose ls --all`"
    )


def _refuse_strangers(named: tuple[str, ...], services: Iterable[str], project: str) -> None:
    strangers = [each for each in named if each not in services]
    if strangers:
        known = sorted(services)
        message = f"Compose project {project!r} has no service {strangers[0]!r}; there {_there_are(known)}"
        raise UsageError(message)


def _refuse_scaled(services: dict[str, list[Row]], project: str) -> None:
    for service, found in services.items():
        if len(found) > 1:
            each = " ".join(f"{service}-{number}={row.name}" for number, row in enumerate(found, 1))
            message = (
                f"service {service!r} of Compose project {project!r} has {len(found)} containers, and a service here is one; "
                f"scale it down, or leave it out with --except {service} and adopt each: gordon-shell adopt {project} {each}"
            )
            raise UsageError(message)


def of_words(words: Iterable[str]) -> tuple[Wish, ...]:
    """Return the wishes that SERVICE=CONTAINER words are. Raise UsageError for another word, and for a service named twice."""
    return tuple(Wish(service, container) for service, container in _pairs(words, "SERVICE=CONTAINER").items())


@frozen
class Said:
    """What is said of some of the services beside their containers, by service; `http` and `grace` as they were written."""

    published: tuple[str, ...] = ()
    unpublished: tuple[str, ...] = ()
    http: tuple[str, ...] = ()
    grace: tuple[str, ...] = ()


def detailed(wishes: tuple[Wish, ...], said: Said) -> tuple[Wish, ...]:
    """Return the wishes with what else was said of them. Raise UsageError where that names none of them, or makes no sense."""
    http, grace = _pairs(said.http, "SERVICE=[PORT]/PATH"), _pairs(said.grace, "SERVICE=SECONDS")
    named = {each.service for each in wishes}
    for service in (*said.published, *said.unpublished, *http, *grace):
        if service not in named:
            message = f"{service!r} is none of the services to be adopted; there are {', '.join(sorted(named))}"
            raise UsageError(message)
    torn = set(said.published) & set(said.unpublished)
    if torn:
        message = f"{min(torn)!r} is named as published and as unpublished; leave one of them out"
        raise UsageError(message)
    published = dict.fromkeys(said.published, True) | dict.fromkeys(said.unpublished, False)
    return tuple(
        evolve(each, published=published.get(each.service), http=http.get(each.service), grace_s=_grace_s(grace, each.service))
        for each in wishes
    )


def _grace_s(grace: Mapping[str, str], service: str) -> float | None:
    if service not in grace:
        return None
    try:
        seconds = float(grace[service])
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= _LONGEST_S:
        message = f"{grace[service]!r} is no grace for {service!r}; write a number of seconds from 0 to {_LONGEST_S}"
        raise UsageError(message)
    return seconds


def _pairs(words: Iterable[str], form: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in words:
        service, equals, value = word.partition("=")
        if not service or not equals or (not value and "PATH" not in form):
            message = f"{word!r} is not {form}; write it so"
            raise UsageError(message)
        if service in found:
            message = f"{service!r} is named twice, as {found[service]!r} and as {value!r}; leave one of them out"
            raise UsageError(message)
        found[service] = value
    return found
