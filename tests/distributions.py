"""Folders of Python with distributions, as if they were installed there."""

HOOK = """from pathlib import Path
from thinstack.plugins import hookimpl

@hookimpl
def thinstack_bundles():
    return {{{name!r}: Path({folder!r})}}
"""


def install(
    folder, name, module, source=None, *, names="", distribution="", version="1", licence=""
):
    """Write a distribution with this entry point, or one more if it is there: of a module, or of a
    class that it `names` in it; and the module unless that is there."""
    distribution = distribution or module.replace("_", "-")
    info = folder / f"{distribution.replace('-', '_')}-{version}.dist-info"
    info.mkdir(exist_ok=True)
    about = f"Metadata-Version: 2.4\nName: {distribution}\nVersion: {version}\n"
    about += f"License-Expression: {licence}\n" if licence else ""
    (info / "METADATA").write_text(about, encoding="utf-8")
    points = info / "entry_points.txt"
    known = points.read_text(encoding="utf-8") if points.exists() else "[thinstack]\n"
    target = f"{module}:{names}" if names else module
    points.write_text(f"{known}{name} = {target}\n", encoding="utf-8")
    if source is not None:
        (folder / f"{module}.py").write_text(source, encoding="utf-8")


def install_bundle(folder, name, bundle):
    """Write a distribution that brings a bundle of this name."""
    source = HOOK.format(name=name, folder=str(bundle))
    install(folder, name, f"brings_{name.replace('-', '_')}", source)
