"""Hostile files that pass the gate end in a result or a BundleError, in bounded time and memory."""

import sys
from pathlib import Path

import pytest
from command_line import run_program
from hostile_models import BOMBS, cases, outcome

from thinstack.runtime.isolated import MEMORY, SECONDS

KILLED = {
    "a Split into more parts": "SIGABRT",
    "steps that are none": "SIGSEGV",
    "a condition that is none": "SIGSEGV",
}
"""What ends the process of onnxruntime 1.31, and how."""
ITSELF = 256 << 20
"""Bytes that onnxruntime and numpy take at most, before there is a model."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="how it ends depends on the system")


@pytest.mark.parametrize("name", ["ConstantOfShape", "a value that nothing makes", *KILLED])
def test_such_a_file_is_an_error(name):
    assert KILLED.get(name, "[ONNXRuntimeError]") in outcome(cases()[name])


def test_every_such_file_ends_in_bounded_time_and_memory():
    used = run_program(Path(__file__).with_name("hostile_models.py"))
    outcomes = used["outcomes"]
    assert outcomes.keys() == cases().keys()
    assert all(how in outcomes[name] for name, how in KILLED.items())
    assert "answers" not in [outcomes[name] for name in BOMBS]
    assert used["seconds"] < 2 * (SECONDS + 2)  # to load and to run
    assert used["peak"] < MEMORY + ITSELF
