"""Long texts are parsed and chunked by a window, in little memory and with the same result."""

from __future__ import annotations

import hashlib
import io
import os
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from penstock.cli.doctor.sandbox_checks import describe
from penstock.embed.local.embedder import wordllama
from penstock.embed.local.frames import ANSWER, OUT_OF_MEMORY, request
from penstock.embed.local.serving import ModelServer
from penstock.errors import DocumentRejected
from penstock.model import Block, Parsed, media
from penstock.model.pipeline_options import Strategy
from penstock.pipeline import text
from penstock.pipeline.chunk import ChunkPlan, chunk, cutting, windows
from penstock.pipeline.chunk.chunk_file import read_batches
from penstock.pipeline.chunk.chunker import chunks_of
from penstock.pipeline.parse.blocks import assembled
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.readers import plain
from penstock.pipeline.parsed_files import ParsedFiles, ParsedWriter, blocks_of
from penstock.pipeline.parser_pool import ParserPool
from penstock.pipeline.reasons import Reason
from penstock.sandbox import Layers
from penstock.settings import Settings

LITTLE_MB = 64


@asynccontextmanager
async def parser_pool(**limits: object) -> AsyncIterator[ParserPool]:
    made = ParserPool(Settings.model_validate({"parse_processes": 1} | limits))
    await made.start()
    try:
        yield made
    finally:
        await made.close()


def log_line(number: int) -> str:
    return (
        f"2024-05-{number % 28 + 1:02d}T{number % 24:02d}:00:{number % 60:02d}Z INFO worker-{number % 13} "
        f"request {number * 2_654_435_761 % 2**32:08x} took {number % 977} ms: "
        f"GET /v1/items/{number} status=200\n"
    )


def various(seed: int, parts: int) -> str:
    """A text with everything that makes cuts hard: long words, blank lines, repeats, tables, white space."""
    rng = random.Random(seed)
    words = ["alpha", "beta", "Gamma.", "Delta?", '"Yes."', "日本語。", "naïve", "x=1", "2024-01-02"]
    words += ["—", "…", "(No!)"]
    made = []
    for _ in range(parts):
        kind = rng.randrange(60)
        if kind < 3:
            made.append("\n\n")
        elif kind < 8:
            made.append("\n")
        elif kind == 8:
            made.append(f"# Heading {rng.randrange(5)}\n")
        elif kind == 9:
            made.append(" " * rng.randrange(1, 300))
        elif kind == 10:
            made.append("z" * rng.randrange(1, 3_000))
        elif kind == 11:
            made.append("the same line again\n" * rng.randrange(1, 80))
        elif kind == 12:
            made.append("| a | b |\n|---|---|\n" + "| 1 | x |\n" * rng.randrange(1, 30))
        else:
            made.append(rng.choice(words) + " ")
    return "".join(made)


async def test_a_long_log_is_parsed_and_chunked_in_little_memory(tmp_path: Path) -> None:
    """4 MB within 64 MB; holding every word of it would take three times that."""
    path = tmp_path / "long.log"
    path.write_text("".join(map(log_line, range(40_000))))
    async with parser_pool(parse_memory_mb=LITTLE_MB) as made:
        files = await made.parse_to(tmp_path, path, mime_type=media.TEXT, filename="long.log")
        count = await made.chunk(files, ChunkPlan())
        batches = list(read_batches(files.chunks))
    assert sum(map(len, batches)) == count > 1_000
    assert max(map(len, batches)) <= 500
    assert batches[-1][-1].text.endswith("status=200")
    assert [one.ordinal for batch in batches for one in batch] == list(range(count))


async def test_chunking_that_needs_too_much_memory_is_oom_and_names_the_setting(tmp_path: Path) -> None:
    heading = "word " * 6_000_000  # a heading is read as a whole
    document = Parsed(heading, (Block("heading", 0, len(heading), level=1),), "test")
    async with parser_pool(parse_memory_mb=LITTLE_MB) as made:
        files = ParsedFiles(tmp_path).keep(document, 1 << 30)
        with pytest.raises(DocumentRejected) as caught:
            await made.chunk(files, ChunkPlan())
    assert caught.value.code == Reason.OOM
    assert "chunking needs more than 64 MB" in str(caught.value)
    assert "PENSTOCK_PARSE_MEMORY_MB" in str(caught.value)
    assert "penstock." not in str(caught.value)


def test_a_model_that_runs_out_of_memory_answers_with_its_own_code() -> None:
    class Hungry:
        threads = 1

        def embed(self, texts: list[str]) -> object:
            raise MemoryError

    answers = io.BytesIO()
    ModelServer(Hungry(), answers).serve(io.BytesIO(request(7, 1, ["a"])))  # type: ignore[arg-type]  # never answers
    assert ANSWER.unpack(answers.getvalue()) == (7, OUT_OF_MEMORY, 0)


@pytest.mark.parametrize("strategy", ["structure", "paragraph", "sentence", "fixed"])
@pytest.mark.parametrize("seed", range(6))
def test_a_text_in_a_file_is_chunked_like_one_in_memory(
    seed: int, strategy: Strategy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    joined, blocks = assembled([(None, various(seed, 700))], plain=seed % 2 == 0)
    document = Parsed(joined, blocks, "test")
    plan = ChunkPlan(strategy, max_tokens=64, overlap=seed * 4)
    whole = chunk(document, plan)
    for module, name, small in (
        (windows, "_WINDOW", 64),
        (windows, "_NEAR", 3),
        (text, "_BLOCK_BYTES", 100),
        (cutting, "_LEARNED", 500),
    ):
        monkeypatch.setattr(module, name, small)
    files = ParsedFiles(tmp_path).keep(document, 1 << 20)
    with files.text.open("rb") as file, files.blocks.open("rb") as records:
        found = chunks_of(text.TextFile(file.fileno(), len(joined)), blocks_of(records.fileno()), plan)
        assert tuple(found) == whole


def test_chunks_are_the_same_as_in_the_previous_release() -> None:
    """Made by the chunker that held the whole document; another digest asks for another CHUNKER_VERSION."""
    digest = hashlib.sha256()
    joined, blocks = assembled([(None, various(7, 3_000) + "".join(map(log_line, range(300))))])
    for strategy in ("structure", "paragraph", "sentence", "fixed"):
        for one in chunk(Parsed(joined, blocks, "test"), ChunkPlan(strategy, max_tokens=128, overlap=20)):
            digest.update(repr((one.ordinal, one.start, one.end, one.token_count, one.heading_path)).encode())
            digest.update(one.input_sha256)
    assert digest.hexdigest() == "ad1aa16b76f4c3b4f5a3aa6b21db032bb3f512cf7389802ece7effe6b127d403"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("size", [1, 7, 64, 1 << 20])
def test_plain_text_read_in_pieces_is_the_same_as_read_at_once(
    encoding: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "\n\n Über \t\r\n\r\n\r\nzwei\x0c Zeilen \u00a0\xad \n \t\n" + various(3, 150) + " \r\n\r"
    if encoding == "cp1252":
        said = said.encode("cp1252", "ignore").decode("cp1252")
    path = tmp_path / "input.txt"
    path.write_bytes(said.encode(encoding))
    reader, source = plain.PlainReader(), ParserInput(path, media.TEXT)
    whole = reader.read(source)
    monkeypatch.setattr(plain, "_PIECE", size)
    files = ParsedFiles(tmp_path)
    opened = [os.open(one, os.O_RDWR | os.O_CREAT) for one in (files.text, files.blocks, files.attachments)]
    try:
        head = reader.read_into(source, ParsedWriter(opened[0], opened[1], opened[2], 1 << 20))
    finally:
        for one in opened:
            os.close(one)
    assert ParsedFiles(tmp_path, head).whole() == whole


async def test_a_local_model_does_not_import_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json", "email", "numpy", "tokenizers"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    embedder = wordllama()
    try:
        await embedder.embed(["a text"])
    finally:
        await embedder.close()
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("layers", "status", "said"),
    [
        (Layers(7, seccomp=True, namespaces=True, users=True), "ok", "Landlock ABI 7"),
        (Layers(7, seccomp=True, namespaces=True, users=True), "ok", "at most 256 threads and processes"),
        (Layers(7, seccomp=True, namespaces=True), "warn", "can start threads until"),
        (Layers(0, seccomp=True, namespaces=True), "warn", "can read and write every file of its user"),
        (Layers(7, namespaces=True), "warn", "open sockets"),
        (Layers(7, seccomp=True), "warn", "can see this machine's processes"),
        (Layers(7, seccomp=True, namespaces=True, unprivileged=False), "warn", "it runs as root"),
        (Layers(), "warn", "an unprivileged user"),
    ],
)
def test_doctor_says_what_is_lost_where_the_kernel_lacks_something(
    layers: Layers, status: str, said: str
) -> None:
    found = describe(layers, root=True)
    assert (found.check, found.status) == ("sandbox", status)
    assert said in found.message
    assert (found.remedy is None) == (status == "ok")
