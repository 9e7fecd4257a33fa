"""`spinn.v1`: the encoder that parses as it composes, its tracking LSTM, and their ONNX writers
(Bowman et al. 2016)."""

from thinstack.plugins.encoders.spinn.stack_encoder import StackEncoder

__all__ = ["StackEncoder"]
