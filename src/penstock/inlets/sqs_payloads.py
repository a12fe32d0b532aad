"""Payloads that a sender of SQS put into a bucket because they were too large for a message."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from penstock.aws import AwsClient, AwsRefused
from penstock.errors import PenstockError
from penstock.inlets.daemon_threads import in_daemon_thread

if TYPE_CHECKING:
    from penstock.settings import Settings

_POINTERS: Final = (
    "software.amazon.payloadoffloading.PayloadS3Pointer",
    "com.amazon.sqs.javamessaging.MessageS3Pointer",
)
_UNAVAILABLE: Final = frozenset(
    {
        *("InternalError", "ServiceUnavailable", "SlowDown", "OperationAborted", "RequestTimeout"),
        *("BandwidthLimitExceeded", "RequestLimitExceeded", "Throttling", "ThrottlingException"),
        *("TooManyRequests", "TooManyRequestsException", "408", "429", "unknown"),
        *("ConnectTimeoutError", "ConnectionClosedError", "ConnectionError", "EndpointConnectionError"),
        *("HTTPClientError", "IncompleteReadError", "ProxyConnectionError", "ReadTimeoutError", "SSLError"),
        "ResponseStreamingError",
        # Our credentials, which is no message's fault.
        *("CredentialRetrievalError", "NoCredentialsError", "PartialCredentialsError", "NoAuthTokenError"),
        *("SSOTokenLoadError", "TokenRetrievalError", "UnauthorizedSSOTokenError", "MetadataRetrievalError"),
        *("ExpiredToken", "ExpiredTokenException", "InvalidAccessKeyId", "InvalidToken"),
        *("RequestTimeTooSkewed", "SignatureDoesNotMatch", "TokenRefreshRequired"),
    }
)
"""Codes that say nothing about the object; with any other the same request fails again."""


class PayloadRefused(Exception):
    """The body points at a payload that is not read; the reason is for its sender."""


class StoreUnavailable(PenstockError):
    """The bucket of an inlet's large payloads does not answer; the messages come again."""

    def __init__(self, bucket: str, code: str) -> None:
        super().__init__(
            f"the bucket {bucket} of large payloads does not answer: {code}", "Penstock retries automatically"
        )
        self.bucket = bucket
        self.code = code
        self.args = (bucket, code)


class LargePayloads:
    """Reads payloads from one bucket: a message that names another could have us read whatever we may."""

    def __init__(self, settings: Settings, bucket: str | None) -> None:
        self._bucket = bucket
        self._most = settings.payload_limit_bytes
        self._client = AwsClient(
            settings, "s3", settings.s3_source_endpoint, "penstock inlet add sqs", extra="sqs"
        )

    async def body_of(self, body: str) -> str:
        """The body, or what it points at. PayloadRefused, StoreUnavailable."""
        pointer = _pointer(body)
        if pointer is None:
            return body
        bucket, key = pointer
        if self._bucket is None:
            raise PayloadRefused(
                "its payload is in a bucket, and this inlet reads none; add the inlet with --payload-bucket"
            )
        if bucket != self._bucket:
            raise PayloadRefused("its payload is not in the bucket that this inlet reads")
        return await in_daemon_thread(lambda: self._read(key))

    def points_at_one(self, body: str) -> bool:
        """Whether `body_of` would ask the store."""
        try:
            return _pointer(body) is not None
        except PayloadRefused:
            return False

    def _read(self, key: str) -> str:
        assert self._bucket is not None
        try:
            answer = self._client.call_here("get_object", Bucket=self._bucket, Key=key)
        except AwsRefused as refused:
            if refused.code in _UNAVAILABLE or refused.code.startswith("5"):
                raise StoreUnavailable(self._bucket, refused.code) from None
            raise PayloadRefused(f"its payload cannot be read: {refused.code}") from None
        except ValueError as error:  # botocore cannot even ask for it
            raise PayloadRefused(f"its payload cannot be read: {type(error).__name__}") from None
        stream: Any = answer["Body"]
        try:
            content: bytes = stream.read(self._most + 1)
        except Exception as error:  # noqa: BLE001  # urllib3's, botocore's or the system's: it broke off
            raise StoreUnavailable(self._bucket, type(error).__name__) from None
        finally:
            stream.close()
        if len(content) > self._most:
            raise PayloadRefused(f"its payload is larger than the limit of {self._most} bytes")
        try:
            return content.decode()
        except UnicodeDecodeError:
            raise PayloadRefused("its payload is not UTF-8") from None


def _pointer(body: str) -> tuple[str, str] | None:
    """Bucket and key, if the body is nothing but a pointer."""
    if len(body) > 4_096 or not body.lstrip().startswith("["):
        return None
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(given, list) or len(given) != 2 or given[0] not in _POINTERS:
        return None
    place = given[1] if isinstance(given[1], dict) else {}
    bucket, key = place.get("s3BucketName"), place.get("s3Key")
    if not isinstance(bucket, str) or not isinstance(key, str) or not bucket or not key:
        raise PayloadRefused("it points at a payload without s3BucketName and s3Key")
    return bucket, key
