"""A bucket and queues on loopback: S3 and SQS inside the test's process."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus

import boto3  # type: ignore[import-untyped]  # it has no stubs
import pytest
from moto.moto_api._internal.models import moto_api_backend

REGION = "us-east-1"
BUCKET = "papers"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "simulated", "AWS_SECRET_ACCESS_KEY": "simulated"}


@dataclass(frozen=True, slots=True)
class Objects:
    """`s3` and `sqs` are boto3's clients, as a producer would use them."""

    endpoint: str
    s3: Any
    sqs: Any

    @property
    def settings(self) -> dict[str, Any]:
        """Settings that point at this server."""
        return {"aws_region": REGION, "s3_source_endpoint": self.endpoint, "sqs_endpoint": self.endpoint}

    @property
    def variables(self) -> dict[str, str]:
        """The same for another process."""
        return {f"PENSTOCK_{name.upper()}": value for name, value in self.settings.items()} | CREDENTIALS

    def put(self, key: str, content: str | bytes, **options: Any) -> str:
        """Its ETag."""
        made = self.s3.put_object(Bucket=BUCKET, Key=key, Body=content, **options)
        return str(made["ETag"]).strip('"')

    def delete(self, key: str) -> None:
        self.s3.delete_object(Bucket=BUCKET, Key=key)

    def queue(self, name: str = "events", **attributes: str) -> str:
        """The URL of a new queue."""
        return str(self.sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"])

    def arn(self, url: str) -> str:
        found = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
        return str(found["Attributes"]["QueueArn"])

    def notify(self, url: str, bucket: str = BUCKET) -> None:
        """Have the bucket send its events to the queue."""
        wanted = {"QueueArn": self.arn(url), "Events": ["s3:ObjectCreated:*", "s3:ObjectRemoved:*"]}
        self.s3.put_bucket_notification_configuration(
            Bucket=bucket, NotificationConfiguration={"QueueConfigurations": [wanted]}
        )

    def send(self, url: str, body: Mapping[str, Any] | str, **options: Any) -> str:
        """Its message id."""
        text = body if isinstance(body, str) else json.dumps(body)
        return str(self.sqs.send_message(QueueUrl=url, MessageBody=text, **options)["MessageId"])

    def left(self, url: str) -> int:
        """Messages that were not deleted, seen or not."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        found = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
        return sum(int(found[name]) for name in names)


def event(key: str, name: str = "ObjectCreated:Put", bucket: str = BUCKET, **more: Any) -> dict[str, Any]:
    """An S3 event as it arrives in a queue."""
    return {"Records": [record(key, name, bucket, **more)]}


def record(key: str, name: str = "ObjectCreated:Put", bucket: str = BUCKET, **more: Any) -> dict[str, Any]:
    return {
        "eventVersion": "2.1",
        "eventSource": "aws:s3",
        "awsRegion": REGION,
        "eventTime": "2026-11-18T02:00:00.000Z",
        "eventName": name,
        "s3": {
            "s3SchemaVersion": "1.0",
            "configurationId": "all",
            "bucket": {"name": bucket, "arn": f"arn:aws:s3:::{bucket}"},
            "object": {"key": quote_plus(key, safe="/"), **more},
        },
    }


@pytest.fixture
def objects(aws_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Objects]:
    """The bucket `papers`, empty, and no queue."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    keys = {"aws_access_key_id": "simulated", "aws_secret_access_key": "simulated"}
    made = [
        boto3.client(service, endpoint_url=aws_endpoint, region_name=REGION, **keys)
        for service in ("s3", "sqs")
    ]
    made[0].create_bucket(Bucket=BUCKET)
    yield Objects(aws_endpoint, *made)
    moto_api_backend.reset()
