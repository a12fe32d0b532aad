"""An upload form is read as it arrives, in pieces of any size; each way to be broken has its answer."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.api.multipart import FIELDS_BYTES, UploadForm, clean_filename
from penstock.api.problem import HttpRefused
from penstock.errors import InvalidArgument, TooLarge

KIND = "multipart/form-data; boundary=XX"


def field(name: str, value: bytes) -> bytes:
    return b'--XX\r\nContent-Disposition: form-data; name="%b"\r\n\r\n%b\r\n' % (name.encode(), value)


def file(content: bytes, name: str = 'name="file"; filename="a.txt"') -> bytes:
    head = f"--XX\r\nContent-Disposition: form-data; {name}\r\nContent-Type: text/plain\r\n\r\n"
    return head.encode() + content + b"\r\n"


END = b"--XX--\r\n"


async def pieces(body: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(body), size):
        yield body[start : start + size]


async def read(body: bytes, *, size: int = 7, kind: str = KIND) -> tuple[UploadForm, bytes]:
    form = UploadForm(kind, pieces(body, size), digest=True)
    await form.begin()
    return form, b"".join([piece async for piece in form.content()])


async def test_fields_before_and_after_the_file_are_read() -> None:
    body = field("project", b"sales") + file(b"hello\r\n--X") + field("metadata", b'{"a": "\xc3\xa4"}') + END
    form, content = await read(body)
    assert content == b"hello\r\n--X"
    assert form.fields == {"project": "sales", "metadata": '{"a": "ä"}'}
    assert (form.filename, form.file_type) == ("a.txt", "text/plain")


@settings(max_examples=60, deadline=None)
@given(content=st.binary(min_size=1, max_size=300), size=st.integers(1, 64))
def test_any_content_in_any_pieces_comes_out_as_it_went_in(content: bytes, size: int) -> None:
    import asyncio

    # The one thing a form cannot carry is its own boundary.
    if b"\r\n--XX" in content or content.startswith(b"--XX"):
        return
    form, out = asyncio.run(read(field("project", b"p") + file(content) + END, size=size))
    assert out == content
    assert form.fields == {"project": "p"}


async def test_the_digest_does_not_depend_on_the_boundary_or_the_pieces() -> None:
    body = field("project", b"p") + file(b"same") + END
    one, _ = await read(body, size=3)
    two, _ = await read(body.replace(b"XX", b"YYY"), size=50, kind="multipart/form-data; boundary=YYY")
    other, _ = await read(field("project", b"p") + file(b"sama") + END)
    assert one.digest() == two.digest() != other.digest()


@pytest.mark.parametrize(
    ("body", "at_fault"),
    [
        (field("project", b"p") + END, "file"),
        (file(b"a") + file(b"b") + END, "file"),
        (file(b"") + END, "file"),
        (file(b"a", 'name="other"; filename="a"') + END, "file"),
        (field("project", b"a") + field("project", b"b") + file(b"a") + END, "project"),
        (field("metadata", b"\xff\xfe") + file(b"a") + END, "metadata"),
        (b"".join(field(f"f{n}", b"") for n in range(40)) + file(b"a") + END, "body"),
    ],
    ids=["no file", "two files", "empty file", "other name", "field twice", "not utf-8", "many fields"],
)
async def test_an_invalid_form_is_refused_with_the_name_of_the_field(body: bytes, at_fault: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        await read(body)
    assert refused.value.field == at_fault


@pytest.mark.parametrize(
    "body",
    [
        file(b"hello")[:-9],
        file(b"hello"),
        file(b"hello") + b"--XX",
        b"no form at all",
        b"",
        b"--XX\r\nbroken header\r\n\r\nx\r\n--XX--\r\n",
        b"--XX\r\n" + b"X: " + b"y" * 10_000 + b"\r\n\r\nx\r\n--XX--\r\n",
    ],
)
async def test_a_truncated_or_broken_form_is_never_accepted_as_complete(body: bytes) -> None:
    with pytest.raises(HttpRefused) as refused:
        await read(body)
    assert (refused.value.kind, refused.value.field) == ("bad-request", "body")


async def test_fields_may_not_grow_without_end() -> None:
    with pytest.raises(TooLarge):
        await read(field("metadata", b"x" * (FIELDS_BYTES + 1)) + file(b"a") + END, size=65_536)


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("application/json", "unsupported-media-type"),
        ("", "unsupported-media-type"),
        ("multipart/form-data", "bad-request"),
        ("multipart/form-data; boundary=", "bad-request"),
        (f"multipart/form-data; boundary={'x' * 71}", "bad-request"),
        ("multipart/form-data; boundary=ä", "bad-request"),
    ],
)
def test_a_body_that_is_not_a_form_is_refused_before_it_is_read(kind: str, problem: str) -> None:
    with pytest.raises(HttpRefused) as refused:
        UploadForm(kind, pieces(b"", 1))
    assert (refused.value.kind, refused.value.field) == (problem, "Content-Type")


@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        ('name="file"; filename="C:\\\\x\\\\r.pdf"', "r.pdf"),
        ('name="file"; filename="../../etc/passwd"', "passwd"),
        ('name="file"; filename="x"; filename*=UTF-8\'\'%e2%82%ac.pdf', "€.pdf"),
        ('name="file"; filename="Straße.txt"', "Straße.txt"),
        ("name=file; filename=plain.txt", "plain.txt"),
        ('name="file"; filename="a;b\\"c.txt"', 'a;b"c.txt'),
        ('name="file"', None),
    ],
)
async def test_a_filename_is_a_bare_name(disposition: str, name: str | None) -> None:
    form, _ = await read(file(b"a", disposition) + END)
    assert form.filename == name


def test_a_filename_keeps_its_ending_and_loses_what_cannot_be_stored() -> None:
    assert clean_filename("x" * 400 + ".pdf") == "x" * 251 + ".pdf"
    assert clean_filename("a\0b\ud800\n.txt") == "ab.txt"
    assert clean_filename("folder/") is None
