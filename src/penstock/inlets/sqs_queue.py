"""One queue of SQS through boto3: long polls, batches, and entries of a batch that failed alone."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from penstock.aws import AwsClient
from penstock.errors import InvalidArgument, PenstockError
from penstock.inlets.daemon_threads import in_daemon_thread
from penstock.observe import get_logger

if TYPE_CHECKING:
    from penstock.settings import Settings

log = get_logger(__name__)

MOST: Final = 10
"""Messages per call: SQS's limit."""
LONGEST_POLL: Final = 20
AT_ONCE: Final = 4
TRIES: Final = 4
VISIBILITY_SECONDS: Final = 60
"""For as long a message is ours; it covers the hand-over to Postgres and no more."""
_GONE: Final = frozenset({"ReceiptHandleIsInvalid", "InvalidParameterValue"})


class QueueUnavailable(PenstockError):
    """SQS did not delete or hide some messages, even after several tries; they come again."""

    def __init__(self, operation: str, code: str) -> None:
        super().__init__(f"SQS did not {operation} all messages: {code}", "Penstock retries automatically")
        self.operation = operation
        self.code = code
        self.args = (operation, code)


def check_queue_url(url: object) -> str:
    """InvalidArgument if it cannot be the address of a queue."""
    parts = urlsplit(url) if isinstance(url, str) and len(url) <= 1_000 else None
    if parts is None or parts.scheme not in ("https", "http") or not parts.netloc or len(parts.path) < 2:
        raise InvalidArgument(
            f"{str(url)[:200]!r} is not the URL of a queue",
            "queue_url",
            "Such as https://sqs.eu-central-1.amazonaws.com/123456789012/NAME",
        )
    assert isinstance(url, str)
    return url


def queue_of(settings: Settings, config: Mapping[str, Any]) -> SqsQueue:
    """The queue of an inlet's configuration: queue_url, visibility_seconds. InvalidArgument."""
    visibility = config.get("visibility_seconds", VISIBILITY_SECONDS)
    if isinstance(visibility, bool) or not isinstance(visibility, int) or not 1 <= visibility <= 43_200:
        raise InvalidArgument(
            f"{str(visibility)[:50]!r} is not a visibility timeout",
            "visibility_seconds",
            "Use whole seconds from 1 to 43,200",
        )
    return SqsQueue(settings, check_queue_url(config.get("queue_url")), visibility)


def region_of(url: str) -> str | None:
    """The region in the address of a queue of AWS."""
    host = (urlsplit(url).hostname or "").split(".")
    return host[1] if len(host) >= 4 and host[0] == "sqs" and host[2] == "amazonaws" else None


class SqsQueue:
    """Its credentials are those of the process: boto3's own chain."""

    def __init__(self, settings: Settings, url: str, visibility: int = VISIBILITY_SECONDS) -> None:
        self.url = url
        self.visibility = visibility
        self.is_fifo = url.endswith(".fifo")
        self._client = AwsClient(
            settings,
            "sqs",
            settings.sqs_endpoint,
            "penstock inlet add sqs",
            region=region_of(url),
            read_seconds=LONGEST_POLL + 10,
            extra="sqs",
        )

    async def receive(self, limit: int, wait: float) -> list[dict[str, Any]]:
        """One long poll; after a full batch there are probably more, which are fetched side by side."""
        found = await self._receive(min(limit, MOST), wait)
        while len(found) >= MOST and len(found) < limit:
            room = -(-(limit - len(found)) // MOST)
            polls = [asyncio.create_task(self._receive(MOST, 0)) for _ in range(min(AT_ONCE, room))]
            try:
                answers = await asyncio.gather(*polls, return_exceptions=True)
            except asyncio.CancelledError:
                answers = await asyncio.gather(*polls, return_exceptions=True)
                await self.give_back([each["ReceiptHandle"] for each in found + _messages(answers)])
                raise
            more = _messages(answers)
            found += more
            if len(more) < MOST * len(polls):
                break  # that is all, or one of them failed: then so does the next receive, or it was nothing
        return found

    async def _receive(self, most: int, wait: float) -> list[dict[str, Any]]:
        answer = await self._call(
            "receive_message",
            MaxNumberOfMessages=most,
            WaitTimeSeconds=max(0, min(LONGEST_POLL, int(wait))),
            VisibilityTimeout=self.visibility,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        return list(answer.get("Messages", ()))

    def _show_again(self, answer: Mapping[str, Any]) -> None:
        """What a receive brought after the inlet was stopped; otherwise it would stay hidden for a while."""
        if not (messages := answer.get("Messages", ())):
            return
        entries = [
            {"Id": str(number), "ReceiptHandle": each["ReceiptHandle"], "VisibilityTimeout": 0}
            for number, each in enumerate(messages)
        ]
        with suppress(PenstockError):  # they come again by themselves
            self._client.call_here("change_message_visibility_batch", QueueUrl=self.url, Entries=entries)

    async def delete(self, handles: Sequence[str]) -> None:
        """QueueUnavailable if some could not be deleted; they come again."""
        await self._each("delete_message_batch", [{"ReceiptHandle": each} for each in handles])

    async def hide(self, handles: Sequence[str], seconds: float) -> None:
        """Keep messages from others for this long; 0 shows them at once."""
        until = max(0, min(43_200, int(seconds)))
        await self._each(
            "change_message_visibility_batch",
            [{"ReceiptHandle": each, "VisibilityTimeout": until} for each in handles],
        )

    async def give_back(self, handles: Sequence[str]) -> None:
        """Show messages to others at once, if SQS answers; otherwise they come again by themselves."""
        try:
            await self.hide(handles, 0)
        except PenstockError as error:
            log.throttled("inlet_hand_back_failed", key=self.url, inlet=self.url, error=error)

    async def has_redrive(self) -> bool:
        """Whether it has a place for dead letters."""
        answer = await self._call("get_queue_attributes", AttributeNames=["RedrivePolicy"])
        return "RedrivePolicy" in answer.get("Attributes", {})

    async def _each(self, operation: str, entries: Sequence[dict[str, Any]]) -> None:
        """Send entries in batches; those that SQS failed by its own fault again, a few times."""
        left = list(entries)
        for attempt in range(TRIES):
            failed: list[tuple[dict[str, Any], str]] = []
            for start in range(0, len(left), MOST):
                batch = left[start : start + MOST]
                named = [{"Id": str(number), **each} for number, each in enumerate(batch)]
                answer = await self._call(operation, Entries=named)
                for each in answer.get("Failed", ()):
                    if each.get("Code") in _GONE:
                        # The receipt is old: the message comes again, and the ledger knows it.
                        log.info("inlet_receipt_expired", operation=operation)
                    else:
                        failed.append((batch[int(each["Id"])], str(each.get("Code", "unknown"))))
            if not failed:
                return
            left = [each for each, _ in failed]
            if attempt < TRIES - 1:
                await asyncio.sleep(0.1 * 2**attempt)
        raise QueueUnavailable(operation.replace("_", " "), failed[0][1])

    async def _call(self, operation: str, **parameters: object) -> dict[str, Any]:
        return await in_daemon_thread(
            lambda: self._client.call_here(operation, QueueUrl=self.url, **parameters), self._show_again
        )


def _messages(answers: Sequence[list[dict[str, Any]] | BaseException]) -> list[dict[str, Any]]:
    """What the calls that did not fail have brought."""
    return [each for answer in answers if not isinstance(answer, BaseException) for each in answer]
