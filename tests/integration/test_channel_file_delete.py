"""The blob of a file is deleted in a folder and in a bucket, directly and by a signed URL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast
from uuid import UUID, uuid4

import pytest
from starlette.responses import Response

from penstock.blobs.spool import spool
from penstock.blobs.store import Blobs, SignedDeleteFailed
from penstock.errors import NotFound, SettingInvalid
from penstock.index import Index
from penstock.model import DocumentId, TenantId
from penstock.net.outbound import open_client
from penstock.processes.channels.channel import ProviderFailed
from penstock.processes.channels.file_delete import FileDeleteChannel
from penstock.settings import Settings
from penstock.simulators import serving
from tests.plugins.runs import NoRun

KEY = "documents/an original.pdf"


class Dropped:
    """An index that keeps only what it was asked to drop."""

    def __init__(self) -> None:
        self.documents: list[tuple[TenantId, DocumentId]] = []

    async def drop_document(self, tenant_id: TenantId, document_id: DocumentId) -> None:
        self.documents.append((tenant_id, document_id))


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content


async def _store(settings: Settings) -> Blobs:
    blobs = Blobs.open(settings)
    for path in (KEY, "documents/other.pdf"):
        async with spool(_once(b"content"), limit=100) as spooled:
            await blobs.write(path, spooled)
    return blobs


def _bucket(folder: Path, endpoint: str) -> Settings:
    return Settings(data_dir=folder, blob_url="s3://originals/acme", s3_endpoint=endpoint)


def request(tenant: UUID | None, **changes: Any) -> dict[str, Any]:
    return {"bucket": None, "object_key": KEY, "document_id": None, "tenant_id": str(tenant), **changes}


_refuse = Response(status_code=403)


@pytest.mark.parametrize(
    ("kind", "signed"), [("folder", False), ("bucket", False), ("bucket", True)], ids=str
)
async def test_only_the_given_blob_is_removed_and_a_second_time_does_no_harm(
    kind: str, signed: bool, tmp_path: Path, bucket: str
) -> None:
    blobs = await _store(Settings(data_dir=tmp_path) if kind == "folder" else _bucket(tmp_path, bucket))
    run, dropped = NoRun(), Dropped()
    async with open_client(allow_private=True) as http:
        channel = FileDeleteChannel(blobs, cast("Index", dropped), http, signed=signed)
        for _ in range(2):
            answer = await channel.call(request(run.tenant_id), run)
            assert answer == {"object_key": KEY, "by": "signed_url" if signed else "store"}
            with pytest.raises(NotFound):
                await blobs.read(KEY)
    await blobs.read("documents/other.pdf")
    assert dropped.documents == []


async def test_deleting_a_whole_document_removes_its_vectors_too(tmp_path: Path) -> None:
    blobs = await _store(Settings(data_dir=tmp_path))
    run, dropped, document = NoRun(), Dropped(), uuid4()
    async with open_client() as http:
        channel = FileDeleteChannel(blobs, cast("Index", dropped), http, signed=False)
        await channel.call(request(run.tenant_id, document_id=str(document)), run)
    assert dropped.documents == [(run.tenant_id, document)]


@pytest.mark.parametrize(
    "changes",
    [{"tenant_id": str(uuid4())}, {"bucket": "elsewhere"}, {"object_key": ""}, {"document_id": "no id"}],
    ids=lambda changes: next(iter(changes)),
)
async def test_a_request_for_another_tenants_or_a_missing_file_deletes_nothing(
    changes: dict[str, str], tmp_path: Path
) -> None:
    blobs = await _store(Settings(data_dir=tmp_path))
    run, dropped = NoRun(), Dropped()
    async with open_client() as http:
        channel = FileDeleteChannel(blobs, cast("Index", dropped), http, signed=False)
        with pytest.raises(ProviderFailed, match=next(iter(changes))) as caught:
            await channel.call(request(run.tenant_id, **changes), run)
    assert not caught.value.retriable
    await blobs.read(KEY)
    assert dropped.documents == []


async def test_a_folder_cannot_sign_and_says_so(tmp_path: Path) -> None:
    blobs = await _store(Settings(data_dir=tmp_path))
    async with open_client() as http:
        with pytest.raises(SettingInvalid, match="PENSTOCK_FILE_DELETE_SIGNED"):
            await blobs.delete_by_signed_url(KEY, http)
    await blobs.read(KEY)


async def test_a_store_that_refuses_or_is_not_reached_fails_without_showing_the_signature(
    tmp_path: Path, bucket: str
) -> None:
    blobs = await _store(_bucket(tmp_path, bucket))
    async with open_client() as shut:  # loopback is a private address
        with pytest.raises(SignedDeleteFailed, match="AddressRefused") as caught:
            await blobs.delete_by_signed_url(KEY, shut)
    assert "X-Amz" not in str(caught.value)
    async with serving(_refuse) as address, open_client(allow_private=True) as http:
        elsewhere = Blobs.open(_bucket(tmp_path, address))
        with pytest.raises(SignedDeleteFailed, match="the store answered 403") as caught:
            await elsewhere.delete_by_signed_url(KEY, http)
    assert "X-Amz" not in str(caught.value)
    await blobs.read(KEY)


@pytest.mark.parametrize("signed", [False, True])
async def test_a_missing_bucket_is_not_mistaken_for_a_deleted_blob(
    signed: bool, tmp_path: Path, bucket: str
) -> None:
    blobs = Blobs.open(Settings(data_dir=tmp_path, blob_url="s3://no-such/acme", s3_endpoint=bucket))
    run, dropped = NoRun(), Dropped()
    async with open_client(allow_private=True) as http:
        channel = FileDeleteChannel(blobs, cast("Index", dropped), http, signed=signed)
        with pytest.raises(SettingInvalid, match="no such bucket"):
            await channel.call(request(run.tenant_id, document_id=str(uuid4())), run)
    assert dropped.documents == []
