"""`distances.v1`: a parser by distances between words."""

from thinstack.plugins.parsers.distances.parser import Distances

__all__ = ["Distances"]
