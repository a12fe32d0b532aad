"""Simulated Gmail: watches, Pub/Sub pushes with an identity token, and mails delivered as MIME."""

from __future__ import annotations

import base64
import json
from email import message_from_bytes, policy
from typing import TYPE_CHECKING, Any

import jwt
import pytest

from penstock.simulators.providers import ProviderSimulators, serving_providers
from penstock.simulators.providers.push.oidc import TOKENS
from penstock.simulators.providers.world.mail import OWNER
from tests.contract.notified_app import NotifiedApp, notified
from tests.contract.simulated_clients import open_http, signed_in

if TYPE_CHECKING:
    import httpx2

USER = "/gmail/v1/users/me"
TOPIC = "projects/simulated/topics/gmail"


def gmail() -> Any:
    return serving_providers(contacts=3, mails=0, threads=0)


async def get(client: httpx2.AsyncClient, path: str, **query: Any) -> Any:
    response = await client.get(f"{USER}{path}", params=query or None)
    assert response.status_code == 200, response.text
    return response.json()


async def watch(
    client: httpx2.AsyncClient, simulators: ProviderSimulators, app: NotifiedApp, **more: Any
) -> Any:
    simulators.gmail.pubsub.push_to(f"{app.url}/gmail")
    response = await client.post(f"{USER}/watch", json={"topicName": TOPIC, "labelIds": ["INBOX"], **more})
    assert response.status_code == 200, response.text
    return response.json()


def data(post: dict[str, Any]) -> Any:
    return json.loads(base64.b64decode(post["message"]["data"]))


async def test_a_watch_pushes_at_once_and_with_every_change_of_its_labels() -> None:
    async with notified() as app, gmail() as simulators, signed_in(simulators, "gmail") as client:
        simulators.world.clock.stop()
        begun = await watch(client, simulators, app)
        week = int((simulators.world.clock.now().timestamp() + 7 * 86_400) * 1000)
        assert (begun["historyId"], int(begun["expiration"])) == ("100000", week)
        new = simulators.deliver("gmail")
        simulators.deliver("gmail", labels=("SENT",))
        await simulators.gmail.emitter.drained()
        assert [data(post) for post in app.posts] == [
            {"emailAddress": OWNER, "historyId": 100_000}, {"emailAddress": OWNER, "historyId": 100_007},
        ]  # fmt: skip
        message = app.posts[1]["message"]
        assert message["messageId"] == message["message_id"] != app.posts[0]["message"]["messageId"]
        assert app.posts[1]["subscription"].startswith("projects/")
        history = await get(client, "/history", startHistoryId=begun["historyId"], labelId="INBOX")
        assert [each["messagesAdded"][0]["message"]["id"] for each in history["history"]] == [new.id]


async def test_a_watch_ends_by_stop_or_after_seven_days_and_needs_its_topic() -> None:
    async with notified() as app, gmail() as simulators, signed_in(simulators, "gmail") as client:
        await watch(client, simulators, app)
        assert (await client.post(f"{USER}/stop")).status_code == 204
        simulators.deliver("gmail")
        await watch(client, simulators, app)
        simulators.world.clock.advance(7 * 86_400 + 1)
        simulators.deliver("gmail")
        await simulators.gmail.emitter.drained()
        assert len(app.posts) == 2  # the first one of each watch
        for topic, status in (("projects/other/topics/gmail", 403), ("gmail", 400)):
            async with signed_in(simulators, "gmail") as again:
                assert (await again.post(f"{USER}/watch", json={"topicName": topic})).status_code == status


async def test_more_than_one_event_per_second_is_dropped_on_demand() -> None:
    async with notified() as app, gmail() as simulators, signed_in(simulators, "gmail") as client:
        simulators.world.clock.stop()
        await watch(client, simulators, app)
        simulators.gmail.watches.one_per_second = True
        for _ in range(5):
            simulators.deliver("gmail", "plain")
        simulators.world.clock.advance(1)
        simulators.deliver("gmail", "plain")
        await simulators.gmail.emitter.drained()
        assert len(app.posts) == 3


@pytest.mark.parametrize("kind", TOKENS)
async def test_the_identity_token_verifies_with_the_published_key_unless_it_is_wrong(kind: str) -> None:
    async with notified() as app, gmail() as simulators, open_http() as http:
        settings = simulators.settings()
        simulators.gmail.pubsub.push_to(f"{app.url}/gmail")
        simulators.gmail.pubsub.set_token(kind)
        simulators.gmail.pubsub.publish({"emailAddress": OWNER, "historyId": 1})
        await app.until(1)
        keys = jwt.PyJWKSet.from_dict((await http.get(settings["gmail_certs_url"])).json())
        given = app.headers[0].get("authorization", "").removeprefix("Bearer ")
        assert (given == "") is (kind == "missing")

        def verified() -> bool:
            try:
                key = keys[jwt.get_unverified_header(given)["kid"]]
                claims = jwt.decode(
                    given,
                    key,
                    algorithms=["RS256"],
                    audience=settings["gmail_push_audience"],
                    issuer="https://accounts.google.com",
                )
            except jwt.PyJWTError:
                return False
            account = settings["gmail_push_service_account"]
            return claims["email"] == account and claims["email_verified"] is True

        assert verified() is (kind == "good")


async def test_a_rotated_key_has_a_new_id() -> None:
    async with gmail() as simulators, open_http() as http:
        url = simulators.settings()["gmail_certs_url"]
        before = (await http.get(url)).json()["keys"][0]
        simulators.gmail.pubsub.signer.rotate()
        after = (await http.get(url)).json()["keys"][0]
        assert (before["kid"] != after["kid"], before["n"] != after["n"]) == (True, True)


async def test_a_delivered_mail_has_its_parts_and_attachments_under_new_ids_each_time() -> None:
    async with gmail() as simulators, signed_in(simulators, "gmail") as client:
        new = simulators.deliver("gmail", "signature_and_invoice")
        seen = [await get(client, f"/messages/{new.id}", format="full") for _ in range(2)]
        related, pdf = seen[0]["payload"]["parts"]
        assert [each["mimeType"] for each in related["parts"]] == ["multipart/alternative", "image/png"]
        assert (related["parts"][1]["partId"], pdf["partId"]) == ("0.1", "1")
        assert {"name": "Content-ID", "value": "<logo@signature>"} in related["parts"][1]["headers"]
        ids = [each["payload"]["parts"][1]["body"]["attachmentId"] for each in seen]
        assert ids[0] != ids[1]
        for each in ids:
            file = await get(client, f"/messages/{new.id}/attachments/{each}")
            assert base64.urlsafe_b64decode(file["data"]) == new.sent.files[1].content
        raw = base64.urlsafe_b64decode((await get(client, f"/messages/{new.id}", format="raw"))["raw"])
        assert message_from_bytes(raw, policy=policy.default)["Message-ID"] == new.message_id
        only = await get(client, f"/messages/{new.id}", format="metadata", metadataHeaders="Subject")
        assert [each["name"] for each in only["payload"]["headers"]] == ["Subject"]


async def test_an_attached_mail_shows_its_own_parts_and_a_root_can_be_a_file() -> None:
    async with gmail() as simulators, signed_in(simulators, "gmail") as client:
        for template in ("forwarded", "forwarded_unnamed"):
            new = simulators.deliver("gmail", template)
            _, eml = (await get(client, f"/messages/{new.id}"))["payload"]["parts"]
            assert (eml["mimeType"], bool(eml["filename"])) == ("message/rfc822", template == "forwarded")
            (within,) = eml["parts"]
            pdf = within["parts"][1]
            assert (within["partId"], pdf["partId"], pdf["mimeType"]) == ("1.0", "1.0.1", "application/pdf")
            for part, beginning in ((eml, b"From: "), (pdf, b"%PDF-")):
                file = await get(client, f"/messages/{new.id}/attachments/{part['body']['attachmentId']}")
                assert base64.urlsafe_b64decode(file["data"]).startswith(beginning)
        new = simulators.deliver("gmail", "only_pdf")
        root = (await get(client, f"/messages/{new.id}"))["payload"]
        assert (root["partId"], root["mimeType"], bool(root["filename"])) == ("", "application/pdf", True)
        file = await get(client, f"/messages/{new.id}/attachments/{root['body']['attachmentId']}")
        assert base64.urlsafe_b64decode(file["data"]) == new.sent.files[0].content
        assert (await client.get(f"{USER}/messages/{new.id}/attachments/ANGjdJx")).status_code == 404


async def test_history_pages_may_be_empty_and_an_old_start_is_not_found() -> None:
    async with gmail() as simulators, signed_in(simulators, "gmail") as client:
        start = (await get(client, "/profile"))["historyId"]
        for labels in (("SENT",), ("SENT",), ("INBOX",)):
            last = simulators.deliver("gmail", "plain", labels=labels)
        first = await get(client, "/history", startHistoryId=start, labelId="INBOX", maxResults=2)
        assert ("history" in first, "nextPageToken" in first) == (False, True)
        query = {
            "startHistoryId": start,
            "labelId": "INBOX",
            "maxResults": 2,
            "pageToken": first["nextPageToken"],
        }
        second = await get(client, "/history", **query)
        assert second["history"][0]["messages"][0]["id"] == last.id
        simulators.change("mails", "delete", id=last.id, fields={"provider": "gmail"})
        assert (await client.get(f"{USER}/messages/{last.id}")).status_code == 404
        simulators.world.gmail.forget_history()
        gone = await client.get(f"{USER}/history", params={"startHistoryId": start})
        assert gone.status_code == 404


async def test_each_account_has_a_mailbox_of_its_own() -> None:
    async with notified() as app, gmail() as simulators, open_http() as http:
        other = "ada@other.example"
        access, _ = simulators.issue_tokens("gmail", account=other)
        root, headers = f"{simulators.url}/gmail{USER}", {"authorization": f"Bearer {access}"}
        simulators.gmail.pubsub.push_to(f"{app.url}/gmail")
        await http.post(f"{root}/watch", json={"topicName": TOPIC}, headers=headers)
        simulators.deliver("gmail", "plain")
        new = simulators.deliver("gmail", "plain", to=other)
        listed = (await http.get(f"{root}/messages", headers=headers)).json()
        assert [each["id"] for each in listed["messages"]] == [new.id]
        await simulators.gmail.emitter.drained()
        assert {data(post)["emailAddress"] for post in app.posts} == {other}


async def test_an_answer_joins_the_thread_of_its_mail() -> None:
    async with gmail() as simulators, signed_in(simulators, "gmail") as client:
        first = simulators.deliver("gmail", "plain")
        answer = simulators.deliver("gmail", "plain", headers={"In-Reply-To": first.message_id})
        shown = await get(client, f"/messages/{answer.id}", format="minimal")
        assert shown["threadId"] == first.id


async def test_pushes_are_controlled_over_http() -> None:
    async with notified() as app, gmail() as simulators, open_http() as http:

        async def control(path: str, **body: Any) -> Any:
            response = await http.post(f"{simulators.url}/_control{path}", json=body)
            assert response.status_code == 200, response.text
            return response.json()

        state = await control(
            "/push", provider="gmail", endpoint=f"{app.url}/gmail", token="expired", lost=0.5
        )
        assert (state["token"], state["reliability"]["lost"]) == ("expired", 0.5)
        for body in (
            {"provider": "hubspot"},
            {"provider": "gmail", "token": "x"},
            {"provider": "outlook", "cats": 1},
        ):
            assert (await http.post(f"{simulators.url}/_control/push", json=body)).status_code == 400
        await control("/push", provider="gmail", lost=0, paused=True)
        simulators.gmail.pubsub.publish({"emailAddress": OWNER, "historyId": 1})
        assert (await control("/actions", action="release_notifications", provider="gmail"))["count"] == 1
        await app.until(1)
        for action in ("forget_delta", "drop_subscriptions", "missed_notifications", "rotate_push_key"):
            await control("/actions", action=action)
