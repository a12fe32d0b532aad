"""Which answers of a store mean that a payload can never be read, and which that it may be read later."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.aws import AwsRefused
from penstock.inlets.sqs_payloads import LargePayloads, PayloadRefused, StoreUnavailable
from penstock.settings import Settings

POINTER = json.dumps(
    ["software.amazon.payloadoffloading.PayloadS3Pointer", {"s3BucketName": "papers", "s3Key": "one"}]
)


class Store:
    """A client whose every call ends with this error."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def call_here(self, operation: str, **parameters: Any) -> dict[str, Any]:
        raise self.error


def payloads_with(error: Exception) -> LargePayloads:
    payloads = LargePayloads(Settings(_env_file=None), "papers")
    payloads._client = Store(error)  # type: ignore[assignment]  # as much of a client as it needs
    return payloads


@pytest.mark.parametrize(
    "code",
    [
        *("NoSuchKey", "AccessDenied", "KeyTooLongError", "InvalidArgument", "PermanentRedirect"),
        *("ParamValidationError", "InvalidObjectState", "MethodNotAllowed", "404", "301"),
    ],
)
async def test_an_error_of_the_request_is_final(code: str) -> None:
    with pytest.raises(PayloadRefused, match=f"cannot be read: {code}"):
        await payloads_with(AwsRefused("s3", "get_object", code)).body_of(POINTER)


async def test_a_key_that_cannot_be_sent_is_final() -> None:
    error = UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed")
    with pytest.raises(PayloadRefused, match="cannot be read: UnicodeEncodeError"):
        await payloads_with(error).body_of(POINTER)


@pytest.mark.parametrize(
    "code",
    [
        *("SlowDown", "InternalError", "ServiceUnavailable", "RequestTimeout", "500", "503", "429"),
        *("EndpointConnectionError", "ReadTimeoutError", "NoCredentialsError", "ExpiredToken"),
    ],
)
async def test_an_error_of_the_store_or_of_our_login_is_not(code: str) -> None:
    with pytest.raises(StoreUnavailable) as raised:
        await payloads_with(AwsRefused("s3", "get_object", code)).body_of(POINTER)
    assert raised.value.code == code


async def test_a_body_that_points_nowhere_is_the_payload() -> None:
    payloads = payloads_with(AssertionError("nobody is asked"))
    assert await payloads.body_of('{"n": 1}') == '{"n": 1}'
    assert not payloads.points_at_one('{"n": 1}')
    assert payloads.points_at_one(POINTER)
