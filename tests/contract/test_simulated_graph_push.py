"""Simulated Graph: subscriptions with their handshake, notifications and lifecycle events."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from penstock.simulators.providers import providers_in_thread, serving_providers
from penstock.simulators.providers.world.mail import OWNER
from penstock.simulators.providers.world.make_outlook import SHARED_MAILBOX
from tests.contract.notified_app import notified, subscribe
from tests.contract.simulated_clients import open_http, signed_in


def outlook() -> Any:
    return serving_providers(contacts=3, mails=0, threads=0)


def in_minutes(minutes: float, now: datetime | None = None) -> str:
    return ((now or datetime.now(UTC)) + timedelta(minutes=minutes)).isoformat()


async def test_a_subscription_begins_with_a_handshake_at_both_addresses() -> None:
    async with notified() as app, outlook() as simulators, signed_in(simulators, "outlook") as client:
        made = await subscribe(client, app)
        assert (made.status_code, app.handshakes) == (201, ["/outlook", "/lifecycle"])
        body = made.json()
        assert (body["clientState"], body["changeType"]) == ("secret-of-the-client", "created")
        shown = (await client.get(f"/v1.0/subscriptions/{body['id']}")).json()
        assert (shown["id"], shown["clientState"]) == (body["id"], None)
        assert [each["id"] for each in (await client.get("/v1.0/subscriptions")).json()["value"]] == [
            body["id"]
        ]


@pytest.mark.parametrize("wrong", ["html", "late", "nobody"])
async def test_without_the_right_answer_there_is_no_subscription(wrong: str) -> None:
    async with notified() as app, outlook() as simulators, signed_in(simulators, "outlook") as client:
        simulators.outlook.subscription_rest.handshake_seconds = 0.3
        app.echo = "text/html" if wrong == "html" else app.echo
        app.hold = 5 if wrong == "late" else 0
        url = "http://127.0.0.1:9/outlook" if wrong == "nobody" else f"{app.url}/outlook"
        refused = await subscribe(client, app, notificationUrl=url)
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "ValidationError")
        assert simulators.outlook.subscriptions.all() == []


@pytest.mark.parametrize(
    "changed",
    [
        {"clientState": "x" * 129},
        {"changeType": "renamed"},
        {"changeType": None},
        {"resource": "me/events"},
        {"notificationUrl": "https://example.com/webhooks/outlook"},
        {"notificationUrl": "http://127.0.0.1:99999/x"},
        {"expirationDateTime": in_minutes(12_000)},
        {"expirationDateTime": in_minutes(-5)},
        {"expirationDateTime": "soon"},
    ],
)
async def test_a_wrong_request_for_a_subscription_is_refused(changed: dict[str, Any]) -> None:
    async with notified() as app, outlook() as simulators, signed_in(simulators, "outlook") as client:
        refused = await subscribe(client, app, **changed)
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "InvalidRequest")
        assert app.handshakes == []


async def test_a_subscription_is_renewed_expires_and_is_lost() -> None:
    async with notified() as app, outlook() as simulators:
        clock = simulators.world.clock
        clock.stop()
        async with signed_in(simulators, "outlook") as client:
            made = (await subscribe(client, app, expirationDateTime=in_minutes(3, clock.now()))).json()
            expires = datetime.fromisoformat(made["expirationDateTime"])
            assert timedelta(minutes=44) < expires - clock.now() <= timedelta(minutes=45)
            path = f"/v1.0/subscriptions/{made['id']}"
            longer = {"expirationDateTime": in_minutes(10_070, clock.now())}
            assert (await client.patch(path, json=longer)).status_code == 200
            fixed = await client.patch(path, json={"lifecycleNotificationUrl": app.url})
            assert fixed.status_code == 400
            clock.advance(46 * 60)
            assert (await client.get(path)).status_code == 200
            simulators.outlook.subscriptions.drop()
            lost = await client.patch(path, json=longer)
            assert (lost.status_code, lost.json()["error"]["code"]) == (404, "ResourceNotFound")
            short = (await subscribe(client, app, expirationDateTime=in_minutes(46, clock.now()))).json()
            clock.advance(47 * 60)
            simulators.deliver("outlook")
        async with signed_in(simulators, "outlook") as client:
            assert (await client.get(f"/v1.0/subscriptions/{short['id']}")).status_code == 404
        assert (simulators.outlook.emitter.waiting, app.posts) == (0, [])


async def test_a_mail_causes_a_notification_in_graphs_format() -> None:
    async with notified() as app, outlook() as simulators, signed_in(simulators, "outlook") as client:
        made = (await subscribe(client, app)).json()
        new = simulators.deliver("outlook")
        simulators.deliver("outlook", folder="archive")
        await simulators.outlook.emitter.drained()
        (value,) = app.values
        assert value["subscriptionId"] == made["id"]
        assert (value["clientState"], value["changeType"]) == ("secret-of-the-client", "created")
        assert value["resourceData"]["id"] == new.id
        assert (
            value["resource"]
            == value["resourceData"]["@odata.id"]
            == f"Users/{made['creatorId']}/Messages/{new.id}"
        )
        assert app.headers[0]["content-type"].startswith("application/json")
        assert simulators.ledger.count("outlook", "push", "notify") == 1


async def test_moves_and_marks_are_notified_to_those_who_asked() -> None:
    async with notified() as app, outlook() as simulators, signed_in(simulators, "outlook") as client:
        await subscribe(client, app, changeType="created,updated,deleted")
        await subscribe(
            client, app, resource="me/mailFolders/archive/messages", notificationUrl=f"{app.url}/archive"
        )
        mailbox = simulators.world.outlook.mailbox(OWNER)
        new = simulators.deliver("outlook")
        mailbox.mark(new.id)
        mailbox.move(new.id, "archive")
        mailbox.delete(new.id)
        await simulators.outlook.emitter.drained()
        assert sorted(each["changeType"] for each in app.values) == [
            "created",
            "created",
            "deleted",
            "updated",
        ]


async def test_one_post_mixes_subscriptions_of_one_address() -> None:
    async with notified() as app, outlook() as simulators, signed_in(simulators, "outlook") as client:
        first = (await subscribe(client, app)).json()
        shared = f"users/{SHARED_MAILBOX}/mailFolders('inbox')/messages"
        second = (await subscribe(client, app, resource=shared, clientState="other")).json()
        emitter = simulators.outlook.emitter
        emitter.reliability.paused = True
        simulators.deliver("outlook")
        simulators.deliver("outlook", to=SHARED_MAILBOX)
        assert emitter.release() == 2
        await emitter.drained()
        (post,) = app.posts
        states = {each["subscriptionId"]: each["clientState"] for each in post["value"]}
        assert states == {first["id"]: "secret-of-the-client", second["id"]: "other"}


async def test_a_notification_is_sent_again_until_it_is_accepted() -> None:
    async with notified() as app, outlook() as simulators, signed_in(simulators, "outlook") as client:
        await subscribe(client, app)
        emitter = simulators.outlook.emitter
        emitter.reliability.set(first_retry=0.02, longest_retry=0.05)
        app.statuses = [500, 401]
        simulators.deliver("outlook")
        await emitter.drained()
        assert (len(app.posts), emitter.delivered, emitter.sent) == (3, 1, 3)
        assert app.posts[0] == app.posts[2]
        statuses = [each.status for each in simulators.ledger.entries("outlook", "push")]
        assert statuses == [500, 401, 202]
        emitter.reliability.set(timeout=0.1, give_up=0.1)
        app.hold = 1
        simulators.deliver("outlook")
        await emitter.drained()
        assert emitter.given_up == 1


async def test_notifications_get_lost_come_twice_and_overtake_one_another() -> None:
    async with notified() as app, outlook() as simulators, signed_in(simulators, "outlook") as client:
        await subscribe(client, app)
        emitter = simulators.outlook.emitter
        emitter.reliability.set(lost=0.1, duplicated=0.2, jitter=0.3, per_post=1)
        ids = [simulators.deliver("outlook", "plain").id for _ in range(300)]
        await emitter.drained()
        came = [each["resourceData"]["id"] for each in app.values]
        assert len(came) == 300 - emitter.lost + emitter.duplicated
        assert len(set(came)) == 300 - emitter.lost
        assert (10 <= emitter.lost <= 60, 30 <= emitter.duplicated <= 100) == (True, True)
        order = [ids.index(each) for each in came]
        assert order != sorted(order)
        emitter.reliability.set(lost=1.0)
        simulators.deliver("outlook")
        assert emitter.waiting == 0


async def test_lifecycle_events_go_to_their_own_address() -> None:
    async with notified() as app, outlook() as simulators, signed_in(simulators, "outlook") as client:
        made = (await subscribe(client, app)).json()
        subscriptions, emitter = simulators.outlook.subscriptions, simulators.outlook.emitter
        assert subscriptions.tell("missed") == 1
        await app.until(1)
        assert app.values[0]["lifecycleEvent"] == "missed"
        assert (app.values[0]["subscriptionId"], app.values[0]["clientState"]) == (
            made["id"],
            "secret-of-the-client",
        )
        subscriptions.tell("reauthorizationRequired")
        simulators.deliver("outlook")  # nobody is told
        await emitter.drained()
        assert (await client.post(f"/v1.0/subscriptions/{made['id']}/reauthorize")).status_code == 202
        simulators.deliver("outlook")
        await emitter.drained()
        assert [each.get("lifecycleEvent", each.get("changeType")) for each in app.values] == [
            "missed", "reauthorizationRequired", "created",
        ]  # fmt: skip
        assert subscriptions.tell("subscriptionRemoved") == 1
        await emitter.drained()
        assert app.values[-1]["lifecycleEvent"] == "subscriptionRemoved"
        assert (await client.delete(f"/v1.0/subscriptions/{made['id']}")).status_code == 404


async def test_a_forged_notification_can_be_sent() -> None:
    async with notified() as app, outlook() as simulators, signed_in(simulators, "outlook") as client:
        made = (await subscribe(client, app)).json()
        simulators.outlook.subscriptions.notify(made["id"], clientState="guessed")
        await simulators.outlook.emitter.drained()
        assert (app.values[0]["clientState"], app.values[0]["subscriptionId"]) == ("guessed", made["id"])


async def test_a_thousand_notifications_are_all_sent_each_in_a_request_of_its_own() -> None:
    async with notified() as app, outlook() as simulators, signed_in(simulators, "outlook") as client:
        await subscribe(client, app)
        simulators.outlook.emitter.reliability.per_post = 1
        ids = {simulators.deliver("outlook", "plain").id for _ in range(1_000)}
        await simulators.outlook.emitter.drained(120)
        assert len(app.posts) == 1_000
        assert {each["resourceData"]["id"] for each in app.values} == ids


async def test_mails_delivered_from_another_thread_are_notified() -> None:
    async with notified() as app:
        loop = asyncio.get_running_loop()

        def in_a_thread() -> int:
            with providers_in_thread(contacts=3, mails=0, threads=0) as simulators:
                token, _ = simulators.issue_tokens("outlook")

                async def subscribed() -> None:
                    headers = {"authorization": f"Bearer {token}"}
                    async with open_http(base_url=f"{simulators.url}/outlook", headers=headers) as client:
                        assert (await subscribe(client, app)).status_code == 201

                asyncio.run_coroutine_threadsafe(subscribed(), loop).result(30)
                for _ in range(50):
                    simulators.deliver("outlook", "plain")
                asyncio.run_coroutine_threadsafe(simulators.outlook.emitter.drained(), loop).result(60)
                return simulators.outlook.emitter.delivered

        assert await asyncio.to_thread(in_a_thread) == 50
        assert len(app.values) == 50
