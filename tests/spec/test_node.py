"""What a node of the language promises, whatever its keys are."""

from __future__ import annotations

import copy
import pickle

import pytest
from pydantic import BaseModel
from pydantic_core import ValidationError

from benchspec.spec.models import Device, Load, Model, Place, Prompt, Sampling, Spec
from benchspec.spec.models import Test as SpecTest
from benchspec.spec.scalars import Float, Int

SPEC = {"benchspec": 1, "study": {"title": "x"}}


def test_is_frozen() -> None:
    place = Place(arm="A")
    with pytest.raises(AttributeError, match="frozen"):
        place.arm = "B"


def test_refuses_unknown_keys_and_conversions() -> None:
    for wrong in ({"arn": "A"}, {"concurrency": "4"}, {"concurrency": True}, {"concurrency": 1.5}):
        with pytest.raises(ValidationError):
            Place(**wrong)
    with pytest.raises(ValidationError):
        Prompt(unique=1)


def test_remembers_what_was_written() -> None:
    place = Place(arm="A", concurrency=None)
    assert place.model_fields_set == {"arm", "concurrency"}
    assert place.stated() == {"arm": "A", "concurrency": None}
    assert place.model_dump(exclude_none=True) == {"arm": "A"}


def test_defaults_are_nodes_and_are_not_shared() -> None:
    one, other = Spec.model_validate(SPEC), Spec.model_validate(SPEC)
    assert isinstance(one.workload.prompt, Prompt)
    assert one.workload.prompt.unique
    assert one.load == Load()
    assert one.load.concurrency is not other.load.concurrency


def test_equal_means_equal_values() -> None:
    assert Place(arm="A") == Place(arm="A", rate=None)
    assert Place(arm="A") != Place(arm="B")
    assert Place() != Sampling()


def test_survives_copies_and_pickles() -> None:
    device = Device(id="gpu0", memory="64 GB")
    for twin in (copy.copy(device), copy.deepcopy(device), pickle.loads(pickle.dumps(device))):
        assert twin == device
        assert twin.model_fields_set == device.model_fields_set


def test_can_be_part_of_a_record_and_of_its_json() -> None:
    class Record(BaseModel):
        device: Device
        sampling: Sampling

    record = Record(device=Device(id="gpu0", memory="64 GB"), sampling=Sampling(seed=1))
    assert '"memory":"64 GB"' in record.model_dump_json()
    assert Record.model_validate_json(record.model_dump_json(exclude_unset=True)) == record


def test_text_is_kept_as_written_and_numbers_are_plain() -> None:
    model = Model(name=Float(1.1, "1.10"), layers=Int(17, "017"), hidden_size=Float(4e3, "4e3"))
    assert model.name == "1.10"
    assert (type(model.layers), type(model.hidden_size)) == (int, int)
    assert Model(sha256=Int(10**63, "1" + "0" * 63)).sha256 == "1" + "0" * 63


def test_one_item_may_stand_for_a_list() -> None:
    assert Load(concurrency=4, cache="cold").concurrency == [4]
    assert Load(concurrency=[1, 2]).concurrency == [1, 2]


def test_a_threshold_is_a_number_or_text() -> None:
    assert SpecTest(value=Float(1.2, "1.20")).value == 1.2
    assert SpecTest(value="265..315 GB/s").value == "265..315 GB/s"
    wrong: object
    for wrong in (True, [1], {}):
        with pytest.raises(ValidationError, match="a number or text is wanted"):
            SpecTest(value=wrong)


def test_limits_of_a_key_hold_inside_those_of_its_type() -> None:
    for wrong in ({"concurrency": [65_537]}, {"concurrency": [0]}, {"requests": 10_000_001}):
        with pytest.raises(ValidationError):
            Load(**wrong)
    with pytest.raises(ValidationError):
        Spec.model_validate(SPEC | {"benchspec": 2})
