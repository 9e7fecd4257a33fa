"""Files for GPUs of all further kinds of models, by the tests of `test_gpu_models.py`."""

import pytest
from registered_models import parts_of, registered, registered_models
from test_gpu_models import (  # noqa: F401  # pytest finds these tests here, with the models of here
    EXACT,
    KINDS,
    USUAL,
    export,
    furthest,
    made,
    test_a_file_for_gpus_gives_what_torch_gives,
    test_a_file_for_gpus_is_valid_and_names_the_nodes_of_the_host,
    test_nothing_crosses_in_a_step,
    test_only_the_deepest_levels_are_a_loop,
)


@pytest.fixture(scope="module", params=sorted(KINDS.keys() - {*USUAL}))
def kind(request):
    return made(request.param)


def test_every_registered_part_answers_as_torch_does():
    differences, parts = {}, set()
    for name, model, config in registered_models():
        differences[name] = furthest(export(model, config), model)
        parts |= parts_of(config)
    assert {name: found for name, found in differences.items() if not found <= EXACT} == {}
    assert registered("cell", "head", "embedding", "encoder", "parser") <= parts
