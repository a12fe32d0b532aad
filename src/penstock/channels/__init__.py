"""The ways to the outside, behind one protocol, and the contract with the handlers of each attempt."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.channels.channel import Channel, ProviderFailed
    from penstock.channels.db_function import DbFunction
    from penstock.channels.email import EmailChannel
    from penstock.channels.envelope import Envelope, MalformedEnvelope, read_envelope
    from penstock.channels.exchange import Exchange
    from penstock.channels.file_delete import FileDeleteChannel
    from penstock.channels.messages import Messages, Sending, Sent
    from penstock.channels.settling import HandlerFailed
    from penstock.channels.sms import SmsChannel

__all__ = [
    "Channel",
    "DbFunction",
    "EmailChannel",
    "Envelope",
    "Exchange",
    "FileDeleteChannel",
    "HandlerFailed",
    "MalformedEnvelope",
    "Messages",
    "ProviderFailed",
    "Sending",
    "Sent",
    "SmsChannel",
    "read_envelope",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "channel": ["Channel", "ProviderFailed"],
        "db_function": ["DbFunction"],
        "email": ["EmailChannel"],
        "envelope": ["Envelope", "MalformedEnvelope", "read_envelope"],
        "exchange": ["Exchange"],
        "file_delete": ["FileDeleteChannel"],
        "messages": ["Messages", "Sending", "Sent"],
        "settling": ["HandlerFailed"],
        "sms": ["SmsChannel"],
    },
)
