"""`distances.v1`: a parser by syntactic distances."""

from thinstack.plugins.parsers.distances.parser import Distances as Distances
