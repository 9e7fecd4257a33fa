"""The mark of a hook, and the version of the hooks. `thinstack.plugins.kinds` lists the hooks.

Some hooks, and some parts of contracts, came with version N of the hooks. A plugin that uses one
says so in its module: `THINSTACK_HOOKS = N`, an int. An older thinstack then leaves the plugin out,
without calling its hooks, and says what to upgrade. A plugin without this line counts as written
for any version. The versions:

1. `thinstack_cells`, `thinstack_heads`, `thinstack_embeddings`, `thinstack_encoders`,
   `thinstack_parsers`, `thinstack_readers`, `thinstack_bundles`.
2. `thinstack_tasks`, `thinstack_lessons`.
"""

import pluggy

__all__ = ["HOOK_VERSION", "hookimpl"]

PROJECT = "thinstack"

HOOK_VERSION = 2
"""Version of the hooks: it grows when there are more of them, and when a contract changes."""

hookimpl = pluggy.HookimplMarker(PROJECT)
"""The decorator of a function that implements a hook."""
