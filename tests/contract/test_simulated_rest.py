"""The simulated REST APIs speak the vendors' wire formats, their errors included."""

from __future__ import annotations

import base64
import json
from email import message_from_bytes, policy
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from penstock.simulators.providers import serving_providers
from penstock.simulators.providers.world.drive import DOC, PDF, SHEET
from tests.contract.simulated_clients import open_http, signed_in

if TYPE_CHECKING:
    import httpx2

COMPANY = "/v3/company/9341453908059321"


async def get(client: httpx2.AsyncClient, path: str, **query: Any) -> Any:
    response = await client.get(path, params=query)
    assert response.status_code == 200, response.text
    return response.json()


async def test_hubspot_lists_objects_with_cursors_properties_and_associations() -> None:
    async with serving_providers(contacts=25) as simulators, signed_in(simulators, "hubspot") as client:
        for root in ("/crm/v3/objects/contacts", "/crm/objects/2026-03/contacts"):
            seen: list[Any] = []
            after: dict[str, str] = {}
            while True:
                page = await get(client, root, limit=10, properties="email,favourite_colour", **after)
                seen += page["results"]
                if "paging" not in page:
                    break
                after = {"after": page["paging"]["next"]["after"]}
                assert urlsplit(page["paging"]["next"]["link"]).path == f"/hubspot{root}"
            assert len({each["id"] for each in seen}) == 25
        first = seen[0]
        assert set(first) == {"id", "properties", "createdAt", "updatedAt", "archived"}
        assert set(first["properties"]) == {
            "email", "favourite_colour", "createdate", "lastmodifieddate", "hs_object_id",
        }  # fmt: skip
        assert first["properties"]["favourite_colour"] is None
        (deal,) = (await get(client, "/crm/v3/objects/deals", limit=1, associations="companies"))["results"]
        kinds = [each["type"] for each in deal["associations"]["companies"]["results"]]
        assert kinds == ["deal_to_company", "deal_to_company_unlabeled"]
        assert len((await get(client, "/crm/v3/objects/contacts"))["results"]) == 10


async def test_hubspots_list_does_not_shift_when_objects_are_deleted() -> None:
    async with serving_providers(contacts=30) as simulators, signed_in(simulators, "hubspot") as client:
        first = await get(client, "/crm/v3/objects/contacts", limit=10)
        simulators.change("contacts", "delete", id=first["results"][3]["id"])
        after = first["paging"]["next"]["after"]
        second = await get(client, "/crm/v3/objects/contacts", limit=100, after=after)
        assert len(second["results"]) == 20
        archived = await get(client, "/crm/v3/objects/contacts", archived="true")
        assert [each["id"] for each in archived["results"]] == [first["results"][3]["id"]]


async def test_hubspot_searches_with_an_offset_that_shifts() -> None:
    async with serving_providers(contacts=30) as simulators, signed_in(simulators, "hubspot") as client:
        asked: dict[str, Any] = {"limit": 10, "sorts": [{"propertyName": "lastmodifieddate"}]}
        first = (await client.post("/crm/v3/objects/contacts/search", json=asked)).json()
        assert (first["total"], first["paging"]["next"]["after"]) == (30, "10")
        simulators.change("contacts", "change", id=first["results"][0]["id"])
        second = (await client.post("/crm/v3/objects/contacts/search", json=asked | {"after": "10"})).json()
        third = (await client.post("/crm/v3/objects/contacts/search", json=asked | {"after": "20"})).json()
        ids = [each["id"] for page in (first, second, third) for each in page["results"]]
        assert (len(ids), len(set(ids))) == (30, 29)  # one was passed over, one came twice
        two = {"sorts": [{"propertyName": "email"}, {"propertyName": "hs_object_id"}]}
        refused = await client.post("/crm/v3/objects/contacts/search", json=two)
        assert (refused.status_code, refused.json()["category"]) == (400, "VALIDATION_ERROR")


async def test_hubspots_errors() -> None:
    async with serving_providers(contacts=1) as simulators, signed_in(simulators, "hubspot") as client:
        unknown = await client.get("/crm/v3/objects/contacts", headers={"authorization": "Bearer nobody"})
        assert (unknown.status_code, unknown.json()["category"]) == (401, "INVALID_AUTHENTICATION")
        simulators.world.clock.advance(1_801)
        expired = await client.get("/crm/v3/objects/contacts")
        assert (expired.status_code, expired.json()["category"]) == (401, "EXPIRED_AUTHENTICATION")
        assert "expire time" in expired.json()["context"]
        token, _ = simulators.issue_tokens("hubspot", frozenset({"oauth"}))
        forbidden = await client.get("/crm/v3/objects/deals", headers={"authorization": f"Bearer {token}"})
        assert (forbidden.status_code, forbidden.json()["category"]) == (403, "MISSING_SCOPES")
    async with serving_providers(contacts=1) as simulators, signed_in(simulators, "hubspot") as client:
        assert (await client.get("/crm/v3/objects/contacts?limit=101")).status_code == 400
        assert (await client.get("/crm/v3/objects/cats")).status_code == 400
        assert (await client.get("/crm/v3/objects/contacts/1")).json()["category"] == "OBJECT_NOT_FOUND"


async def test_drive_lists_gets_and_exports() -> None:
    async with serving_providers(contacts=40) as simulators, signed_in(simulators, "google_drive") as client:
        drive = simulators.world.drive
        everything = await get(client, "/drive/v3/files", fields="files(id,trashed,size)", pageSize=1000)
        assert len(everything["files"]) == len(drive.files)  # trashed ones included
        assert any(file["trashed"] for file in everything["files"])
        plain = await get(client, "/drive/v3/files", q=f"mimeType = '{DOC}' and trashed = false", pageSize=1)
        assert set(plain["files"][0]) == {"kind", "id", "name", "mimeType"}
        more = await get(
            client,
            "/drive/v3/files",
            q=f"mimeType = '{DOC}' and trashed = false",
            pageToken=plain["nextPageToken"],
        )
        assert not {file["id"] for file in plain["files"]} & {file["id"] for file in more["files"]}
        other = await client.get("/drive/v3/files", params={"pageToken": plain["nextPageToken"]})
        assert (other.status_code, other.json()["error"]["errors"][0]["location"]) == (400, "pageToken")
        wrong = await client.get("/drive/v3/files", params={"q": "colour = 'red'"})
        assert wrong.json()["error"]["errors"][0]["location"] == "q"
        kinds = {mime: next(f for f in drive.files.values() if f.mime == mime) for mime in (DOC, SHEET, PDF)}
        paper = await client.get(f"/drive/v3/files/{kinds[PDF].id}?alt=media")
        assert (paper.headers["content-type"], paper.content[:5]) == ("application/pdf", b"%PDF-")
        shown = await get(client, f"/drive/v3/files/{kinds[PDF].id}", fields="size,md5Checksum,version")
        assert (int(shown["size"]), len(shown["md5Checksum"])) == (len(paper.content), 32)
        sheet = await client.get(f"/drive/v3/files/{kinds[SHEET].id}/export?mimeType=text/csv")
        assert sheet.text.startswith("Item,Quantity,")
        for path, reason in (
            (f"{kinds[DOC].id}?alt=media", "fileNotDownloadable"),
            (f"{kinds[PDF].id}/export?mimeType=text/plain", "fileNotExportable"),
            (f"{kinds[DOC].id}/export?mimeType=image/png", "badRequest"),
            ("nothing", "notFound"),
        ):
            refused = await client.get(f"/drive/v3/files/{path}")
            assert refused.json()["error"]["errors"][0]["reason"] == reason
        assert (await client.get("/drive/v3/about")).status_code == 400
        assert (await get(client, "/drive/v3/about", fields="user"))["user"]["me"] is True


async def test_drive_reports_changes_since_a_token() -> None:
    async with serving_providers(contacts=10) as simulators, signed_in(simulators, "google_drive") as client:
        drive = simulators.world.drive
        start = (await get(client, "/drive/v3/changes/startPageToken"))["startPageToken"]
        assert (await get(client, "/drive/v3/changes", pageToken=start))["changes"] == []
        kept, gone = drive.add("Kept"), drive.add("Gone")
        drive.change(kept.id, text="new")
        drive.delete(gone.id)
        first = await get(client, "/drive/v3/changes", pageToken=start, pageSize=2)
        second = await get(client, "/drive/v3/changes", pageToken=first["nextPageToken"], pageSize=2)
        changes = [(each["fileId"], each["removed"]) for each in first["changes"] + second["changes"]]
        assert changes == [(kept.id, False), (gone.id, True)]  # the newest change of each file
        assert "newStartPageToken" not in first
        end = second["newStartPageToken"]
        assert (await get(client, "/drive/v3/changes", pageToken=end))["newStartPageToken"] == end


async def test_gmail_shows_threads_messages_and_attachments() -> None:
    async with serving_providers(contacts=150) as simulators, signed_in(simulators, "gmail") as client:
        mailbox = simulators.world.gmail
        profile = await get(client, "/gmail/v1/users/me/profile")
        assert profile["historyId"] == str(mailbox.history_id)
        listed = await get(client, "/gmail/v1/users/me/threads", maxResults=20)
        assert set(listed["threads"][0]) == {"id", "snippet", "historyId"}
        rest = await get(
            client, "/gmail/v1/users/me/threads", pageToken=listed["nextPageToken"], maxResults=500
        )
        assert len(listed["threads"] + rest["threads"]) == len(mailbox.threads)
        nothing = await get(client, "/gmail/v1/users/me/threads", q="subject:nothing-like-this")
        assert nothing == {"resultSizeEstimate": 0}
        mail = next(each for each in mailbox.messages.values() if each.attachments)
        path = f"/gmail/v1/users/me/messages/{mail.id}"
        full, again = await get(client, path), await get(client, path)
        text = full["payload"]["parts"][0]["parts"][0]
        assert base64.urlsafe_b64decode(text["body"]["data"]).decode() == mail.text
        ids = [each["payload"]["parts"][1]["body"]["attachmentId"] for each in (full, again)]
        assert ids[0] != ids[1]
        for attachment in ids:
            content = await get(client, f"{path}/attachments/{attachment}")
            assert base64.urlsafe_b64decode(content["data"]) == mail.attachments[0].content()
        raw = await get(client, path, format="raw")
        parsed = message_from_bytes(base64.urlsafe_b64decode(raw["raw"]), policy=policy.default)
        assert parsed["Subject"] == mail.subject
        news = next(each for each in mailbox.messages.values() if "List-Id" in each.headers)
        meta = await get(
            client,
            f"/gmail/v1/users/me/messages/{news.id}",
            format="metadata",
            metadataHeaders="List-Unsubscribe",
        )
        assert [each["name"] for each in meta["payload"]["headers"]] == ["List-Unsubscribe"]
        missing = await client.get("/gmail/v1/users/me/messages/1")
        assert (missing.status_code, missing.json()["error"]["status"]) == (404, "NOT_FOUND")
        simulators.change("threads", "trash", id=mail.thread_id)
        left = await get(client, "/gmail/v1/users/me/threads", maxResults=500)
        assert mail.thread_id not in [each["id"] for each in left["threads"]]


async def test_gmail_tells_history_until_it_is_too_old() -> None:
    async with serving_providers(contacts=10) as simulators, signed_in(simulators, "gmail") as client:
        mailbox, path = simulators.world.gmail, "/gmail/v1/users/me/history"
        start = str(mailbox.history_id)
        assert await get(client, path, startHistoryId=start) == {"historyId": start}
        mail = mailbox.add(sender="new@client.example", subject="Order", text="Ten, please")
        mailbox.label(mail.id, remove=("UNREAD",))
        since = await get(client, path, startHistoryId=start)
        assert [set(each) - {"id", "messages"} for each in since["history"]] == [
            {"messagesAdded"}, {"labelsRemoved"},
        ]  # fmt: skip
        added = since["history"][0]["messagesAdded"][0]["message"]
        assert (added["id"], added["threadId"], added["labelIds"]) == (mail.id, mail.thread_id, ["INBOX"])
        only = await get(client, path, startHistoryId=start, historyTypes="messageDeleted")
        assert only == {"historyId": str(mailbox.history_id)}
        pages = await get(client, path, startHistoryId=start, maxResults=1)
        assert (len(pages["history"]), pages["nextPageToken"]) == (1, "1")
        mailbox.forget_history()
        old = await client.get(path, params={"startHistoryId": start})
        assert (old.status_code, old.json()["error"]["message"]) == (404, "Requested entity was not found.")
        assert await get(client, path, startHistoryId=str(mailbox.history_id))


async def test_quickbooks_queries_from_one_and_cuts_at_a_hundred() -> None:
    async with serving_providers(contacts=200) as simulators, signed_in(simulators, "quickbooks") as client:
        books = simulators.world.quickbooks

        async def query(text: str) -> Any:
            return (await get(client, f"{COMPANY}/query", query=text, minorversion=75))["QueryResponse"]

        cut = await query("select * from Invoice")
        assert (len(cut["Invoice"]), cut["startPosition"], cut["maxResults"]) == (100, 1, 100)
        rest = await query("SELECT * FROM Invoice STARTPOSITION 101 MAXRESULTS 1000")
        assert len(rest["Invoice"]) == len(books.invoices.entities) - 100
        assert await query("select * from Invoice startposition 9000") == {}
        assert await query("select count(*) from Customer") == {"totalCount": 28}
        simulators.change("customers", "delete", id="3")
        assert len((await query("select * from Customer"))["Customer"]) == 27
        every = await query("select * from Customer where Active IN (true, false) orderby Id desc")
        assert (len(every["Customer"]), every["Customer"][0]["Id"]) == (28, "28")
        changed = simulators.world.clock.now().isoformat()
        simulators.change("invoices", "change", id="7", fields={"PrivateNote": "call them"})
        recent = await query(f"select * from Invoice where MetaData.LastUpdatedTime >= '{changed}'")
        (invoice,) = recent["Invoice"]
        assert (invoice["Id"], invoice["SyncToken"], invoice["PrivateNote"]) == ("7", "1", "call them")
        assert invoice["MetaData"]["LastUpdatedTime"][-6:] in ("-07:00", "-08:00")


async def test_quickbooks_captures_changed_and_deleted_rows() -> None:
    async with serving_providers(contacts=50) as simulators, signed_in(simulators, "quickbooks") as client:
        since = simulators.world.clock.now().isoformat()
        simulators.change("invoices", "delete", id="5")
        answer = await get(client, f"{COMPANY}/cdc", entities="Invoice,Customer", changedSince=since)
        invoices, _ = answer["CDCResponse"][0]["QueryResponse"]
        assert [(each["Id"], each["status"]) for each in invoices["Invoice"]] == [("5", "Deleted")]
        gone = (await get(client, f"{COMPANY}/query", query="select * from Invoice where Id = '5'"))[
            "QueryResponse"
        ]
        assert gone == {}
        old = await client.get(f"{COMPANY}/cdc?entities=Invoice&changedSince=2020-01-01T00:00:00Z")
        assert old.json()["Fault"]["type"] == "ValidationFault"


async def test_quickbooks_faults_have_two_spellings() -> None:
    async with serving_providers(contacts=5) as simulators, signed_in(simulators, "quickbooks") as client:
        wrong = await client.get(f"{COMPANY}/query?query=selct")
        assert (wrong.status_code, wrong.json()["Fault"]["Error"][0]["code"]) == (400, "4000")
        assert "intuit_tid" in wrong.headers
        other = await client.get("/v3/company/1/query?query=select")
        assert (other.status_code, other.json()["fault"]["type"]) == (403, "SERVICE")
        assert "errorCode=003100" in other.json()["fault"]["error"][0]["message"]
        simulators.quickbooks.oauth.grants.expire_access_tokens()
        expired = await client.get(f"{COMPANY}/query?query=select")
        assert (expired.status_code, expired.json()["fault"]["type"]) == (401, "AUTHENTICATION")


async def test_an_unknown_path_says_what_is_simulated() -> None:
    async with serving_providers(contacts=1) as simulators, open_http() as http:
        nothing = await http.get(f"{simulators.url}/salesforce")
        assert (nothing.status_code, "/hubspot, /google_drive" in nothing.text) == (404, True)
        async with signed_in(simulators, "gmail") as client:
            assert json.loads((await client.get("/gmail/v1/nothing")).text)["error"]["code"] == 404
