"""Bundles: a model as a folder of plain files. Reading, writing, and checks that protect
against malicious bundles."""

from thinstack.bundle.opening import bundled_names, is_installed, open_bundle
from thinstack.bundle.reading import Bundle
from thinstack.bundle.writing import write_bundle

__all__ = ["Bundle", "bundled_names", "is_installed", "open_bundle", "write_bundle"]
