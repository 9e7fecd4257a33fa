"""Dependency trees in CoNLL-U."""

from collections.abc import Iterable

from thinstack.data.conllu import read_conllu
from thinstack.plugins import ReaderSpec, hookimpl


@hookimpl
def thinstack_readers() -> Iterable[ReaderSpec]:
    """Register `conllu.v1`."""
    return [ReaderSpec(name="conllu.v1", read=read_conllu, summary="CoNLL-U dependency trees")]
