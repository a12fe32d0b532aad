"""A mailbox by IMAP from the command line and over HTTP: the password goes in and never comes out."""

from __future__ import annotations

from pathlib import Path

from penstock.model import SourceId
from tests.integration.api_server import api_server, assert_problem
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.dovecot import PASSWORD, USER
from tests.plugins.smtp import Certificate

SECRET = "5ecret-Heron-77"


async def test_a_mailbox_is_added_over_http_and_its_password_is_never_returned(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        given = {"host": "imap.example.com", "user": USER, "password": SECRET, "folders": ["INBOX"]}
        added = await client.post("/v1/sources/imap", json=given)
        assert added.status_code == 201, added.text
        source_id = added.json()["source_id"]
        assert (added.json()["kind"], added.json()["name"]) == ("imap", USER)
        assert added.json()["sync_every_seconds"] == 600
        changed = await client.put(f"/v1/sources/{source_id}/password", json={"password": SECRET + "2"})
        assert changed.status_code == 200, changed.text
        shown = await client.get(f"/v1/sources/{source_id}")
        assert shown.json()["config"]["security"] == "tls"
        listed = await client.get("/v1/sources")
        for wrong in ({"host": "a b"}, {"security": "none"}, {"password": ""}, {"port": 0}, {"ca": "no PEM"}):
            refused = await client.post("/v1/sources/imap", json={**given, **wrong})
            assert_problem(refused, 422, next(iter(wrong)))
            assert SECRET not in refused.text
        for answer in (added, changed, shown, listed):
            assert SECRET not in answer.text


async def test_a_source_without_a_password_takes_none(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        (tmp_path / "files").mkdir()
        engine = server.engine
        tenant_id = server.tenant.tenant_id
        added = await engine.sources.add(tenant_id, "folder", {"path": str(tmp_path / "files")})
        refused = await client.put(
            f"/v1/sources/{SourceId(added.source_id)}/password", json={"password": SECRET}
        )
        assert_problem(refused, 422, "password")
        assert SECRET not in refused.text


async def test_a_mailbox_is_added_and_its_password_changed_from_the_command_line(
    penstock: CommandLine, tmp_path: Path, certificate: Certificate
) -> None:
    trusted = tmp_path / "ca.pem"
    trusted.write_text(certificate.path.read_text())
    where = ("--host", "imap.example.com", "--user", USER, "--ca-file", str(trusted), "--folder", "INBOX")
    missing = penstock("source", "add", "imap", *where, "--no-wait")
    assert missing.code != 0
    assert "PENSTOCK_SOURCE_PASSWORD" in missing.err
    (tmp_path / "password").write_text(PASSWORD + "\n")
    given = ("--password-file", str(tmp_path / "password"), "--no-wait", "--json")
    added = penstock("source", "add", "imap", *where, *given)
    assert added.json["source"]["account"] == f"{USER} at imap.example.com:993"
    assert PASSWORD not in added.out + added.err
    changed = penstock.with_variables(PENSTOCK_SOURCE_PASSWORD=SECRET)("source", "set-password", "imap")
    assert changed.code == 0, changed.err
    assert SECRET not in changed.out + changed.err


async def test_an_address_that_may_not_be_reached_is_refused_before_there_is_a_source(
    database: Database, tmp_path: Path
) -> None:
    strict = {"allow_private_addresses": False}
    async with api_server(database, tmp_path, **strict) as server, server.client() as client:
        given = {"host": "imap.example.com", "user": USER, "password": SECRET}
        added = await client.post("/v1/sources/imap", json=given)
        config = f"/v1/sources/{added.json()['source_id']}/config"
        for host, remedy in (
            ("169.254.169.254", "public address"),
            ("fe80::1", "public address"),
            ("::ffff:169.254.1.1", "public address"),
            ("10.0.0.5", "PENSTOCK_ALLOW_PRIVATE_ADDRESSES"),
            ("127.0.0.1", "PENSTOCK_ALLOW_PRIVATE_ADDRESSES"),
        ):
            for refused in (
                await client.post("/v1/sources/imap", json={**given, "host": host, "user": "other"}),
                await client.put(config, json={"changes": {"host": host}}),
            ):
                assert remedy in assert_problem(refused, 422, "host")["remedy"], host
        assert await server.count("ingest.source") == 1
