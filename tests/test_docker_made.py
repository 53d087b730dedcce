"""What an inspected container was made from: also one that an operator made, on whatever engine."""

from collections.abc import Iterator

import pytest
from docker.types import IPAMConfig
from hypothesis import given
from hypothesis import strategies as st

from gordon_core.blueprint import Blueprint, HealthCheck, Made, Mount, Publication, Setting, Variable
from gordon_core.observation import Port, Protocol
from gordon_shell.docker_create import creation
from gordon_shell.docker_endpoint import Endpoint
from gordon_shell.docker_engine import DockerEngine
from gordon_shell.docker_made import image, made
from gordon_shell.docker_settings import ASKED_LABEL
from tests.engine_fixtures import IMAGE, SILENT, Containers

ID = "4f2a" * 16
EVERYWHERE = "0.0.0.0"  # noqa: S104 - what an operator may have written
INFO = {"CgroupVersion": "2", "DefaultRuntime": "runc", "LoggingDriver": "json-file"}
DEFAULTS = {
    "Binds": None, "ContainerIDFile": "", "LogConfig": {"Type": "json-file", "Config": {}}, "NetworkMode": "bridge",
    "PortBindings": {}, "RestartPolicy": {"Name": "always", "MaximumRetryCount": 0}, "AutoRemove": True, "VolumesFrom": None,
    "CapAdd": None, "CgroupnsMode": "private", "IpcMode": "private", "OomScoreAdj": 0, "Privileged": False,
    "ReadonlyRootfs": False, "SecurityOpt": None, "ShmSize": 67108864, "Runtime": "runc", "ConsoleSize": [24, 80],
    "Isolation": "default", "Memory": 0, "Devices": [], "MemorySwap": 0, "MemorySwappiness": None, "OomKillDisable": None,
    "PidsLimit": None, "Init": None, "ReadonlyPaths": ["/proc/bus", "/proc/sysrq-trigger"],
    "MaskedPaths": ["/proc/asound", "/proc/acpi", "/sys/devices/system/cpu/cpu0/thermal_throttle", "/sys/firmware"],
}  # fmt: skip


def container(host: object = None, networks: object = None, image_config: object = None, **config: object) -> Blueprint:
    """Read a container that is the engine's defaults but for this."""
    whole = {
        "Id": ID,
        "Name": "/shop",
        "Image": "sha256:1",
        "Config": {"Image": "shop:1", "Hostname": ID[:12], **config},
        "HostConfig": {**DEFAULTS, **(host if isinstance(host, dict) else {})},
        "NetworkSettings": {"Networks": {"bridge": {}} if networks is None else networks},
    }
    found = made(whole, image_config if isinstance(image_config, dict) else {}, INFO)
    assert "sha256:1" == found.image_id
    return found.blueprint


def test_the_defaults_of_an_engine_are_nothing() -> None:
    assert Blueprint("shop:1") == container()


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("Memory", 1048576, "1048576"),
        ("CgroupnsMode", "host", '"host"'),
        ("IpcMode", "host", '"host"'),
        ("Runtime", "kata", '"kata"'),
        ("LogConfig", {"Type": "journald", "Config": {"tag": "x"}}, '{"Config":{"tag":"x"},"Type":"journald"}'),
        ("ShmSize", 1, "1"),
        ("Init", False, "false"),
        ("MemorySwappiness", 0, "0"),
        ("MaskedPaths", [], "[]"),
        ("MaskedPaths", ["/proc/kcore", "/home"], '["/proc/kcore","/home"]'),
        ("Tmpfs", {"/b": "", "/a": "size=1m"}, '{"/a":"size=1m","/b":""}'),
        ("Mounts", [{"Type": "tmpfs", "Target": "/t"}], '[{"Target":"/t","Type":"tmpfs"}]'),
        ("Binds", ["/a:/b:rshared"], '["/a:/b:rshared"]'),
        ("SomethingNew", {"of": "tomorrow"}, '{"of":"tomorrow"}'),
    ],
)
def test_whatever_an_operator_set_is_carried(name: str, value: object, text: str) -> None:
    assert (Setting(name, text),) == container({name: value}).settings


def test_a_swap_limit_that_follows_from_the_memory_limit_is_not_asked_for() -> None:
    assert (Setting("Memory", "5"),) == container({"Memory": 5, "MemorySwap": 10}).settings
    assert (Setting("Memory", "5"), Setting("MemorySwap", "-1")) == container({"Memory": 5, "MemorySwap": -1}).settings


def test_a_container_of_a_deploy_has_only_what_the_deploy_asked_for_whatever_its_engine_adds() -> None:
    host = {"Memory": 5, "MemorySwap": 7, "LogConfig": {"Type": "json-file", "Config": {"max-size": "1m"}}, "ShmSize": 9}
    assert (Setting("Memory", "5"),) == container(host, Labels={ASKED_LABEL: "Memory,CapAdd"}).settings
    assert () == container(host, Labels={ASKED_LABEL: ""}).settings


def test_host_names_and_stop_signals_of_its_own_are_carried() -> None:
    assert (Setting("UTSMode", '"host"'),) == container({"UTSMode": "host"}, Hostname="machine").settings
    assert () == container({"NetworkMode": "host"}, {"host": {}}, Hostname="machine").settings
    assert (Setting("Hostname", '"shop"'),) == container(Hostname="shop").settings
    assert () == container(image_config={"StopSignal": "SIGINT"}, StopSignal="SIGINT").settings
    assert (Setting("StopSignal", '"SIGINT"'),) == container(StopSignal="SIGINT").settings


def test_volumes_without_a_name_are_carried_unless_the_image_brings_them() -> None:
    volumes = {"/own": {}, "/images": {}}
    assert (Setting("Volumes", '{"/own":{}}'),) == container(image_config={"Volumes": {"/images": {}}}, Volumes=volumes).settings


def test_mounts_are_told_in_either_spelling() -> None:
    mounts = [
        {"Type": "bind", "Source": "/a", "Target": "/b", "ReadOnly": True},
        {"Type": "volume", "Source": "v", "Target": "/v"},
        {"Type": "volume", "Target": "/nameless"},
    ]
    seen = container({"Mounts": mounts, "Binds": ["/c:/d", "w:/w:ro"]})
    assert (
        Mount("/a", "/b", read_only=True),
        Mount("v", "/v"),
        Mount("/c", "/d"),
        Mount("w", "/w", read_only=True),
    ) == seen.mounts
    assert (Setting("Mounts", '[{"Target":"/nameless","Type":"volume"}]'),) == seen.settings


def test_networks_begin_with_the_one_that_it_was_made_in_by_name_or_id() -> None:
    networks = {"a": {"NetworkID": "1"}, "b": {"NetworkID": "2"}, "c": {}}
    assert ("b", "a", "c") == container({"NetworkMode": "b"}, networks).networks
    assert ("b", "a", "c") == container({"NetworkMode": "2"}, networks).networks
    assert ("bridge", "n") == container({"NetworkMode": "default"}, {"n": {}, "bridge": {}}).networks
    assert ("host",) == container({"NetworkMode": "host"}, {"host": {}}).networks
    assert (f"container:{ID}",) == container({"NetworkMode": f"container:{ID}"}, {}).networks


def test_further_names_in_networks_are_carried_but_not_those_that_the_engine_gave() -> None:
    networks = {"n": {"Aliases": ["shop", ID[:12], "web", "db"]}, "m": {"Aliases": None}}
    assert (Setting("Aliases", '{"n":["db","web"]}'),) == container({"NetworkMode": "n"}, networks).settings


def test_ports_are_once_each_ranges_and_all_published_ones_ephemeral() -> None:
    ports = {
        "80/tcp": [{"HostIp": EVERYWHERE, "HostPort": "8080"}, {"HostIp": "::", "HostPort": "8080"}],
        "53/udp": [{"HostPort": ""}],
        "9/sctp": [{"HostPort": "9"}],
        "81/tcp": [{"HostPort": "8000-8010"}],
    }
    expected = (Publication(Port(53, Protocol.UDP)), Publication(Port(80), 8080), Publication(Port(81)))
    assert expected == container({"PortBindings": ports}).ports
    assert (Publication(Port(7)),) == container({"PublishAllPorts": True}, ExposedPorts={"7/tcp": {}}).ports


def test_an_environment_has_each_name_once_the_last_one_holds() -> None:
    seen = container(Env=["A=1", "B=x=y", "A=2", "GONE", "=odd"], image_config={"Env": ["B=x=y"]})
    assert (Variable("A", "2"),) == seen.environment


def test_devices_are_told_as_the_command_line_has_them() -> None:
    devices = [
        {"PathOnHost": "/dev/a", "PathInContainer": "/dev/a", "CgroupPermissions": "rwm"},
        {"PathOnHost": "/dev/b", "PathInContainer": "/dev/c", "CgroupPermissions": "r"},
    ]
    assert ("/dev/a", "/dev/b:/dev/c:r") == container({"Devices": devices}).devices


def test_a_health_check_is_that_of_the_image_or_its_own_in_seconds() -> None:
    check = {"Test": ["CMD", "true"], "Interval": 1_500_000_000, "Retries": 2}
    assert HealthCheck(("CMD", "true"), 1.5, retries=2) == container(Healthcheck=check).health
    assert container(Healthcheck=check, image_config={"Healthcheck": check}).health is None
    assert (
        HealthCheck(("CMD", "true"), retries=2)
        == container(Healthcheck=check, image_config={"Healthcheck": {**check, "Retries": 1}}).health
    )
    assert container(Healthcheck={"Interval": 5}).health is None


@pytest.mark.parametrize("broken", [{"Config": []}, {"Id": ID, "Config": {"Env": ["A=hunter2", 5]}}, []])
def test_an_answer_that_no_engine_gives_is_told_without_a_value(broken: object) -> None:
    with pytest.raises(ValueError, match=r"is a .*, not a ") as caught:
        made(broken, {}, INFO)
    assert "hunter2" not in str(caught.value)


def test_an_image_without_a_config_is_plain() -> None:
    seen = image({"Id": "sha256:1", "Config": None})
    assert ("sha256:1", False, (), ()) == (seen.image_id, seen.has_health_check, seen.labels, seen.ports)


SETTINGS = st.lists(
    st.sampled_from([("CapAdd", '["x"]'), ("Hostname", '"x"'), ("Init", "false"), ("Memory", "7"), ("Tty", "true")]), unique=True
)
BLUEPRINTS = st.builds(
    Blueprint,
    st.just("shop:1"),
    command=st.sampled_from([(), ("a",), ("a", "b c")]),
    entrypoint=st.sampled_from([(), ("a",)]),
    environment=st.dictionaries(st.sampled_from(["A", "B"]), st.text().filter(lambda text: "\0" not in text)).map(
        lambda found: tuple(Variable(*each) for each in found.items())
    ),
    labels=st.dictionaries(st.sampled_from(["a", "b"]), st.text()).map(lambda found: tuple(sorted(found.items()))),
    ports=st.sampled_from([(), (Publication(Port(53, Protocol.UDP)), Publication(Port(80), 8080))]),
    mounts=st.sampled_from([(), (Mount("/a", "/b"), Mount("v", "/v", read_only=True))]),
    devices=st.sampled_from([(), ("/dev/a", "/dev/b:/dev/c:r")]),
    networks=st.sampled_from([(), ("n",)]),
    user=st.sampled_from(["", "1:2"]),
    working_directory=st.sampled_from(["", "/w"]),
    health=st.none()
    | st.builds(HealthCheck, st.just(("CMD", "a")), st.sampled_from([0.0, 0.001, 90.0]), retries=st.integers(0, 9)),
    settings=SETTINGS.map(lambda found: tuple(Setting(*each) for each in sorted(found))),
    stop_grace_s=st.integers(0, 86400).map(float),
)


@given(BLUEPRINTS)
def test_what_is_asked_for_is_read_again(blueprint: Blueprint) -> None:
    body = creation(blueprint, {"gordon.app": "shop"}).body
    host = body.pop("HostConfig")
    networks = {each: {} for each in blueprint.networks or ("bridge",)}
    whole = {"Id": ID, "Image": "sha256:1", "Config": body, "HostConfig": host, "NetworkSettings": {"Networks": networks}}
    assert Made(blueprint, "sha256:1") == made(whole, {}, INFO)


@pytest.fixture
def operator(containers: Containers) -> Iterator[DockerEngine]:
    with DockerEngine(Endpoint(containers.host)) as engine:
        yield engine


@pytest.mark.engine
def test_a_container_of_an_operator_is_made_again_as_it_was(containers: Containers, operator: DockerEngine) -> None:
    client = containers.client
    host = client.create_host_config(
        mem_limit="64m",
        cap_drop=["ALL"],
        read_only=True,
        binds=["/etc:/e:ro"],
        port_bindings={80: (EVERYWHERE, 28095)},
        ipc_mode="host",
    )
    created = client.create_container(
        IMAGE, list(SILENT), name=f"{containers.prefix}-old", host_config=host, ports=[80], hostname="shop"
    )
    containers.adopt(created["Id"])
    found = operator.made(created["Id"])
    assert isinstance(found, Made)
    settings = {"CapDrop": '["ALL"]', "Hostname": '"shop"', "IpcMode": '"host"', "Memory": "67108864", "ReadonlyRootfs": "true"}
    expected = Blueprint(
        IMAGE,
        SILENT,
        ports=(Publication(Port(80), 28095),),
        mounts=(Mount("/etc", "/e", read_only=True),),
        settings=tuple(Setting(*each) for each in sorted({**settings, **_label(found, "SecurityOpt")}.items())),
    )
    assert expected == found.blueprint
    operator.create(f"{containers.prefix}-new", found.blueprint, {})
    again = next(each.container_id for each in operator.rows() if each.name == f"{containers.prefix}-new")
    containers.adopt(again)
    assert found == operator.made(again)


def _label(found: Made, name: str) -> dict[str, str]:
    """Return what an engine with labels of security adds by itself."""
    return {each.name: each.value for each in found.blueprint.settings if each.name == name}


@pytest.mark.engine
def test_several_networks_and_further_names_are_made_again(containers: Containers, operator: DockerEngine) -> None:
    names = [f"{containers.prefix}-{each}" for each in ("b", "a", "c")]
    networks = [containers.client.create_network(each, ipam=IPAMConfig())["Id"] for each in names]
    aliases = Setting("Aliases", f'{{"{names[1]}":["db"],"{names[0]}":["web"]}}')
    blueprint = Blueprint(IMAGE, SILENT, networks=(names[0], names[1], names[2]), settings=(aliases,), stop_grace_s=1.0)
    try:
        operator.create(f"{containers.prefix}-x", blueprint, {})
        made_id = next(each.container_id for each in operator.rows() if each.name == f"{containers.prefix}-x")
        containers.adopt(made_id)
        for _ in range(2):
            assert blueprint == getattr(operator.made(made_id), "blueprint", None)
            operator.start(made_id)
    finally:
        operator.remove(next(each.container_id for each in operator.rows() if each.name == f"{containers.prefix}-x"), force=True)
        for each in networks:
            containers.client.remove_network(each)
