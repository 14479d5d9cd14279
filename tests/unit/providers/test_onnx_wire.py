"""ONNX files, written and read."""

import numpy as np
import onnxruntime
import pytest

from docmill.adapters.providers.onnx_wire import Array, Graph, read_constants


def test_constants_are_read_as_they_were_written() -> None:
    arrays: list[Array] = [
        np.array([[1.5, -2.0, 1e-30]], np.float32),
        np.arange(600, dtype=np.int64).reshape(2, 300),
        np.array([-128, 127], np.int8),
        np.array([0, 255], np.uint8),
        np.array(7, np.int32),
    ]
    graph = Graph()
    names = [graph.constant(array) for array in arrays]
    constants = read_constants(graph.model("nothing", np.float32, (1,)))
    assert list(constants) == names
    for array, name in zip(arrays, names, strict=True):
        assert constants[name].dtype == array.dtype
        assert constants[name].shape == array.shape
        assert (constants[name] == array).all()


def test_a_graph_runs_as_it_was_built() -> None:
    graph = Graph()
    given = graph.input("given", np.float32, (1, "length"))
    first, second = graph.nodes("Split", [given], outputs=2, axis=-1, num_outputs=2)
    halves = graph.node("Elu", [graph.node("Sub", [first, second])], alpha=0.5)
    model = graph.model(halves, np.float32, (1, "half"))
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    [result] = session.run(None, {"given": np.array([[1, 2, 0, 9]], np.float32)})
    assert result == pytest.approx(np.array([[1.0, 0.5 * np.expm1(-7.0)]]))


@pytest.mark.parametrize("content", [b"\x3a", b"\x3a\x7f", b"\x3a\x05ab", b"\xff\xff\xff", b"<html>"])
def test_what_is_not_such_a_file_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="not an ONNX file"):
        read_constants(content)
