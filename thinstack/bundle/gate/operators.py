"""The operators that an ONNX file may have: those that the models of thinstack need, and no others.

An export that needs another operator fails. `tests/export/test_operators.py` exports every
registered part, and fails if no export needs some of them.
"""

from typing import Final

_NAMES = """
    Abs Add And ArgMax BatchNormalization Cast Clip Compress Concat Constant ConstantOfShape CumSum
    DequantizeLinear Div Einsum Equal Erf Expand Gather GatherElements GatherND Gemm Greater
    GreaterOrEqual Identity If LSTM LayerNormalization Less LessOrEqual LogSoftmax Loop MatMul Max
    Min Mod Mul Not QuantizeLinear Range ReduceMax ReduceSum Relu Reshape Round ScatterElements
    ScatterND Shape Sigmoid Slice Softmax Split Squeeze Sub Tanh TopK Transpose Unique Unsqueeze
    Where
"""
OPERATORS: Final = frozenset(_NAMES.split())
