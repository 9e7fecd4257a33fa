"""Specs: names, options and what a builder returns."""

import dataclasses

import pytest
from pydantic import BaseModel, ConfigDict, Field

from thinstack.errors import ConfigError, DataError, PluginError
from thinstack.plugins import CellSpec, HeadSpec


class Options(BaseModel):
    arity: int = Field(default=2, ge=1)
    gate: str = "sigmoid"


class FakeCell:
    def __init__(self, **arguments: object):
        self.arguments = arguments

    def compose(self) -> None: ...


class FakeHead(FakeCell):
    def loss(self) -> None: ...


def cell(**changes: object) -> CellSpec:
    return CellSpec(**{"name": "fake.v1", "build": FakeCell, "config": Options} | changes)


@pytest.mark.parametrize("name", ["a.v1", "nary_lstm.v12", "x2_y.v0"])
def test_versioned_names_are_taken(name: str) -> None:
    assert cell(name=name).name == name


@pytest.mark.parametrize("name", ["", "lstm", "lstm.1", "lstm.v", "Lstm.v1", "2lstm.v1", "tree-lstm.v1", "a.b.v1", "a.v1\n", 3])
def test_other_names_are_refused(name: object) -> None:
    with pytest.raises(PluginError, match=r"'my_name\.v1'"):
        cell(name=name)
    with pytest.raises(PluginError, match="head name"):
        HeadSpec(name=name, build=FakeHead, config=Options)


@pytest.mark.parametrize(("field", "value"), [("build", None), ("build", "module:f"), ("config", dict), ("config", Options())])
def test_a_field_of_the_wrong_type_is_refused(field: str, value: object) -> None:
    with pytest.raises(PluginError, match=rf"'fake\.v1': {field} must be"):
        cell(**{field: value})


def test_specs_are_frozen_and_slotted() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        cell().name = "other.v1"
    assert not hasattr(cell(), "__dict__")


def test_build_gets_sizes_and_validated_options() -> None:
    arguments = cell().create({"arity": "3"}, input_size=5, hidden_size=7).arguments
    options = arguments.pop("options")
    assert arguments == {"input_size": 5, "hidden_size": 7}
    assert isinstance(options, Options)
    assert (options.arity, options.gate) == (3, "sigmoid")

    head = HeadSpec(name="fake.v1", build=FakeHead, config=Options).create({}, hidden_size=7, classes=2)
    assert {key: head.arguments[key] for key in ("hidden_size", "classes")} == {"hidden_size": 7, "classes": 2}


@pytest.mark.parametrize(("options", "field"), [({"arity": 0}, "arity"), ({"arity": "two"}, "arity"), ({"gate": None}, "gate")])
def test_a_bad_option_is_refused_by_plugin_and_field(options: dict, field: str) -> None:
    with pytest.raises(ConfigError, match=rf"options of cell 'fake\.v1': {field}: ") as caught:
        cell().create(options, input_size=1, hidden_size=1)
    assert repr(options[field]) in str(caught.value)


def test_an_unknown_option_is_refused_and_the_known_ones_are_named() -> None:
    with pytest.raises(ConfigError, match=r"'fake\.v1': arty: .*known options: arity, gate"):
        cell().create({"arty": 3}, input_size=1, hidden_size=1)


def test_an_alias_is_a_known_option() -> None:
    class Aliased(BaseModel):
        arity: int = Field(alias="N")

    assert cell(config=Aliased).parse({"N": 3}).arity == 3
    with pytest.raises(ConfigError, match="N: Field required"):
        cell(config=Aliased).parse({})


def test_a_config_may_ask_for_options_it_does_not_know() -> None:
    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")

    assert cell(config=Open).parse({"anything": 1}).anything == 1


def test_a_builder_that_raises_is_named() -> None:
    def build(**_: object) -> None:
        raise RuntimeError("no such gate")

    with pytest.raises(PluginError, match=r"cell 'fake\.v1' could not be built: RuntimeError: no such gate") as caught:
        cell(build=build).create({}, input_size=1, hidden_size=1)
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_a_builders_own_typed_error_is_kept() -> None:
    def build(**_: object) -> None:
        raise DataError("expected 2 columns")

    with pytest.raises(DataError, match=r"^expected 2 columns$"):
        cell(build=build).create({}, input_size=1, hidden_size=1)


def test_a_builder_must_return_what_its_spec_promises() -> None:
    with pytest.raises(PluginError, match=r"must return a thinstack\.core\.cell\.Cell, found None"):
        cell(build=lambda **_: None).create({}, input_size=1, hidden_size=1)
    spec = HeadSpec(name="fake.v1", build=FakeCell, config=Options)
    with pytest.raises(PluginError, match=r"must return a thinstack\.core\.head\.TaskHead"):
        spec.create({}, hidden_size=1, classes=2)
