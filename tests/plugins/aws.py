"""AWS on loopback: KMS and the Parameter Store inside the test's process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import boto3  # type: ignore[import-untyped]  # it has no stubs
import pytest
from moto.moto_api._internal.models import moto_api_backend
from moto.server import ThreadedMotoServer
from moto.sqs.models import Queue

REGION = "us-east-1"


@dataclass(frozen=True, slots=True)
class Aws:
    """A server with one KMS key."""

    endpoint: str
    kms_key_id: str

    def client(self, service: str) -> Any:
        return _client(self.endpoint, service)

    @property
    def settings(self) -> dict[str, str]:
        """Settings that point at this server."""
        return {"aws_region": REGION, "kms_endpoint": self.endpoint, "ssm_endpoint": self.endpoint}


@cache
def _client(endpoint: str, service: str) -> Any:
    keys = {"aws_access_key_id": "simulated", "aws_secret_access_key": "simulated"}
    return boto3.client(service, endpoint_url=endpoint, region_name=REGION, **keys)


def _wait_for_messages(self: Queue, timeout: int) -> None:
    """moto's own returns at once while messages wait for their group: a long poll would take a processor."""
    time.sleep(0.02)
    _WAIT_FOR_MESSAGES(self, timeout)


_WAIT_FOR_MESSAGES = Queue.wait_for_messages


@pytest.fixture(scope="session")
def aws_endpoint() -> Iterator[str]:
    """The address of a server in this process."""
    Queue.wait_for_messages = _wait_for_messages  # type: ignore[method-assign]  # the simulator is not ours
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def aws(aws_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Aws]:
    """KMS with a key, and an empty Parameter Store."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "simulated")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "simulated")
    made = _client(aws_endpoint, "kms").create_key()
    yield Aws(aws_endpoint, made["KeyMetadata"]["KeyId"])
    moto_api_backend.reset()
