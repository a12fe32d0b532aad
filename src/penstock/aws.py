"""Clients of AWS services: boto3, imported on first use, called in threads, quiet about what it sends."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from threading import Lock
from typing import Any, Final

from penstock.errors import PenstockError, SettingInvalid
from penstock.settings import Settings

_CONNECT_SECONDS: Final = 5
_READ_SECONDS: Final = 10
_ATTEMPTS: Final = 3


class AwsRefused(PenstockError):
    """AWS (KMS, the Parameter Store, SQS, S3) rejected a call or did not answer.

    `code` is AWS's error code, never its text or our parameters.
    """

    def __init__(self, service: str, operation: str, code: str) -> None:
        super().__init__(
            f"AWS {service} did not {operation.replace('_', ' ')}: {code}",
            "Check the key id or prefix, PENSTOCK_AWS_REGION, the endpoint, and that this process's AWS"
            f" credentials allow {service}:{''.join(map(str.capitalize, operation.split('_')))}",
        )
        self.service = service
        self.operation = operation
        self.code = code
        self.args = (service, operation, code)


class AwsClient:
    """One service's client, made with the first call; `setting` is named if boto3 is missing."""

    def __init__(
        self,
        settings: Settings,
        service: str,
        endpoint: str | None,
        setting: str,
        *,
        region: str | None = None,
        read_seconds: float = _READ_SECONDS,
        extra: str = "aws",
    ) -> None:
        """`extra` is the one of ours that installs boto3; `read_seconds` must be longer than a long poll."""
        self._settings = settings
        self._service = service
        self._endpoint = endpoint
        self._setting = setting
        self._region = region
        self._read_seconds = read_seconds
        self._extra = extra
        self._client: Any = None  # boto3 makes its clients at run time and has no types for them
        self._making = Lock()

    async def call(self, operation: str, **parameters: object) -> dict[str, Any]:
        """Call an operation in a thread; AwsRefused names the error's code and never a parameter."""
        return await asyncio.to_thread(self.call_here, operation, **parameters)

    def call_here(self, operation: str, **parameters: object) -> dict[str, Any]:
        """Call an operation in this thread, which waits for the answer."""
        client = self._made()
        from botocore.exceptions import (  # type: ignore[import-untyped]  # it has no stubs
            BotoCoreError,
            ClientError,
        )

        called: Callable[..., dict[str, Any]] = getattr(client, operation)
        # Not chained: botocore puts rejected parameters, which may be secrets, into its messages.
        try:
            return called(**parameters)
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", "unknown"))
        except BotoCoreError as error:
            code = type(error).__name__
        raise AwsRefused(self._service, operation, code)

    def _made(self) -> Any:
        with self._making:
            if self._client is None:
                self._client = self._make()
        return self._client

    def _make(self) -> Any:
        try:
            import boto3  # type: ignore[import-untyped]  # it has no stubs
            from botocore.config import Config  # type: ignore[import-untyped]  # the same
            from botocore.exceptions import BotoCoreError
        except ImportError:
            raise SettingInvalid(
                self._setting, f"it needs the AWS client; install it: pip install 'penstock[{self._extra}]'"
            ) from None
        # At debug level botocore logs bodies of requests and responses: secrets, and keys in the clear.
        logging.getLogger("botocore").setLevel(logging.INFO)
        config = Config(
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=self._read_seconds,
            retries={"total_max_attempts": _ATTEMPTS, "mode": "standard"},
            # Stores other than AWS's own have no host name per bucket, and know fewer checksums.
            s3={"addressing_style": "auto" if self._endpoint is None else "path"},
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        try:
            return boto3.session.Session().client(
                self._service,
                region_name=self._region or self._settings.aws_region or os.environ.get("AWS_REGION"),
                endpoint_url=self._endpoint,
                config=config,
            )
        except (BotoCoreError, ValueError) as error:  # an endpoint or a region that is none
            raise SettingInvalid(
                self._setting,
                f"no client of AWS {self._service} can be made ({type(error).__name__}); check"
                " PENSTOCK_AWS_REGION and the endpoint",
            ) from None
