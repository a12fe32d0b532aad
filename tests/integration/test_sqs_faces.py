"""S3 and SQS at the command line: a source and its inlet, run by a worker process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.test_s3_source import become
from tests.integration.test_sqs_inlet import FIFO
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.documents import works_on
from tests.plugins.objects import BUCKET, Objects, event

pytestmark = pytest.mark.timeout(240)


async def test_a_bucket_and_its_events_by_three_commands(
    database: Database, tmp_path: Path, objects: Objects, penstock: CommandLine
) -> None:
    objects.put("in/one.txt", "The first paper is about sluices.")
    url = objects.queue()
    told = penstock.with_variables(**objects.variables, PENSTOCK_DATA_DIR=str(tmp_path))
    async with works_on(database, tmp_path, **objects.settings) as works:
        added = told("source", "add", "s3", f"{BUCKET}/in/", "--tenant", "acme", "--no-wait", "--json")
        assert added.code == 0, added.err
        assert json.loads(added.out)["source"]["name"] == f"{BUCKET}/in/"
        added = told("inlet", "add", "s3", "events", "--queue-url", url, "--json")
        assert added.code == 0, added.err
        assert json.loads(added.out)["source"] == f"s3:{url}"
        with told.running("worker"):
            await become(works, "in/one.txt")
            objects.put("in/two.txt", "The second paper is about spillways.")
            objects.send(url, event("in/two.txt"))
            await become(works, "in/one.txt", "in/two.txt")
        listed = json.loads(told("inlet", "list", "--json").out)["inlets"]
        assert [(each["name"], each["taken"], each["refused"]) for each in listed] == [("events", 1, 0)]


@pytest.mark.parametrize(
    ("queue", "attributes", "kind", "blocks"),
    [("jobs", {}, "sqs", ""), ("jobs.fifo", FIFO, "sqs", " and blocks its group"), ("events", {}, "s3", "")],
)
def test_a_queue_without_a_place_for_dead_letters_is_warned_of_as_long_as_it_has_none(
    penstock: CommandLine, objects: Objects, queue: str, attributes: dict[str, str], kind: str, blocks: str
) -> None:
    url = objects.queue(queue, **attributes)
    told = penstock.with_variables(**objects.variables)
    add = ("inlet", "add", kind, "jobs", "--queue-url", url, *(("--type", "job") if kind == "sqs" else ()))
    said = f"its queue has no redrive policy: a refused message comes again every 60 s{blocks}, until SQS"
    added = told(*add)
    assert (added.code, said in added.err) == (0, True), added.err
    assert "set its RedrivePolicy" in added.err
    assert said in json.loads(told(*add, "--json").err)["warning"]["message"]
    assert said in told("inlet", "show", "jobs").out
    (warning,) = told("inlet", "show", "jobs", "--json").json["warnings"]
    assert said in warning
    assert f"jobs: {said}" in told("doctor").out

    dead = objects.queue(queue.replace("jobs", "dead").replace("events", "dead"), **attributes)
    redrive = json.dumps({"deadLetterTargetArn": objects.arn(dead), "maxReceiveCount": "5"})
    objects.sqs.set_queue_attributes(QueueUrl=url, Attributes={"RedrivePolicy": redrive})
    assert told(*add).err == ""
    assert told("inlet", "show", "jobs", "--json").json["warnings"] == []
    assert "redrive" not in told("doctor").out


def test_a_queue_that_does_not_answer_here_is_not_warned_of(penstock: CommandLine, objects: Objects) -> None:
    told = penstock.with_variables(**objects.variables)
    gone = f"{objects.queue('jobs').rpartition('/')[0]}/gone"
    added = told("inlet", "add", "sqs", "jobs", "--queue-url", gone, "--type", "job")
    assert (added.code, added.err) == (0, "")
    assert told("inlet", "show", "jobs", "--json").json["warnings"] == []


def test_a_queue_that_another_kind_of_inlet_reads_is_refused(penstock: CommandLine, objects: Objects) -> None:
    told = penstock.with_variables(**objects.variables)
    url = objects.queue("jobs")
    adds = (
        ("inlet", "add", "s3", "events", "--queue-url", url),
        ("inlet", "add", "sqs", "jobs", "--queue-url", url, "--type", "job"),
    )
    for (first, second), reader in ((adds, "events"), (adds[::-1], "jobs")):
        assert told(*first).code == 0
        refused = told(*second)
        assert refused.code != 0
        assert f"the inlet '{reader}' reads the queue {url} already" in refused.err
        assert f"penstock inlet remove {reader}" in refused.err
        assert [each["name"] for each in told("inlet", "list", "--json").json["inlets"]] == [reader]
        assert told(*first).code == 0, "it may be changed"
        assert told("inlet", "remove", reader, "--yes").code == 0


def test_an_option_that_cannot_be_used_is_named(penstock: CommandLine, objects: Objects) -> None:
    for words, said in (
        (("sqs", "jobs", "--queue-url", "jobs", "--type", "x"), "is not the URL of a queue"),
        (("sqs", "jobs", "--queue-url", "https://sqs/1/q"), "which task types"),
        (("s3", "jobs", "--queue-url", "https://sqs/1/q", "--visibility", "0"), "visibility timeout"),
    ):
        ended = penstock("inlet", "add", *words)
        assert ended.code != 0
        assert said in ended.err
