"""The corpus: Penstock's documentation and the docstrings of Python's standard library, with questions."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.relevance.questions import ANSWERED

ROOT = Path(__file__).parent.parent.parent
_MODULES = (
    "argparse asyncio base64 bisect calendar cmd codecs collections configparser contextlib copy csv "
    "dataclasses datetime decimal difflib email.message enum fileinput fnmatch fractions ftplib functools "
    "getpass gettext glob gzip hashlib heapq hmac html http.client http.cookies http.server imaplib inspect "
    "io ipaddress itertools json linecache locale logging lzma mailbox mimetypes multiprocessing netrc "
    "operator optparse os pathlib pickle platform plistlib poplib pprint queue random re sched secrets "
    "select selectors shelve shlex shutil signal smtplib socket socketserver sqlite3 ssl stat statistics "
    "string struct subprocess tarfile tempfile textwrap threading time timeit tokenize traceback turtle "
    "types typing unittest urllib.parse urllib.request uuid warnings wave weakref webbrowser "
    "xml.dom.minidom xml.etree.ElementTree zipfile zlib"
)
LEAST_WORDS = 30


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the file that answers it and, if it is known, how the answer begins."""

    text: str
    filename: str
    answer: str | None = None


def pages() -> Iterator[tuple[str, str]]:
    """File names and Markdown."""
    for path in sorted((ROOT / "docs").rglob("*.md")):
        if path.name != "README.md":
            yield path.name, path.read_text()
    for module, entries in _docstrings():
        sections = [f"## {module}.{name}\n\n{body}" for name, _, body in entries]
        yield f"{module}.md", f"# {module}\n\n" + "\n\n".join(sections)


def asked() -> list[Asked]:
    """About the documentation by hand; about the library the first sentence of each docstring."""
    found = [Asked(text, filename) for text, filename in ANSWERED.items()]
    for module, entries in _docstrings():
        for _, question, body in entries[:4]:
            found.append(Asked(question, f"{module}.md", " ".join(body.split())[:40]))
    return found


def _docstrings() -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """For each module names, first sentences and the rest of their docstrings."""
    for name in _MODULES.split():
        module = importlib.import_module(name)
        entries = []
        for each, value in sorted(vars(module).items()):
            if each.startswith("_") or getattr(value, "__module__", None) != name or not callable(value):
                continue
            first, _, rest = (inspect.getdoc(value) or "").partition("\n\n")
            question = " ".join(first.split()).rstrip(".")
            if len(rest.split()) >= LEAST_WORDS and 4 <= len(question.split()) <= 20:
                entries.append((each, question, " ".join(rest.split())))
        if entries:
            yield name, entries
