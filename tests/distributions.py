"""Folders of Python with distributions, as if they were installed there."""

HOOK = """from pathlib import Path
from thinstack.plugins import hookimpl

@hookimpl
def thinstack_bundles():
    return {{{name!r}: Path({folder!r})}}
"""


def install(folder, name, module, source=None):
    """Write a distribution with this entry point, and its module unless that is there."""
    info = folder / f"{module}-1.dist-info"
    info.mkdir()
    distribution = module.replace("_", "-")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[thinstack]\n{name} = {module}\n")
    if source is not None:
        (folder / f"{module}.py").write_text(source, encoding="utf-8")


def install_bundle(folder, name, bundle):
    """Write a distribution that brings a bundle of this name."""
    source = HOOK.format(name=name, folder=str(bundle))
    install(folder, name, f"brings_{name.replace('-', '_')}", source)
