"""The hooks that a plugin may implement; each takes nothing and returns classes.

A plugin that uses a hook, or a part of a contract, that came with version N of the hooks says so in
its module, as `THINSTACK_HOOKS = N`, an int. A thinstack of an older version then leaves the plugin
out, calls none of its hooks and says what to upgrade. A plugin that does not say is taken to be
written for any version. The versions:

1. `thinstack_cells`, `thinstack_heads`, `thinstack_embeddings`, `thinstack_encoders`,
   `thinstack_readers`.
"""

from typing import Any

import pluggy

from thinstack.plugins.specs import CellSpec, EmbeddingSpec, EncoderSpec, HeadSpec, ReaderSpec

__all__ = ["HOOKS", "HOOK_VERSION", "PROJECT", "hookimpl"]

PROJECT = "thinstack"

HOOK_VERSION = 1
"""Version of the hooks: it grows when there are more of them, and when a contract changes."""

hookimpl = pluggy.HookimplMarker(PROJECT)

HOOKS: dict[str, Any] = {
    "thinstack_cells": CellSpec,
    "thinstack_heads": HeadSpec,
    "thinstack_embeddings": EmbeddingSpec,
    "thinstack_encoders": EncoderSpec,
    "thinstack_readers": ReaderSpec,
}
"""Hooks and what is made of each class that they return."""
