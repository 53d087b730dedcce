"""JSON for the columns of the state: exact, terse, strict."""

from time import process_time

import pytest
from attrs import frozen

from gordon_core.blueprint import Blueprint
from gordon_core.memory import Memory
from gordon_core.observation import Port, Protocol
from gordon_core.snapshot import Declared
from gordon_shell.codec import build, from_json, parse, plain, to_json
from gordon_shell.errors import DocumentError
from tests.deploys import BLUEPRINT


@frozen
class Mixed:
    number: float
    flag: bool = False
    word: str | None = None
    ports: tuple[Port, ...] = ()
    pairs: tuple[tuple[str, int], ...] = ()


def test_what_is_as_by_default_is_not_written() -> None:
    assert "{}" == to_json(Memory())
    assert '{"number":1.5,"word":""}' == to_json(Mixed(1.5, word=""))
    assert '{"word":""}' == to_json(Mixed(1.5, word=""), without=("number",))


@pytest.mark.parametrize(
    "value",
    [
        Mixed(0.1),
        Mixed(1e300, flag=True, word="\ud800\x00"),
        Mixed(-0.0, ports=(Port(1), Port(2))),
        Mixed(1.0, pairs=(("a", 1), ("", 0))),
    ],
)
def test_what_was_written_comes_back(value: Mixed) -> None:
    assert value == from_json(Mixed, to_json(value))
    assert value == build(Mixed, plain(value))


def test_plain_values_are_complete() -> None:
    expected = {"number": 1, "flag": False, "word": None, "ports": [{"number": 53, "protocol": "udp"}], "pairs": [["a", 1]]}
    assert expected == plain(Mixed(1, ports=(Port(53, Protocol.UDP),), pairs=(("a", 1),)))


@pytest.mark.parametrize("value", [Blueprint("shop:1"), BLUEPRINT])
def test_a_blueprint_comes_back_exactly(value: Blueprint) -> None:
    assert value == from_json(Blueprint, to_json(value))
    assert value == build(Blueprint, plain(value))


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ({"number": True}, "$.number: expected a number, found true or false"),
        ({"number": 10**400}, "$.number: expected a finite number of at most 1.8e+308"),
        ({"number": float("-inf")}, "$.number: expected a finite number of at most 1.8e+308"),
        ({"number": float("nan")}, "$.number: expected a finite number of at most 1.8e+308"),
        ({"number": 1, "flag": 0}, "$.flag: expected true or false, found a whole number"),
        ({"number": 1, "word": ["x"]}, "$.word: expected text, found a list"),
        ({"number": 1, "word": {}}, "$.word: expected text, found an object"),
        ({"number": 1, "ports": "80"}, "$.ports: expected a list, found '80'"),
        ({"number": 1, "ports": [{"number": 0}, 80]}, "$.ports[1]: expected an object, found a whole number"),
        ({"number": 1, "ports": [{"number": 70000}]}, "$.ports[0].number: 'number' must be <= 65535: 70000"),
        ({"number": 1, "ports": [{"number": 80, "protocol": []}]}, "$.ports[0].protocol: expected one of tcp, udp, found a list"),
        ({"number": 1, "pairs": [["a", 1, 2]]}, "$.pairs[0]: expected a list of 2, found one of 3"),
        ({"number": 1, "pairs": [[]]}, "$.pairs[0]: expected a list of 2, found one of 0"),
        ({"number": 1, "pairs": [{}, "ab"]}, "$.pairs[1]: expected a list of 2, found 'ab'"),
        ({"number": 1, "pairs": [["a", "b"]]}, "$.pairs[0][1]: expected a whole number, found 'b'"),
        ({}, "$.number: missing"),
        ("x" * 100, "$: expected an object, found text"),
    ],
)
def test_what_is_wrong_is_named_with_its_path(value: object, fault: str) -> None:
    with pytest.raises(DocumentError) as caught:
        build(Mixed, value)
    assert fault in str(caught.value).split("; ")


def test_every_validator_of_a_value_is_asked() -> None:
    with pytest.raises(DocumentError) as caught:
        build(Declared, {"container_id": "", "revision": 0, "stop_grace_s": -1, "http": {"port": 80}})
    named = [each.split(": ")[0] for each in str(caught.value).split("; ") if each.startswith("$")]
    assert ["$.container_id", "$.revision", "$.stop_grace_s", "$.http"] == named


def test_a_repeated_key_is_refused() -> None:
    with pytest.raises(DocumentError, match="'b' is there twice"):
        parse('{"a": 1, "b": {"b": 2}, "b": 3}')


def test_the_last_of_a_hundred_thousand_keys_is_found_to_be_repeated_at_once() -> None:
    keys = ", ".join(f'"{number}": 0' for number in (*range(100_000), 99_999))
    start = process_time()
    with pytest.raises(DocumentError, match="'99999' is there twice"):
        parse(f"{{{keys}}}")
    assert process_time() - start < 2
