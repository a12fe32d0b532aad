"""Writes MiniLM, a BERT of six layers, as an ONNX graph; used once, when the model is installed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto, TensorProto, checker, helper, numpy_helper

Weights: TypeAlias = Mapping[str, npt.NDArray[np.float32]]

HEAD_SIZE = 32
EPSILON = 1e-12
OPSET = 20  # the first with Gelu


def graph_of(weights: Weights) -> ModelProto:
    """`input_ids` and `attention_mask` in, the last hidden states out; the caller takes their mean."""
    graph = _Graph()
    hidden = _embeddings(graph, weights)
    bias = _mask_bias(graph)
    layers = sum(name.endswith("intermediate.dense.weight") for name in weights)
    for number in range(layers):
        hidden = _layer(graph, weights, f"encoder.layer.{number}.", hidden, bias)
    graph.add("Identity", hidden, name="last_hidden_state")
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "minilm",
            [
                helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
                for name in ("input_ids", "attention_mask")
            ],
            [
                helper.make_tensor_value_info(
                    "last_hidden_state", TensorProto.FLOAT, ["texts", "tokens", "hidden"]
                )
            ],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=9,  # the IR version released with this opset, so that older runtimes load it too
    )
    checker.check_model(model)
    return model


class _Graph:
    """Nodes and constants of a graph under construction, with unique names."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def add(self, operator: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        output = name or f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [output], name=output, **attributes))
        return output

    def split(self, value: str, parts: int, axis: int) -> list[str]:
        outputs = [f"split_{len(self.nodes)}_{part}" for part in range(parts)]
        self.nodes.append(
            helper.make_node("Split", [value], outputs, name=outputs[0], axis=axis, num_outputs=parts)
        )
        return outputs

    def constant(self, value: npt.NDArray[Any]) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def numbers(self, *values: int) -> str:
        return self.constant(np.array(values, dtype=np.int64))

    def norm(self, value: str, weights: Weights, prefix: str) -> str:
        scale, bias = (self.constant(weights[prefix + part]) for part in ("weight", "bias"))
        return self.add("LayerNormalization", value, scale, bias, axis=-1, epsilon=EPSILON)

    def dense(self, value: str, matrix: npt.NDArray[np.float32], bias: npt.NDArray[np.float32]) -> str:
        return self.add("Add", self.add("MatMul", value, self.constant(matrix)), self.constant(bias))


def _embeddings(graph: _Graph, weights: Weights) -> str:
    words = graph.add("Gather", graph.constant(weights["embeddings.word_embeddings.weight"]), "input_ids")
    # Every text is of token type 0, so its embedding is added to the positions'.
    places = (
        weights["embeddings.position_embeddings.weight"]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    length = graph.add("Shape", "input_ids", start=1, end=2)
    taken = graph.add("Slice", graph.constant(places), graph.numbers(0), length, graph.numbers(0))
    return graph.norm(graph.add("Add", words, taken), weights, "embeddings.LayerNorm.")


def _mask_bias(graph: _Graph) -> str:
    """0 where there is a token and a large negative number where there is padding, for every head and row."""
    mask = graph.add("Cast", "attention_mask", to=TensorProto.FLOAT)
    missing = graph.add("Sub", graph.constant(np.array(1, dtype=np.float32)), mask)
    bias = graph.add("Mul", missing, graph.constant(np.array(-10_000, dtype=np.float32)))
    return graph.add("Unsqueeze", bias, graph.numbers(1, 2))


def _layer(graph: _Graph, weights: Weights, prefix: str, hidden: str, bias: str) -> str:
    mixed = _attention(graph, weights, prefix + "attention.self.", hidden, bias)
    out = prefix + "attention.output."
    mixed = graph.dense(mixed, weights[out + "dense.weight"].T, weights[out + "dense.bias"])
    hidden = graph.norm(graph.add("Add", mixed, hidden), weights, out + "LayerNorm.")
    wide = prefix + "intermediate.dense."
    grown = graph.add("Gelu", graph.dense(hidden, weights[wide + "weight"].T, weights[wide + "bias"]))
    out = prefix + "output."
    shrunk = graph.dense(grown, weights[out + "dense.weight"].T, weights[out + "dense.bias"])
    return graph.norm(graph.add("Add", shrunk, hidden), weights, out + "LayerNorm.")


def _attention(graph: _Graph, weights: Weights, prefix: str, hidden: str, bias: str) -> str:
    """One matrix product computes queries, keys and values; the query weights are already scaled."""
    scale = np.float32(HEAD_SIZE**-0.5)
    parts = [
        (weights[f"{prefix}{name}.weight"].T, weights[f"{prefix}{name}.bias"])
        for name in ("query", "key", "value")
    ]
    parts[0] = parts[0][0] * scale, parts[0][1] * scale
    size = parts[0][1].shape[0]
    joined = graph.dense(
        hidden, np.concatenate([m for m, _ in parts], axis=1), np.concatenate([b for _, b in parts])
    )
    heads = size // HEAD_SIZE
    shape = graph.numbers(0, 0, 3 * heads, HEAD_SIZE)
    folded = graph.add("Transpose", graph.add("Reshape", joined, shape), perm=[0, 2, 1, 3])
    query, key, value = graph.split(folded, 3, axis=1)
    key = graph.add("Transpose", key, perm=[0, 1, 3, 2])
    scores = graph.add("Softmax", graph.add("Add", graph.add("MatMul", query, key), bias), axis=-1)
    mixed = graph.add("Transpose", graph.add("MatMul", scores, value), perm=[0, 2, 1, 3])
    return graph.add("Reshape", mixed, graph.numbers(0, 0, size))
