"""Every kind of input."""

from fuzz import (
    command_targets,
    model_targets,
    spacy_targets,
    table_targets,
    text_targets,
    tree_targets,
)

_ROOMS = tree_targets, table_targets, text_targets, model_targets, spacy_targets, command_targets
TARGETS = {kind: target for room in _ROOMS for kind, target in room.TARGETS.items()}
