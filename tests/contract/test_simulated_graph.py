"""Simulated Graph: delta queries, messages, attachments, folders and shared mailboxes."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from typing import Any

import pytest

from penstock.simulators.providers.world.mail import OWNER
from penstock.simulators.providers.world.make_outlook import SHARED_MAILBOX
from tests.contract.graph_client import IMMUTABLE, INBOX, get, outlook, walk
from tests.contract.simulated_clients import open_http, signed_in


async def test_a_delta_query_shows_everything_once_and_then_only_changes() -> None:
    async with outlook(mails=25) as simulators, signed_in(simulators, "outlook") as client:
        values, link, pages = await walk(client, f"{INBOX}/delta", **{"$select": "subject"})
        assert (len({each["id"] for each in values}), pages) == (25, 3)
        assert set(values[0]) == {"@odata.etag", "id", "subject"}
        assert (await walk(client, link))[0] == []
        mailbox = simulators.world.outlook.mailbox(OWNER)
        new = simulators.deliver("outlook", "invoice")
        mailbox.mark(values[0]["id"])
        mailbox.delete(values[1]["id"])
        mailbox.move(values[2]["id"], "archive")
        changed, link, _ = await walk(client, link)
        assert [each["id"] for each in changed] == [new.id, *(each["id"] for each in values[:3])]
        assert set(changed[1]) == {"@odata.etag", "id", "subject"}  # the link remembers $select
        assert [each.get("@removed") for each in changed] == [
            None, None, {"reason": "deleted"}, {"reason": "changed"},
        ]  # fmt: skip
        assert (await walk(client, link))[0] == []


async def test_mails_that_arrive_or_leave_during_a_round_are_in_the_next_one() -> None:
    async with outlook(mails=30) as simulators, signed_in(simulators, "outlook") as client:
        first = await get(client, f"{INBOX}/delta")
        mailbox = simulators.world.outlook.mailbox(OWNER)
        late = simulators.deliver("outlook", "plain")
        mailbox.delete(first["value"][0]["id"])
        rest, link, _ = await walk(client, first["@odata.nextLink"])
        assert late.id not in [each["id"] for each in rest]
        assert len(first["value"]) + len(rest) == 30
        changed, _, _ = await walk(client, link)
        assert [each["id"] for each in changed] == [late.id, first["value"][0]["id"]]


async def test_pages_have_the_size_that_is_preferred_and_may_be_empty_or_repeat_themselves() -> None:
    async with outlook(mails=9) as simulators, signed_in(simulators, "outlook") as client:
        prefer = {"prefer": 'IdType="ImmutableId", odata.maxpagesize=4'}
        page = await client.get(f"{INBOX}/delta", headers=prefer)
        assert len(page.json()["value"]) == 4
        assert page.headers["preference-applied"] == 'IdType="ImmutableId", odata.maxpagesize=4'
        _, _, pages = await walk(client, f"{INBOX}/delta", **{"$top": 2})
        assert pages == 5
        simulators.fail("empty_page", "outlook", skip=1)
        values, link, pages = await walk(client, f"{INBOX}/delta", **{"$top": 5})
        assert (len(values), pages) == (9, 3)
        simulators.fail("replay", "outlook", repeats=2)
        assert len((await walk(client, link))[0]) == 2


async def test_an_old_link_is_gone_or_its_sync_state_is_not_found() -> None:
    async with outlook(mails=15) as simulators, signed_in(simulators, "outlook") as client:
        page = await get(client, f"{INBOX}/delta")
        _, link, _ = await walk(client, page["@odata.nextLink"])
        for old in (page["@odata.nextLink"], link):
            simulators.fail("expired_page_token", "outlook")
            gone = await client.get(old)
            assert (gone.status_code, gone.json()["error"]["code"]) == (410, "SyncStateNotFound")
            values, _, _ = await walk(client, gone.headers["location"])
            assert len(values) == 15
            simulators.fail("expired_page_token", "outlook", status=400)
            lost = await client.get(old)
            assert (lost.status_code, lost.json()["error"]["code"]) == (400, "syncStateNotFound")
            assert (await client.get(old)).status_code == 200
        simulators.outlook.deltas.forget()
        assert [(await client.get(each)).status_code for each in (page["@odata.nextLink"], link)] == [
            410,
            410,
        ]
        assert (await client.get(f"{INBOX}/delta?$deltatoken=nonsense")).status_code == 400


async def test_a_link_expires_with_time() -> None:
    async with outlook(mails=1) as simulators:
        simulators.world.clock.stop()
        async with signed_in(simulators, "outlook") as client:
            _, link, _ = await walk(client, f"{INBOX}/delta")
        simulators.world.clock.advance(31 * 86_400)
        async with signed_in(simulators, "outlook") as client:
            assert (await client.get(link)).status_code == 410


async def test_changes_can_lag_behind() -> None:
    async with outlook() as simulators, signed_in(simulators, "outlook") as client:
        simulators.world.clock.stop()
        _, link, _ = await walk(client, f"{INBOX}/delta")
        simulators.outlook.deltas.lag_seconds = 2
        new = simulators.deliver("outlook")
        values, link, _ = await walk(client, link)
        assert values == []
        simulators.world.clock.advance(2)
        assert [each["id"] for each in (await walk(client, link))[0]] == [new.id]


async def test_a_filter_by_time_shows_only_newer_messages() -> None:
    async with outlook() as simulators, signed_in(simulators, "outlook") as client:
        now = datetime(2026, 10, 1, tzinfo=UTC)
        for days in range(5):
            simulators.deliver("outlook", "plain", at=now - timedelta(days=days))
        since = f"receivedDateTime ge {now - timedelta(days=2):%Y-%m-%dT%H:%M:%SZ}"
        values, link, _ = await walk(client, f"{INBOX}/delta", **{"$filter": since})
        assert len(values) == 3
        assert len((await get(client, INBOX, **{"$filter": since}))["value"]) == 3
        simulators.deliver("outlook", "plain", at=now - timedelta(days=9))
        assert (await walk(client, link))[0] == []
        wrong = await client.get(f"{INBOX}/delta", params={"$filter": "subject eq 'x'"})
        assert wrong.status_code == 400


async def test_ids_change_with_a_move_unless_immutable_ones_are_asked_for() -> None:
    async with outlook() as simulators, signed_in(simulators, "outlook") as client:
        new = simulators.deliver("outlook", "invoice")
        (plain,) = (await client.get(INBOX)).json()["value"]
        assert plain["id"] != new.id
        simulators.change("mails", "move", id=new.id, fields={"folder": "archive"})
        gone = await client.get(f"/v1.0/me/messages/{plain['id']}")
        assert (gone.status_code, gone.json()["error"]["code"]) == (404, "ErrorItemNotFound")
        moved = await get(client, f"/v1.0/me/messages/{new.id}")
        archive = await get(client, "/v1.0/me/mailFolders/archive")
        assert (moved["id"], moved["parentFolderId"]) == (new.id, archive["id"])
        assert (await client.get("/v1.0/me/messages/12")).json()["error"]["code"] == "ErrorInvalidIdMalformed"


async def test_a_message_has_headers_only_on_request_and_its_mime() -> None:
    async with outlook() as simulators, signed_in(simulators, "outlook") as client:
        new = simulators.deliver("outlook", "newsletter")
        path = f"/v1.0/me/messages/{new.id}"
        whole = await get(client, path)
        assert "internetMessageHeaders" not in whole
        assert whole["internetMessageId"] == new.message_id
        assert whole["from"]["emailAddress"]["address"].startswith("news@")
        assert whole["toRecipients"][0]["emailAddress"] == {"name": "Sam Miller", "address": OWNER}
        assert whole["body"]["contentType"] == "html"
        some = await get(client, path, **{"$select": "subject,internetMessageHeaders"})
        assert {each["name"] for each in some["internetMessageHeaders"]} >= {"List-Unsubscribe", "Message-ID"}
        text = await client.get(path, headers={"prefer": 'outlook.body-content-type="text"'})
        assert text.json()["body"]["contentType"] == "text"
        mime = message_from_bytes((await client.get(f"{path}/$value")).content, policy=policy.default)
        assert mime["Message-ID"] == new.message_id
        wrong = await client.get(path, params={"$select": "headers"})
        assert (wrong.status_code, "'headers'" in wrong.json()["error"]["message"]) == (400, True)


async def test_attachments_are_files_items_or_references() -> None:
    async with outlook() as simulators, signed_in(simulators, "outlook") as client:
        kinds: dict[str, list[dict[str, Any]]] = {}
        for template in ("invoice", "forwarded", "forwarded_unnamed", "reference"):
            new = simulators.deliver("outlook", template)
            path = f"/v1.0/me/messages/{new.id}/attachments"
            kinds[template] = (await get(client, path))["value"]
            for each in kinds[template]:
                content = await client.get(f"{path}/{each['id']}/$value", headers=IMMUTABLE)
                if each["@odata.type"] == "#microsoft.graph.fileAttachment":
                    assert (
                        base64.b64decode(each["contentBytes"]) == content.content == new.sent.files[0].content
                    )
                    assert each["size"] > len(content.content)  # as Exchange counts
                elif each["@odata.type"] == "#microsoft.graph.itemAttachment":
                    assert (
                        message_from_bytes(content.content, policy=policy.default)["Subject"] == each["name"]
                    )
                    assert each["contentType"] is None
                    one = await get(
                        client, f"{path}/{each['id']}", **{"$expand": "microsoft.graph.itemattachment/item"}
                    )
                    assert one["item"]["hasAttachments"] is True
                else:
                    assert content.status_code == 405
                    assert "sourceUrl" not in each
                    beta = await get(client, path.replace("v1.0", "beta"))
                    assert beta["value"][0]["sourceUrl"].startswith("https://")
        assert [each["@odata.type"].rpartition(".")[2] for listed in kinds.values() for each in listed] == [
            "fileAttachment", "itemAttachment", "itemAttachment", "referenceAttachment",
        ]  # fmt: skip


async def test_attachments_can_be_listed_without_their_content() -> None:
    async with outlook() as simulators, signed_in(simulators, "outlook") as client:
        new = simulators.deliver("outlook", "signature_and_invoice")
        path = f"/v1.0/me/messages/{new.id}"
        chosen = "id,name,size,isInline,microsoft.graph.fileAttachment/contentId"
        listed = (await get(client, f"{path}/attachments", **{"$select": chosen}))["value"]
        expanded = await get(client, path, **{"$expand": f"attachments($select={chosen})"})
        assert expanded["attachments"] == listed
        assert [(each["name"], each["isInline"], each["contentId"]) for each in listed] == [
            ("image001.png", True, "logo@signature"), (new.sent.files[1].filename, False, None),
        ]  # fmt: skip
        assert "contentBytes" not in listed[0]
        wrong = await client.get(f"{path}/attachments", params={"$select": "contentId"})
        assert (wrong.status_code, "'contentId'" in wrong.text) == (400, True)
        assert "contentBytes" in (await get(client, path, **{"$expand": "attachments"}))["attachments"][0]


@pytest.mark.parametrize(
    ("template", "expected"),
    [("signature_image", False), ("inline_pdf", False), ("content_id_pdf", True), ("plain", False)],
)
async def test_has_attachments_does_not_count_inline_ones(template: str, expected: bool) -> None:
    async with outlook() as simulators, signed_in(simulators, "outlook") as client:
        new = simulators.deliver("outlook", template)
        shown = await get(client, f"/v1.0/me/messages/{new.id}", **{"$expand": "attachments"})
        assert shown["hasAttachments"] is expected
        assert len(shown["attachments"]) == (0 if template == "plain" else 1)


async def test_folders_have_well_known_names_ids_and_pages() -> None:
    async with outlook() as simulators, signed_in(simulators, "outlook") as client:
        mailbox = simulators.world.outlook.mailbox(OWNER)
        for number in range(5):
            mailbox.add_folder(f"Client {number}")
        child = mailbox.add_folder("Bills", parent=mailbox.well_known["inbox"].id)
        simulators.deliver("outlook", folder="Bills")
        first = await get(client, "/v1.0/me/mailFolders")
        assert len(first["value"]) == 10
        second = await get(client, first["@odata.nextLink"])
        names = {each["displayName"]: each for each in first["value"] + second["value"]}
        assert len(names) == 12
        by_name = await get(client, "/v1.0/me/mailFolders/Inbox")
        assert (by_name["id"], by_name["childFolderCount"]) == (names["Inbox"]["id"], 1)
        (bills,) = (await get(client, "/v1.0/me/mailFolders/inbox/childFolders"))["value"]
        assert (bills["id"], bills["totalItemCount"]) == (child.id, 1)
        assert len((await walk(client, f"/v1.0/me/mailFolders/{child.id}/messages/delta"))[0]) == 1
        missing = await client.get("/v1.0/me/mailFolders/AQMkunknown/messages/delta")
        assert (missing.status_code, missing.json()["error"]["code"]) == (404, "ErrorItemNotFound")
        assert (await client.get("/v1.0/me/messages/delta")).status_code == 400


async def test_a_shared_mailbox_needs_the_scope_and_the_permission() -> None:
    async with outlook() as simulators, open_http() as http:
        new = simulators.deliver("outlook", to=SHARED_MAILBOX)
        simulators.world.outlook.mailbox("boss@millbrook.example")

        async def status(user: str, *scopes: str) -> int:
            access, _ = simulators.issue_tokens("outlook", frozenset(scopes))
            url = f"{simulators.url}/outlook/v1.0/users/{user}/mailFolders/inbox/messages/delta"
            response = await http.get(url, headers=IMMUTABLE | {"authorization": f"Bearer {access}"})
            if response.status_code == 200 and user == SHARED_MAILBOX:
                page = response.json()
                assert [each["id"] for each in page["value"]] == [new.id]
                assert f"/users('{SHARED_MAILBOX}')/" in page["@odata.deltaLink"].replace("%40", "@")
            return response.status_code

        assert await status(SHARED_MAILBOX, "Mail.Read.Shared") == 200
        assert await status(SHARED_MAILBOX, "Mail.Read") == 403
        assert await status("boss@millbrook.example", "Mail.Read.Shared") == 403
        assert await status("nobody@millbrook.example", "Mail.Read.Shared") == 404
        assert await status(OWNER, "Mail.Read") == 200
        assert await status(OWNER, "User.Read") == 403


async def test_a_mail_is_moved_between_two_pages_of_a_sync() -> None:
    async with outlook() as simulators, signed_in(simulators, "outlook") as client:
        ids = [simulators.deliver("outlook", "plain").id for _ in range(4)]
        moves = [{"kind": "mails", "action": "move", "id": ids[0], "fields": {"folder": "archive"}}]
        simulators.fail("drift", "outlook", operation="messages.delta", skip=1, changes=moves)
        values, link, _ = await walk(client, f"{INBOX}/delta", **{"$top": 2})
        assert [each["id"] for each in values] == [ids[3], ids[2], ids[1]]
        changed, _, _ = await walk(client, link)
        assert [(each["id"], each["@removed"]["reason"]) for each in changed] == [(ids[0], "changed")]
