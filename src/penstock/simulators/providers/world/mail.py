"""Gmail's part of the world: threads with the contacts, labels, attachments and a log of history."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, TypeAlias

from penstock.simulators.providers.world.clock import SimulatedClock
from penstock.simulators.providers.world.mime import SentMail
from penstock.simulators.providers.world.pdf import make_pdf

OWNER: Final = "sam.miller@millbrook.example"
OWNER_NAME: Final = "Sam Miller"
HistoryKind: TypeAlias = Literal["messagesAdded", "messagesDeleted", "labelsAdded", "labelsRemoved"]


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file in a mail; a PDF is made of its lines when it is read."""

    filename: str
    mime: str
    lines: tuple[str, ...]

    def content(self) -> bytes:
        text = "\n".join(self.lines)
        return make_pdf(self.lines) if self.mime == "application/pdf" else text.encode()


@dataclass(slots=True)
class Message:
    """One mail."""

    id: str
    thread_id: str
    history_id: int
    date: datetime
    sender: str
    to: tuple[str, ...]
    subject: str
    text: str
    labels: list[str]
    cc: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    attachments: tuple[Attachment, ...] = ()
    answers: str | None = None
    """The Message-ID this one answers."""
    sent: SentMail | None = None
    """The mail as it was sent, if it was delivered as MIME."""

    @property
    def rfc_id(self) -> str:
        if self.sent is not None:
            return self.sent.header("Message-ID")
        return f"<{self.id}@mail.millbrook.example>"

    @property
    def has_files(self) -> bool:
        return bool(self.sent.files if self.sent is not None else self.attachments)

    @property
    def snippet(self) -> str:
        return " ".join(self.text.split())[:120]


@dataclass(frozen=True, slots=True)
class History:
    """An entry of the log."""

    id: int
    kind: HistoryKind
    message_id: str
    thread_id: str
    labels: tuple[str, ...]


@dataclass(slots=True)
class Mailbox:
    """One person's mailbox; `listeners` hear of every entry of its history."""

    clock: SimulatedClock
    address: str = OWNER
    listeners: list[Callable[[Mailbox, History], None]] = field(default_factory=list)
    messages: dict[str, Message] = field(default_factory=dict)
    threads: dict[str, list[str]] = field(default_factory=dict)
    history: list[History] = field(default_factory=list)
    history_id: int = 100_000
    oldest_history: int = 0
    """history.list answers 404 for a start below this."""
    revision: int = 0
    _by_rfc_id: dict[str, str] = field(default_factory=dict)
    _last: int = 0x18F0_0000_0000_0000

    def add(
        self,
        *,
        sender: str,
        subject: str,
        text: str,
        to: Sequence[str] = (OWNER,),
        cc: Sequence[str] = (),
        thread_id: str | None = None,
        headers: Mapping[str, str] | None = None,
        attachments: Sequence[Attachment] = (),
        labels: Sequence[str] = ("INBOX", "UNREAD"),
        at: datetime | None = None,
        sent: SentMail | None = None,
    ) -> Message:
        """A new mail, in a new thread or as an answer in an existing one."""
        self._last += 0x1_0007
        number = f"{self._last:x}"
        before = self.messages[self.threads[thread_id][-1]] if thread_id in self.threads else None
        self.history_id += 7
        message = Message(
            number,
            thread_id or number,
            self.history_id,
            at or self.clock.now(),
            sender,
            tuple(to),
            subject,
            text,
            list(labels),
            tuple(cc),
            dict(headers or {}),
            tuple(attachments),
            None if before is None else before.rfc_id,
            sent,
        )
        self.messages[number] = message
        self.threads.setdefault(message.thread_id, []).append(number)
        self._log("messagesAdded", message)
        return message

    def deliver(
        self, sent: SentMail, *, labels: Sequence[str] = ("INBOX", "UNREAD"), at: datetime | None = None
    ) -> Message:
        """A mail as it came in; it joins the thread of the mail it answers."""
        answered = sent.header("In-Reply-To") or sent.header("References").rpartition(" ")[2]
        added = self.add(
            sender=sent.header("From"),
            subject=sent.header("Subject"),
            text=sent.text,
            to=tuple(part.strip() for part in sent.header("To").split(",")),
            cc=tuple(part.strip() for part in sent.header("Cc").split(",") if part.strip()),
            thread_id=self._by_rfc_id.get(answered),
            labels=labels,
            at=at,
            sent=sent,
        )
        if added.rfc_id:
            self._by_rfc_id[added.rfc_id] = added.thread_id
        return added

    def label(self, message_id: str, *, add: Sequence[str] = (), remove: Sequence[str] = ()) -> Message:
        message = self.messages[message_id]
        message.labels = [each for each in message.labels if each not in remove] + list(add)
        self.history_id += 7
        message.history_id = self.history_id
        if add:
            self._log("labelsAdded", message, tuple(add))
        if remove:
            self._log("labelsRemoved", message, tuple(remove))
        return message

    def trash(self, thread_id: str) -> None:
        """Move a thread to the bin: it leaves threads.list."""
        for message_id in self.threads[thread_id]:
            self.label(message_id, add=("TRASH",), remove=("INBOX",))

    def delete(self, thread_id: str) -> None:
        """Delete a thread for good."""
        self.history_id += 7
        for message_id in self.threads.pop(thread_id):
            self._log("messagesDeleted", self.messages.pop(message_id))

    def delete_message(self, message_id: str) -> None:
        """Delete one mail for good."""
        self.history_id += 7
        message = self.messages.pop(message_id)
        within = self.threads[message.thread_id]
        within.remove(message_id)
        if not within:
            del self.threads[message.thread_id]
        self._log("messagesDeleted", message, tuple(message.labels))

    def forget_history(self) -> int:
        """Every known history id becomes too old; the oldest one that still works."""
        self.oldest_history = self.history_id
        return self.oldest_history

    def of(self, thread_id: str) -> list[Message]:
        return [self.messages[each] for each in self.threads.get(thread_id, ())]

    def newest_first(self) -> Iterable[str]:
        """Thread ids by the date of their last mail."""
        last = {each: (self.messages[ids[-1]].date, each) for each, ids in self.threads.items()}
        return sorted(self.threads, key=last.__getitem__, reverse=True)

    def _log(self, kind: HistoryKind, message: Message, labels: tuple[str, ...] = ()) -> None:
        self.revision += 1
        entry = History(self.history_id, kind, message.id, message.thread_id, labels)
        self.history.append(entry)
        for listener in self.listeners:
            listener(self, entry)
