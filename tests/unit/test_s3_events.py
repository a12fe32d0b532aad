"""Events of S3 in every wrapping, written by hand after its documentation; and what is none of them."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from penstock.inlets.s3_events import MOST_RECORDS, EventRefused, ObjectEvent, events_of
from tests.plugins.objects import event, record

SEQUENCER = "0055AED6DCD90281E5"


def sns(body: Any) -> dict[str, Any]:
    return {
        "Type": "Notification",
        "MessageId": "5d0b5a3c-0d6a-5c0e-8f5e-0a2b7f6d3c11",
        "TopicArn": "arn:aws:sns:eu-central-1:123456789012:papers",
        "Subject": "Amazon S3 Notification",
        "Message": json.dumps(body),
        "Timestamp": "2026-11-18T02:00:00.000Z",
        "SignatureVersion": "1",
        "Signature": "EXAMPLE",
        "SigningCertURL": "https://sns.eu-central-1.amazonaws.com/x.pem",
        "UnsubscribeURL": "https://sns.eu-central-1.amazonaws.com/?Action=Unsubscribe",
    }


def bridged(key: str, kind: str = "Object Created", **more: Any) -> dict[str, Any]:
    return {
        "version": "0",
        "id": "17793124-05d4-b198-2fde-7ededc63b103",
        "detail-type": kind,
        "source": "aws.s3",
        "account": "123456789012",
        "time": "2026-11-18T02:00:00Z",
        "region": "eu-central-1",
        "resources": ["arn:aws:s3:::papers"],
        "detail": {
            "version": "0",
            "bucket": {"name": "papers"},
            "object": {"key": key, "size": 5, "etag": "b1946ac92492d2347c6235b4d2611184", **more},
            "request-id": "N4N7GDK58NMKJ12R",
            "requester": "123456789012",
            "reason": "PutObject",
        },
    }


TEST = {
    "Service": "Amazon S3",
    "Event": "s3:TestEvent",
    "Time": "2026-11-18T02:00:00.000Z",
    "Bucket": "papers",
    "RequestId": "5582815E1AEA5ADF",
    "HostId": "8cLeGAmw098X5cv4Zkwcmo8vvZa3eH3eKxsPzbB9wrR+YstdA6Knx4Ip8EXAMPLE",
}


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6"])
def test_a_plain_event_of_every_version_names_its_object(version: str) -> None:
    given = event("in/a b+c é.pdf", sequencer=SEQUENCER, versionId="3/L4kq", size=5, eTag="d41d")
    given["Records"][0]["eventVersion"] = version
    given["Records"][0]["glacierEventData"] = {"restoreEventData": {}}
    (found,) = events_of(json.dumps(given))
    assert found == ObjectEvent("papers", "in/a b+c é.pdf", SEQUENCER, "3/L4kq")


@pytest.mark.parametrize("wrapped", [lambda body: body, sns, lambda body: sns(sns(body))])
def test_what_sns_delivers_is_the_event_inside(wrapped: Any) -> None:
    (found,) = events_of(json.dumps(wrapped(event("one.txt", sequencer=SEQUENCER))))
    assert found == ObjectEvent("papers", "one.txt", SEQUENCER)
    assert events_of(json.dumps(wrapped(TEST))) == ()


def test_an_event_of_eventbridge_has_both_readings_of_an_encoded_key_looked_at() -> None:
    (found,) = events_of(json.dumps(bridged("in/one.txt", sequencer="617f08299329d189")))
    assert found == ObjectEvent("papers", "in/one.txt", "617f08299329d189")
    both = events_of(json.dumps(sns(bridged("a+b.txt", kind="Object Deleted"))))
    assert [each.key for each in both] == ["a+b.txt", "a b.txt"]
    assert events_of(json.dumps(bridged("one.txt", kind="Object Tags Added"))) == ()


@pytest.mark.parametrize(
    ("name", "looks"),
    [
        ("ObjectCreated:Put", True),
        ("s3:ObjectCreated:CompleteMultipartUpload", True),
        ("ObjectRemoved:Delete", True),
        ("ObjectRemoved:DeleteMarkerCreated", True),
        ("LifecycleExpiration:Delete", True),
        ("ObjectRestore:Completed", True),
        ("ObjectRestore:Post", False),
        ("ObjectTagging:Put", False),
        ("ObjectAcl:Put", False),
        ("Replication:OperationFailedReplication", False),
    ],
)
def test_only_changes_of_content_are_looked_at(name: str, looks: bool) -> None:
    assert bool(events_of(json.dumps(event("one.txt", name)))) is looks


def test_copies_of_an_event_have_one_identity_and_events_without_order_have_none() -> None:
    first, again = (ObjectEvent("papers", "a", each, "v") for each in ("00ff", "00FF"))
    assert first.identity == again.identity
    assert first.identity != ObjectEvent("papers", "b", "00ff", "v").identity
    assert ObjectEvent("papers", "a").identity is None


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "no JSON object"),
        ("{}", "neither Records nor detail"),
        ('{"Records": {}}', "neither Records nor detail"),
        ('{"Records": [1]}', "Records[0].eventName"),
        ('{"Records": [{"eventName": "ObjectCreated:Put"}]}', "Records[0].s3"),
        ('{"Records": [{"eventName": "ObjectCreated:Put", "s3": {"object": {"key": 1}}}]}', "s3.bucket"),
        (json.dumps(event("x" * 991)), "1 to 990"),
        (json.dumps(event("a\x00b")), "1 to 990"),
        (json.dumps(event("one", sequencer="xyz")), "hexadecimal"),
        (json.dumps(event("one", sequencer="0" * 65)), "hexadecimal"),
        (json.dumps(event("one", sequencer=5)), "hexadecimal"),
        (json.dumps({"Records": [record("one")] * (MOST_RECORDS + 1)}), "at most 100"),
        (json.dumps(sns(sns(sns(sns(event("one")))))), "wrapped more than 3 times"),
        (json.dumps({**bridged("one"), "source": "aws.ec2"}), "is not aws.s3"),
        (json.dumps({**bridged("one"), "detail-type": {}}), "detail-type: there is no such text"),
        (json.dumps({**bridged("one"), "detail-type": []}), "detail-type: there is no such text"),
        (json.dumps({"Type": "Notification", "Message": "hello"}), "not JSON"),
    ],
)
def test_what_is_no_event_is_refused_with_the_field(body: str, reason: str) -> None:
    with pytest.raises(EventRefused) as refused:
        events_of(body)
    assert reason in str(refused.value)


def test_a_key_that_is_no_text_is_refused() -> None:
    bad = event("one")
    bad["Records"][0]["s3"]["object"]["key"] = "%ff%fe"
    with pytest.raises(EventRefused, match="UTF-8"):
        events_of(json.dumps(bad))
    bad["Records"][0]["s3"]["object"]["key"] = "\ud800"
    with pytest.raises(EventRefused, match="UTF-8"):
        events_of(json.dumps(bad))


@pytest.mark.parametrize("bucket", ["\x00x", "\ud800", "b" * 256])
def test_a_bucket_that_no_bucket_can_be_called_is_refused(bucket: str) -> None:
    wrapped = bridged("one")
    wrapped["detail"]["bucket"]["name"] = bucket
    for given in (event("one", bucket=bucket), wrapped):
        with pytest.raises(EventRefused, match="1 to 255 characters in UTF-8"):
            events_of(json.dumps(given))


def test_a_store_that_sends_an_empty_sequencer_has_no_order() -> None:
    (found,) = events_of(json.dumps(event("one.txt", sequencer="")))
    assert found.sequencer is None


def test_a_body_of_a_mebibyte_is_read_in_linear_time() -> None:
    hostile = [
        '{"Type": "Notification", "Message": "' + '\\\\\\"' * 200_000 + '"}',
        json.dumps(event("%" * 500_000)),
        '{"Records": [' + '{"eventName": "x"},' * 50_000 + "{}]}",
    ]
    began = time.process_time()
    for body in hostile:
        with pytest.raises(EventRefused):
            events_of(body)
    assert time.process_time() - began < 5
