"""Options of a deploy as they are written, and the blueprint that they make of what is there."""

import pytest
from attrs import evolve

from gordon_core.blueprint import Blueprint, HealthCheck, Mode, Mount, Publication, Readiness, Setting, Variable
from gordon_core.observation import Port, Protocol
from gordon_core.snapshot import HttpCheck
from gordon_shell.deploy_wishes import Asked, blueprint, check_names
from gordon_shell.errors import UsageError
from gordon_shell.ports import HTTP_LABEL
from tests.deploys import BLUEPRINT, SECRET

NOTHING = Asked()


def made(asked: Asked = NOTHING, base: Blueprint | None = BLUEPRINT, *given: Variable) -> Blueprint:
    return blueprint("shop:3", (), asked, given, base)


def test_what_is_not_given_is_as_before() -> None:
    assert evolve(BLUEPRINT, image="shop:3") == made()


def test_without_anything_before_it_is_the_image_alone() -> None:
    assert Blueprint("shop:3") == made(base=None)


def test_a_command_takes_the_place_of_the_former() -> None:
    assert ("work", "-v") == blueprint("shop:3", ("work", "-v"), NOTHING, (), BLUEPRINT).command


def test_variables_are_added_by_name_and_left_out_by_name() -> None:
    given = (Variable("PASSWORD", "other"), Variable("MODE", "live"))
    assert given == made(Asked(unset_env=("EMPTY",)), BLUEPRINT, *given).environment


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (Asked(port=("80", "8080:8443", "53/udp", "5353:54/udp")),
         {"ports": (Publication(Port(80)), Publication(Port(8443), 8080), Publication(Port(53, Protocol.UDP)),
                    Publication(Port(54, Protocol.UDP), 5353))}),
        (Asked(mount=("/srv:/data", "data:/db:exclusive", "/etc/x:/x:ro,exclusive", "y:/y:ro:exclusive", "z:/z:rw")),
         {"mounts": (Mount("/srv", "/data"), Mount("data", "/db", exclusive=True),
                     Mount("/etc/x", "/x", read_only=True, exclusive=True), Mount("y", "/y", read_only=True, exclusive=True),
                     Mount("z", "/z"))}),
        (Asked(mount=("none",)), {"mounts": ()}),
        (Asked(device=("/dev/fuse", "/dev/a:/dev/b:r")), {"devices": ("/dev/fuse", "/dev/a:/dev/b:r")}),
        (Asked(device=("none",)), {"devices": ()}),
        (Asked(network=("front", "back")), {"networks": ("front", "back")}),
        (Asked(network=("none",)), {"networks": ("none",)}),
        (Asked(network=("default",)), {"networks": ()}),
        (Asked(label=("team=web", "quiet")), {"labels": (("quiet", ""), ("team", "web"))}),
        (Asked(label=("none",)), {"labels": ()}),
        (Asked(user="1:1"), {"user": "1:1"}),
        (Asked(user=""), {"user": ""}),
        (Asked(memory="512m"), {"settings": (Setting("Memory", "536870912"),)}),
        (Asked(memory="2GB"), {"settings": (Setting("Memory", "2147483648"),)}),
        (Asked(memory="4096"), {"settings": (Setting("Memory", "4096"),)}),
        (Asked(memory="none"), {"settings": ()}),
        (Asked(no_health=True), {"health": HealthCheck(("NONE",))}),
        (Asked(health_cmd="true"), {"health": HealthCheck(("CMD-SHELL", "true"), 1.5, 2.0, 3.0, 4)}),
        (Asked(health_interval_s=5.0, health_retries=2), {"health": HealthCheck(("CMD", "true"), 5.0, 2.0, 3.0, 2)}),
        (Asked(health_timeout_s=5.0, health_start_period_s=6.0), {"health": HealthCheck(("CMD", "true"), 1.5, 5.0, 6.0, 4)}),
        (Asked(grace_s=60.0, published=True, downtime=False), {"stop_grace_s": 60.0, "published": True, "downtime": False}),
        (Asked(ready="delay", ready_timeout_s=9.0, delay_s=8.0, forgive_s=7.0),
         {"readiness": Readiness(Mode.DELAY, HttpCheck(80, "/up"), 9.0, 8.0, 7.0)}),
        (Asked(http="/healthz"), {"readiness": Readiness(Mode.HTTP, HttpCheck(80, "/healthz"), 1.0, 2.0, 3.0)}),
        (Asked(ready="tcp", http="none"), {"readiness": Readiness(Mode.TCP, None, 1.0, 2.0, 3.0)}),
    ],
)  # fmt: skip
def test_each_option_changes_what_it_names_and_nothing_else(asked: Asked, expected: dict[str, object]) -> None:
    assert evolve(BLUEPRINT, image="shop:3", **expected) == made(asked)  # type: ignore[arg-type]  # by name


def test_a_limit_of_swap_goes_with_the_limit_of_memory() -> None:
    before = evolve(BLUEPRINT, settings=(Setting("CapDrop", "[]"), Setting("MemorySwap", "9"), Setting("Memory", "5")))
    assert (Setting("CapDrop", "[]"), Setting("Memory", "7")) == made(Asked(memory="7b"), before).settings


def test_a_health_check_after_one_that_was_off_is_new() -> None:
    off = evolve(BLUEPRINT, health=HealthCheck(("NONE",)))
    assert HealthCheck(("CMD-SHELL", "true")) == made(Asked(health_cmd="true"), off).health


def test_a_path_whose_port_is_gone_is_gone() -> None:
    assert Readiness(Mode.AUTO, None, 1.0, 2.0, 3.0) == made(Asked(port=("81",), ready="auto")).readiness


def test_a_path_at_a_port_that_only_the_image_knows_is_noted_for_it() -> None:
    assert ((HTTP_LABEL, "8080/up"),) == made(Asked(http="8080/up"), None).labels


@pytest.mark.parametrize(
    ("asked", "wrong"),
    [
        (Asked(port=("http",)), "'http' is no port; write it as PORT"),
        (Asked(port=("0",)), "'0' is no port; write it as PORT"),
        (Asked(port=("70000:80",)), "'70000:80' is no port; write it as PORT"),
        (Asked(port=("80", "80")), "each port once; repeated: 80/tcp"),
        (Asked(mount=("data",)), "'data' is no mount; write it as SOURCE:TARGET"),
        (Asked(mount=("data:/data:z",)), "'data:/data:z' is no mount; write it as SOURCE:TARGET"),
        (Asked(mount=("data:data",)), "'data:data' is no mount; write it as SOURCE:TARGET"),
        (Asked(mount=("a:/data", "b:/data")), "each mounted place once; repeated: /data"),
        (Asked(device=("fuse",)), "'fuse' is no device; write its path"),
        (Asked(label=("=x",)), "'' cannot be the name of a label here"),
        (Asked(label=("gordon.app=x",)), "'gordon.app' cannot be the name of a label here"),
        (Asked(memory="much"), "'much' is no size of memory; write a number with k, m or g"),
        (Asked(memory="0"), "'0' is no size of memory; write a number with k, m or g"),
        (Asked(no_health=True, health_cmd="true"), "--no-health and another option for the health check contradict each other"),
        (Asked(health_cmd=" "), "--health-cmd is empty; write a command, or --no-health"),
        (Asked(http="healthz"), "'healthz' is no HTTP check for the container; write it as [PORT]/PATH"),
        (Asked(http="81/up"), "the container publishes no port 81/tcp for the HTTP check '81/up'"),
        (Asked(http="none"), "readiness by HTTP needs an HTTP path; name one, or choose another readiness mode"),
        (
            Asked(port=("53/udp",), ready="tcp"),
            "readiness by TCP needs a TCP port; declare one, or choose another readiness mode",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_would(asked: Asked, wrong: str) -> None:
    with pytest.raises(UsageError) as raised:
        made(asked)
    assert wrong == str(raised.value)[: len(wrong)]


def test_details_of_a_health_check_need_one() -> None:
    with pytest.raises(UsageError, match="there is no health check beyond the image's to change; name it with --health-cmd"):
        made(Asked(health_interval_s=1.0), None)


@pytest.mark.parametrize(
    "names", [(f"A={SECRET}", "web", "shop:2"), ("shop", f"A={SECRET}", "shop:2"), ("shop", "web", f"A={SECRET}")]
)
def test_a_variable_at_the_place_of_a_name_is_not_shown(names: tuple[str, str, str]) -> None:
    with pytest.raises(UsageError) as raised:
        check_names(*names)
    assert "a word with = stands where APP, SERVICE or IMAGE should; put -e before each NAME=VALUE" == str(raised.value)


@pytest.mark.parametrize(
    ("names", "wrong"),
    [
        (("-", "web", "shop:2"), "'-' cannot be the name of an app"),
        (("shop", "a/b", "shop:2"), "'a/b' cannot be the name of a service"),
        (("shop", "web", "shop 2"), "'shop 2' is no name of an image; write it as docker does"),
    ],
)
def test_a_name_that_cannot_be_one_is_refused(names: tuple[str, str, str], wrong: str) -> None:
    with pytest.raises(UsageError) as raised:
        check_names(*names)
    assert wrong == str(raised.value)[: len(wrong)]


@pytest.mark.parametrize(
    "image", ["shop", "registry.example:5000/team/shop:2", "shop@sha256:0123456789abcdef", "sha256:0123456789"]
)
def test_an_image_has_the_names_that_docker_gives(image: str) -> None:
    check_names("shop", "web", image)
