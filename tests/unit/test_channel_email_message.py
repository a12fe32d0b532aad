"""An email is composed from what a before handler returns, or refused for good."""

from __future__ import annotations

import email
import pickle
from email.message import EmailMessage
from email.policy import default
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.processes.channels.channel import ProviderFailed, read_request
from penstock.processes.channels.email_message import EmailRequest, OutgoingMail, compose

LINE = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=120)
BODY = st.lists(LINE, max_size=3).map("\n".join)


def composed(**changes: Any) -> OutgoingMail:
    wanted = {
        "to_addresses": ["anna@example.org"],
        "subject": "s",
        "body_text": "b",
        "message_id": "<1@penstock.invalid>",
        **changes,
    }
    return compose(read_request("email", EmailRequest, wanted), "mill@example.org")


def parsed(mail: OutgoingMail) -> EmailMessage:
    message = email.message_from_bytes(mail.content, policy=default)
    assert isinstance(message, EmailMessage)
    return message


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r", "\x00", "\x7f"])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("subject", "s{}Bcc: eve@example.org"),
        ("message_id", "<1@x>{}X: y"),
        ("reply_to", "a@example.org{}Bcc: eve@example.org"),
        ("from_address", "Anna{}Bcc: eve@example.org <a@example.org>"),
        ("to_addresses", ["a@example.org{}RCPT TO:<eve@example.org>"]),
        ("cc_addresses", ["A{} <a@example.org>"]),
        ("bcc_addresses", ["a@example.org{}"]),
        ("attachments", [{"filename": "a{}b", "mime_type": None, "content_base64": ""}]),
    ],
)
def test_a_line_break_in_a_header_is_refused_for_good(field: str, value: Any, end: str) -> None:
    if isinstance(value, str):
        value = value.format(end)
    elif field == "attachments":
        value = [{**value[0], "filename": f"a{end}b"}]
    else:
        value = [value[0].format(end)]
    with pytest.raises(ProviderFailed) as caught:
        composed(**{field: value})
    assert not caught.value.retriable


@pytest.mark.parametrize(
    "address",
    [
        "",
        "anna",
        "@example.org",
        "anna@",
        "a b@example.org",
        "a@example.org, b@example.org",
        "<a@example.org> <b@example.org>",
        "a@b@example.org",
        "anna@exam ple.org",
        "anna@example.org>",
        "jörg wer@example.org",
        "anna@ex..ample.org",
        "anna@" + "ü" * 80 + ".example",
    ],
)
def test_an_invalid_address_fails_for_good(address: str) -> None:
    with pytest.raises(ProviderFailed, match="is not an address") as caught:
        composed(to_addresses=[address])
    assert not caught.value.retriable


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"to_addresses": []}, "no recipient"),
        ({"body_text": None}, "neither text nor HTML"),
        ({"subject": None}, "subject"),
        ({"to_addresses": "anna@example.org"}, "to_addresses"),
        ({"message_id": 5}, "message_id"),
        ({"attachments": [{"filename": "a", "content_base64": "§"}]}, "base64"),
        ({"attachments": [{"filename": "a"}]}, "content_base64"),
    ],
)
def test_an_invalid_request_fails_for_good(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ProviderFailed, match=says) as caught:
        composed(**changes)
    assert not caught.value.retriable


def test_blind_copy_recipients_do_not_see_each_other() -> None:
    mail = composed(to_addresses=[], bcc_addresses=["a@example.org", "b@example.org"])
    assert mail.recipients == ("a@example.org", "b@example.org")
    assert parsed(mail)["To"].addresses == ()
    assert b"a@example.org" not in mail.content


def test_html_alone_is_the_body() -> None:
    message = parsed(composed(body_text=None, body_html="<b>Ü</b>"))
    assert message.get_content_type() == "text/html"
    assert message.get_content().strip() == "<b>Ü</b>"


@given(
    subject=LINE,
    name=LINE.filter(lambda text: not set(text) & set("<>")),
    body=st.lists(LINE, max_size=3).map("\n".join),
)
def test_any_words_come_out_as_they_went_in(subject: str, name: str, body: str) -> None:
    mail = composed(subject=subject, to_addresses=[f"{name}<anna@example.org>"], body_text=body)
    assert mail.content.isascii()
    assert max(map(len, mail.content.splitlines())) <= 998
    message = parsed(mail)
    assert message["Subject"].split() == subject.split()
    [to] = message["To"].addresses
    assert to.addr_spec == "anna@example.org"
    assert set(message.keys()) == {
        *("From", "To", "Subject", "Date", "Message-ID", "Content-Type", "Content-Transfer-Encoding"),
        "MIME-Version",
    }


def test_a_provider_failure_survives_pickling() -> None:
    error = ProviderFailed("email", "550 no", "Correct it", retriable=False)
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301  # of our own making
    assert (str(copy), copy.retriable) == (str(error), False)
