"""What the host grants: paths by their components, devices by name, constants by the narrowest scope."""

from pathlib import PurePosixPath

import pytest
from attrs import evolve, fields
from hypothesis import given
from hypothesis import strategies as st

from gordon_core.grants import (
    Grants,
    HostPolicy,
    Overrides,
    PathGrant,
    ResolvedMount,
    Scope,
    Source,
    missing,
)
from gordon_core.policy import DEFAULT_POLICY, Policy, WhenUnhealthy

DATA = ResolvedMount("/srv/data", "/srv/data", read_only=False)
PATHS = st.lists(st.sampled_from(["srv", "srv2", "s", "data", "srv data"]), max_size=4).map(lambda parts: "/" + "/".join(parts))


def granting(*paths: PathGrant, devices: tuple[str, ...] = (), app: str = "", service: str = "") -> HostPolicy:
    return HostPolicy((Scope(app, service, Grants(paths, devices)),))


def test_without_a_policy_what_the_container_was_created_with_is_granted() -> None:
    assert missing(None, "shop", "web", (DATA,), ("/dev/kvm",)) == ()


def test_with_a_policy_what_it_does_not_list_is_not_granted() -> None:
    assert missing(HostPolicy(), "shop", "web", (DATA,), ("/dev/kvm",)) == (
        "/srv/data (read-write) is not granted",
        "/dev/kvm is not granted",
    )


@pytest.mark.parametrize("policy", [None, granting(PathGrant("/srv", read_only=False))])
def test_a_vanished_source_fails_with_and_without_a_policy(policy: HostPolicy | None) -> None:
    old = ResolvedMount("/srv/old", "/srv/old", read_only=True, source=Source.VANISHED)
    assert missing(policy, "shop", "web", (DATA, old), ()) == ("/srv/old does not exist any more",)


def test_a_vanished_source_that_is_not_granted_either_says_both() -> None:
    old = ResolvedMount("/srv/old", "/srv/old", read_only=True, source=Source.VANISHED)
    assert missing(HostPolicy(), "shop", "web", (old,), ()) == (
        "/srv/old does not exist any more",
        "/srv/old (read-only) is not granted",
    )


@pytest.mark.parametrize(("app", "service"), [("", ""), ("shop", ""), ("shop", "web")])
def test_the_host_its_app_or_the_service_itself_may_be_granted(app: str, service: str) -> None:
    policy = granting(PathGrant("/srv", read_only=False), devices=("/dev/kvm",), app=app, service=service)
    assert missing(policy, "shop", "web", (DATA,), ("/dev/kvm",)) == ()


@pytest.mark.parametrize(("app", "service"), [("lab", ""), ("shop", "db"), ("lab", "web")])
def test_the_grant_of_another_is_no_grant(app: str, service: str) -> None:
    policy = granting(PathGrant("/srv", read_only=False), devices=("/dev/kvm",), app=app, service=service)
    expected = ("/srv/data (read-write) is not granted", "/dev/kvm is not granted")
    assert missing(policy, "shop", "web", (DATA,), ("/dev/kvm",)) == expected


def test_a_read_only_grant_does_not_cover_a_mount_that_may_write() -> None:
    policy = granting(PathGrant("/srv"))
    assert missing(policy, "shop", "web", (DATA,), ()) == ("/srv/data (read-write) is granted read-only",)
    assert missing(policy, "shop", "web", (evolve(DATA, read_only=True),), ()) == ()


def test_one_grant_that_may_write_is_enough_beside_a_read_only_one() -> None:
    policy = granting(PathGrant("/srv"), PathGrant("/srv/data", read_only=False))
    assert missing(policy, "shop", "web", (DATA,), ()) == ()


def test_it_counts_where_a_mount_leads_to_and_not_what_it_is_called() -> None:
    link = ResolvedMount("/srv/link", "/etc", read_only=True)
    assert missing(granting(PathGrant("/srv")), "shop", "web", (link,), ()) == (
        "/srv/link (read-only), which leads to /etc, is not granted",
    )
    assert missing(granting(PathGrant("/etc")), "shop", "web", (link,), ()) == ()


def test_what_this_user_cannot_read_is_granted_by_no_policy() -> None:
    """An unread directory may hide a symbolic link that leads out of what is granted."""
    hidden = ResolvedMount("/srv/x", "/srv/x", read_only=True, source=Source.UNREAD)
    assert missing(granting(PathGrant("/")), "shop", "web", (hidden,), ()) == (
        "/srv/x cannot be read by this user, so that what it leads to is not known",
    )
    assert missing(None, "shop", "web", (hidden,), ()) == ()


@given(grant=PATHS, path=PATHS)
def test_paths_are_compared_by_components(grant: str, path: str) -> None:
    assert PathGrant(grant).covers(path) == PurePosixPath(path).is_relative_to(PurePosixPath(grant))


@given(grant=PATHS, path=PATHS)
def test_a_grant_covers_what_is_beneath_whatever_it_covers(grant: str, path: str) -> None:
    beneath = f"{path.rstrip('/')}/beneath"
    assert PathGrant(grant).covers(beneath) or not PathGrant(grant).covers(path)


def test_a_longer_name_is_not_beneath_a_shorter_one() -> None:
    assert not PathGrant("/srv").covers("/srv2")
    assert PathGrant("/srv/").covers("/srv")
    assert PathGrant("/").covers("/anything")


CHANGED: dict[str, Policy] = {
    "free_failures": Policy(free_failures=7),
    "ladder_s": Policy(ladder_s=(7.0,)),
    "stable_window_s": Policy(stable_window_s=7.0),
    "longest_gap_s": Policy(longest_gap_s=7.0),
    "unhealthy_threshold": Policy(unhealthy_threshold=7),
    "readiness_s": Policy(readiness_s=7.0),
    "shortest_deadline_s": Policy(shortest_deadline_s=7.0),
    "exit_0_is_done": Policy(exit_0_is_done=True),
    "unhealthy": Policy(unhealthy=WhenUnhealthy.WITHDRAW),
}


def test_every_constant_can_be_overridden() -> None:
    names = [each.name for each in fields(Policy)]
    assert names == [each.name for each in fields(Overrides)]
    assert names == list(CHANGED)


@pytest.mark.parametrize("name", CHANGED)
def test_an_override_changes_its_constant_alone(name: str) -> None:
    override = Overrides(**{name: getattr(CHANGED[name], name)})
    assert override.over(DEFAULT_POLICY) == CHANGED[name]


def test_an_override_refuses_what_a_policy_refuses() -> None:
    with pytest.raises(ValueError, match="free_failures"):
        Overrides(free_failures=0)


def test_the_order_of_scopes_does_not_matter() -> None:
    scopes = (Scope("shop"), Scope(), Scope("shop", "web"))
    assert HostPolicy(scopes) == HostPolicy(scopes[::-1])


def test_a_scope_is_given_once() -> None:
    with pytest.raises(ValueError, match="each scope once; repeated: shop/web"):
        HostPolicy((Scope("shop", "web"), Scope("shop", "web")))


def test_a_service_needs_its_app() -> None:
    with pytest.raises(ValueError, match="service web needs its app"):
        Scope("", "web")


def test_a_path_is_absolute() -> None:
    with pytest.raises(ValueError, match="path"):
        PathGrant("srv")
