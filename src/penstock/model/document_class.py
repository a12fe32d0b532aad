"""The classes into which the classifier sorts documents, and which of them are kept."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

Treatment: TypeAlias = Literal["keep", "skip"]
ClassifierName: TypeAlias = Literal["off", "local", "llm"]

CLASSIFIERS: Final[tuple[ClassifierName, ...]] = ("off", "local", "llm")
MAILBOXES: Final = frozenset({"outlook", "gmail", "imap"})
"""The kinds of sources whose mails the rules sort, and whose documents are classified by default."""
CLASSES: Final[dict[str, Treatment]] = {
    "invoice": "keep",
    "receipt": "keep",
    "contract": "keep",
    "order": "keep",
    "statement": "keep",
    "delivery_note": "keep",
    "correspondence": "keep",
    "other": "keep",
    "marketing_material": "skip",
    "signature_image": "skip",
    "newsletter": "skip",
    "notification": "skip",
    "personal": "skip",
}
"""By its name, what becomes of a document of this class unless its source says otherwise."""
UNSURE: Final = "other"
"""The class of a document that fits none."""
