"""`penstock message`: sends a tenant's emails and text messages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.exit_codes import Exit
from penstock.cli.failures import warn
from penstock.cli.operate.message_content import attached, body_of, text_of, time_of
from penstock.cli.session import run
from penstock.cli.tenant_session import DEFAULT, TenantSession, tenant_session
from penstock.errors import InvalidArgument
from penstock.model import TenantId
from penstock.observe.formats import escape
from penstock.processes.messages import Sending, Sent

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Owner = Annotated[str, typer.Option("--tenant", metavar="SLUG", help="The tenant that sends the message.")]
To = Annotated[list[str], typer.Option("--to", metavar="ADDRESS", help="Recipient; may be repeated.")]
Cc = Annotated[
    list[str] | None, typer.Option("--cc", metavar="ADDRESS", help="Copy recipient; may be repeated.")
]
Bcc = Annotated[
    list[str] | None,
    typer.Option("--bcc", metavar="ADDRESS", help="Blind copy recipient; may be repeated."),
]
Subject = Annotated[str, typer.Option("--subject", help="Subject line.")]
Text = Annotated[str | None, typer.Option("--text", help="Message text.")]
TextFile = Annotated[
    Path | None,
    typer.Option("--text-file", metavar="FILE", help="Read the message text from a file; - is stdin."),
]
HtmlFile = Annotated[
    Path | None,
    typer.Option("--html-file", metavar="FILE", help="Read an HTML version from a file; - is stdin."),
]
Attach = Annotated[
    list[Path] | None, typer.Option("--attach", metavar="FILE", help="File to attach; may be repeated.")
]
Sender = Annotated[
    str | None,
    typer.Option("--from", metavar="ADDRESS", help="Sender address. Default: PENSTOCK_SMTP_FROM."),
]
ReplyTo = Annotated[str | None, typer.Option("--reply-to", metavar="ADDRESS", help="Address for replies.")]
Number = Annotated[
    str,
    typer.Option(
        "--to", metavar="NUMBER", help="Recipient's number in international format, such as +4930123456."
    ),
]
FromNumber = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="NUMBER", help="Sender number or messaging service. Default: PENSTOCK_SMS_FROM."
    ),
]
At = Annotated[
    str | None,
    typer.Option(
        metavar="TIME", help="Send no earlier than this, such as 2030-01-31T09:00; UTC if it has no zone."
    ),
]
Wait = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="SECONDS",
        help="Wait up to this many seconds for the result; exits with 1 unless the message was sent.",
    ),
]


@group.command("email")
def email(
    to: To,
    subject: Subject,
    text: Text = None,
    text_file: TextFile = None,
    html_file: HtmlFile = None,
    attach: Attach = None,
    cc: Cc = None,
    bcc: Bcc = None,
    reply_to: ReplyTo = None,
    sender: Sender = None,
    at: At = None,
    wait: Wait = None,
    tenant: Owner = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Send an email.

    It is queued; a worker sends it and retries temporary failures.
    """
    if str(text_file) == "-" and str(html_file) == "-":
        raise InvalidArgument(
            "--text-file and --html-file cannot both read stdin", "html_file", "Use a file for one of them"
        )
    body = body_of(text, text_file)
    html = None if html_file is None else text_of(html_file, "html_file")
    files = [attached(path) for path in attach or ()]
    due = time_of(at)

    async def send(session: TenantSession, owner: TenantId) -> Sent:
        return await session.engine.messages.send_email(
            owner,
            to=to,
            subject=subject,
            text=body,
            html=html,
            sender=sender,
            cc=cc or (),
            bcc=bcc or (),
            reply_to=reply_to,
            attachments=files,
            at=due,
        )

    _send(send, tenant, wait, as_json=as_json)


@group.command("sms")
def sms(
    to: Number,
    text: Text = None,
    text_file: TextFile = None,
    sender: FromNumber = None,
    at: At = None,
    wait: Wait = None,
    tenant: Owner = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Send a text message.

    It is queued; a worker sends it and retries temporary failures.
    """
    body = body_of(text, text_file)
    due = time_of(at)

    async def send(session: TenantSession, owner: TenantId) -> Sent:
        return await session.engine.messages.send_sms(owner, to=to, text=body or "", sender=sender, at=due)

    _send(send, tenant, wait, as_json=as_json)


def _send(
    send: Callable[[TenantSession, TenantId], Awaitable[Sent]],
    tenant: str,
    wait: float | None,
    *,
    as_json: bool,
) -> None:
    async def call() -> tuple[Sent, Sending]:
        async with tenant_session() as session:
            owner = await session.tenant(tenant, change="message send")
            sent = await send(session, owner)
            return sent, await session.engine.messages.wait(owner, sent.process_id, wait or 0)

    sent, sending = run(call())
    if as_json:
        output.document(
            {
                "message_id": sent.message_id,
                "process_id": sent.process_id,
                "state": sending.state,
                "attempts": sending.attempts,
                "error_message": sending.error_message,
            }
        )
    else:
        output.write(f"{sent.process_id}  {sending.state}")
        if wait is not None and sending.state != "succeeded":
            warn(f"error: {_why(sent, sending)}")
    if wait is not None and sending.state != "succeeded":
        raise typer.Exit(Exit.REFUSED)


def _why(sent: Sent, sending: Sending) -> str:
    said = escape(sending.error_message or "")
    if sending.state == "failed":
        return f"the message was not sent: {said}"
    if said:
        return (
            f"the message was not sent yet and will be retried: {said} (penstock process show "
            f"{sent.process_id})"
        )
    return f"the message was not sent yet; is a worker running? (penstock process show {sent.process_id})"
