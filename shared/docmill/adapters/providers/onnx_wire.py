"""ONNX files, read and written: only the parts of the format that the local model's graph needs.

The format is protocol buffers; the field numbers are those of ``onnx.proto`` (https://onnx.ai/onnx/intro/concepts.html,
https://protobuf.dev/programming-guides/encoding/).
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

#: Operators that only onnxruntime has.
CONTRIBUTED: Final = "com.microsoft"

_TENSOR_TYPES: Final[Mapping[int, npt.DTypeLike]] = {1: np.float32, 2: np.uint8, 3: np.int8, 6: np.int32, 7: np.int64}
_TYPE_NUMBERS: Final = {np.dtype(kind): number for number, kind in _TENSOR_TYPES.items()}
_IR_VERSION: Final = 8
_OPSET_VERSION: Final = 18
_CONTRIBUTED_VERSION: Final = 1
_VARINT: Final = 0
_FIXED64: Final = 1
_BYTES: Final = 2
_FIXED32: Final = 5


def read_constants(model: bytes) -> dict[str, Array]:
    """The constants (``initializer``) of a model's graph by name, in the file's order; the arrays are views of ``model``.

    Only those of the types float32, uint8, int8, int32 and int64 whose values are stored as raw bytes.

    Raises:
        ValueError: ``model`` is not of this form.
    """
    constants = {}
    for graph in _fields(memoryview(model), 7):
        for tensor in _fields(graph, 5):
            named = _tensor(tensor)
            if named is not None:
                constants[named[0]] = named[1]
    return constants


class Graph:
    """A graph under construction. Values are known by the names that the methods return."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._names = 0

    def constant(self, array: Array) -> str:
        """A value that is always ``array``."""
        name = self._new_name()
        tensor = b"".join(_int_field(1, size) for size in array.shape)
        tensor += _int_field(2, _TYPE_NUMBERS[array.dtype]) + _text_field(8, name) + _bytes_field(9, array.tobytes())
        self._parts.append(_bytes_field(5, tensor))
        return name

    def input(self, name: str, kind: npt.DTypeLike, shape: Sequence[int | str]) -> str:
        """A value that the caller gives; a dimension that is a name may have any size."""
        self._parts.append(_bytes_field(11, _value(name, kind, shape)))
        return name

    def node(self, operator: str, inputs: Sequence[str], *, domain: str = "", **attributes: float) -> str:
        """The only output of ``operator``; an input that is left out is ``""``."""
        return self.nodes(operator, inputs, outputs=1, domain=domain, **attributes)[0]

    def nodes(self, operator: str, inputs: Sequence[str], *, outputs: int, domain: str = "", **attributes: float) -> list[str]:
        """All outputs of ``operator``."""
        results = [self._new_name() for _ in range(outputs)]
        node = b"".join(_text_field(1, name) for name in inputs) + b"".join(_text_field(2, name) for name in results)
        node += _text_field(4, operator) + b"".join(_attribute(name, value) for name, value in attributes.items())
        self._parts.append(_bytes_field(1, node + _text_field(7, domain)))
        return results

    def model(self, output: str, kind: npt.DTypeLike, shape: Sequence[int | str]) -> bytes:
        """The finished model, whose only result is ``output``."""
        graph = b"".join((_text_field(2, "graph"), *self._parts, _bytes_field(12, _value(output, kind, shape))))
        opsets = (("", _OPSET_VERSION), (CONTRIBUTED, _CONTRIBUTED_VERSION))
        imports = b"".join(_bytes_field(8, _text_field(1, domain) + _int_field(2, version)) for domain, version in opsets)
        return _int_field(1, _IR_VERSION) + imports + _bytes_field(7, graph)

    def _new_name(self) -> str:
        self._names += 1
        return f"v{self._names}"


def _attribute(name: str, value: float) -> bytes:
    if isinstance(value, int):
        content = _int_field(3, value & 0xFFFF_FFFF_FFFF_FFFF) + _int_field(20, 2)
    else:
        content = _key(2, _FIXED32) + struct.pack("<f", value) + _int_field(20, 1)
    return _bytes_field(5, _text_field(1, name) + content)


def _value(name: str, kind: npt.DTypeLike, shape: Sequence[int | str]) -> bytes:
    sizes = (_text_field(2, size) if isinstance(size, str) else _int_field(1, size) for size in shape)
    dimensions = b"".join(_bytes_field(1, size) for size in sizes)
    tensor = _int_field(1, _TYPE_NUMBERS[np.dtype(kind)]) + _bytes_field(2, dimensions)
    return _text_field(1, name) + _bytes_field(2, _bytes_field(1, tensor))


def _key(field: int, wire_type: int) -> bytes:
    return _varint(field << 3 | wire_type)


def _varint(value: int) -> bytes:
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)


def _int_field(field: int, value: int) -> bytes:
    return _key(field, _VARINT) + _varint(value)


def _bytes_field(field: int, content: bytes) -> bytes:
    return _key(field, _BYTES) + _varint(len(content)) + content


def _text_field(field: int, text: str) -> bytes:
    return _bytes_field(field, text.encode())


def _tensor(message: memoryview) -> tuple[str, Array] | None:
    shape, name, kind = [], "", 0
    raw: memoryview | None = None
    for field, value in _parsed(message):
        if isinstance(value, int):
            if field == 1:
                shape.append(value)
            elif field == 2:
                kind = value
        elif field == 1:
            shape.extend(_packed(value))
        elif field == 8:
            name = bytes(value).decode()
        elif field == 9:
            raw = value
    if raw is None or kind not in _TENSOR_TYPES:
        return None
    return name, np.frombuffer(raw, _TENSOR_TYPES[kind]).reshape(shape)


def _fields(message: memoryview, wanted: int) -> Iterator[memoryview]:
    return (value for field, value in _parsed(message) if field == wanted and isinstance(value, memoryview))


def _parsed(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Each field's number with its value: an int, or the bytes of anything that is not a varint."""
    at = 0
    while at < len(message):
        key, at = _varint_at(message, at)
        field, wire_type = key >> 3, key & 7
        if wire_type == _VARINT:
            value, at = _varint_at(message, at)
            yield field, value
            continue
        if wire_type == _BYTES:
            size, at = _varint_at(message, at)
        elif wire_type in (_FIXED32, _FIXED64):
            size = 4 if wire_type == _FIXED32 else 8
        else:
            raise ValueError(f"not an ONNX file: wire type {wire_type}")
        if at + size > len(message):
            raise ValueError("not an ONNX file: it ends inside a field")
        yield field, message[at : at + size]
        at += size


def _packed(message: memoryview) -> Iterator[int]:
    at = 0
    while at < len(message):
        value, at = _varint_at(message, at)
        yield value


def _varint_at(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message):
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
    raise ValueError("not an ONNX file: it ends inside a number")
