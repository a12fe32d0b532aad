"""A bucket on loopback: an S3 server inside the test's process."""

from __future__ import annotations

from collections.abc import Iterator

import boto3  # type: ignore[import-untyped]  # it has no stubs
import pytest
from moto.moto_api._internal.models import moto_api_backend
from moto.server import ThreadedMotoServer


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An S3 server with the bucket `originals`; its address."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "simulated")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "simulated")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        endpoint = f"http://{host}:{port}"
        boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1").create_bucket(Bucket="originals")
        yield endpoint
    finally:
        # The server is in this process and would keep what it has for the next test.
        moto_api_backend.reset()
        server.stop()
