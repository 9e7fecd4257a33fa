"""SPINN: the encoder that parses as it composes, its tracking LSTM, and their ONNX writers (Bowman
et al. 2016)."""
