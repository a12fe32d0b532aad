"""S3 and SQS at the command line: a source and its inlet, run by a worker process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.test_s3_source import become
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


def test_an_option_that_cannot_be_used_is_named(penstock: CommandLine, objects: Objects) -> None:
    for words, said in (
        (("sqs", "jobs", "--queue-url", "jobs", "--type", "x"), "is not the URL of a queue"),
        (("sqs", "jobs", "--queue-url", "https://sqs/1/q"), "which task types"),
        (("s3", "jobs", "--queue-url", "https://sqs/1/q", "--visibility", "0"), "visibility timeout"),
    ):
        ended = penstock("inlet", "add", *words)
        assert ended.code != 0
        assert said in ended.err
