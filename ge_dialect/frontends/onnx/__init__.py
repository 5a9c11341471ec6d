"""Reads ONNX models.

`load.py` opens a file and leaves its weights there (`wire.py` finds them, `tensors.py` and
`external.py` name them, `validate.py` checks the graph), `normalize.py` takes spellings out of it,
`input_shapes.py` fixes its shapes.
"""
