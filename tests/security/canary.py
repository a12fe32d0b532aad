"""A text found nowhere else, every form it may take at rest, and the search for it in tables and files."""

from __future__ import annotations

import base64
import re
import secrets
from pathlib import Path

from penstock.db import Connection

HEX = re.compile(r"\\+x([0-9a-f]{2,})")

TABLES = """
select c.oid::regclass::text as place, coalesce(pg_partition_root(c.oid), c.oid)::regclass::text as name,
  array(
    select quote_ident(a.attname) from pg_attribute a
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attnum) as columns
from pg_class c
where c.relkind in ('r', 'm') and c.relnamespace <> 'pg_toast'::regnamespace
order by 1
"""


class Canary:
    """`mark(field)` is what is planted; all marks begin alike, and that beginning is looked for.

    With `prefix` it looks for a text that somebody else made.
    """

    def __init__(self, prefix: str | None = None) -> None:
        self.prefix = prefix or "canary" + secrets.token_hex(5)
        raw = self.prefix.encode()
        cores = [core for alphabet in (b"+/", b"-_") for core in _base64_cores(raw, alphabet)]
        self._exact = (*cores, raw.decode("ascii"))
        self._bytes = tuple(
            {
                *(core.encode() for core in self._exact),
                raw.hex().encode(),
                raw.upper(),
                self.prefix.encode("utf-16-le"),
                self.prefix.encode("utf-16-be"),
            }
        )

    def mark(self, field: str) -> str:
        return self.prefix + re.sub(r"[^a-z0-9]", "", field.lower())

    def mark_bytes(self, field: str) -> bytes:
        """As long as a SHA-256, because some columns take nothing else."""
        return self.mark(field).encode()[:32].ljust(32, b".")

    def is_in(self, text: str) -> bool:
        """Plain in any case, as base64, as hexadecimal digits, or inside bytes that are shown as such."""
        if any(form in text for form in self._exact) or self.prefix in text.lower():
            return True
        if self.prefix.encode().hex() in text.lower():
            return True
        return any(self.is_in_bytes(_unhex(found)) for found in HEX.findall(text))

    def is_in_bytes(self, data: bytes) -> bool:
        return any(form in data for form in self._bytes) or self.prefix.encode() in data.lower()


def _base64_cores(data: bytes, alphabet: bytes) -> list[str]:
    """What is the same in the base64 of any text that holds this one, for each of the three offsets."""
    cores = []
    for offset in range(3):
        whole = base64.b64encode(bytes(offset) + data, alphabet)
        cores.append(whole[-(-offset * 8 // 6) : (offset + len(data)) * 8 // 6].decode())
    return cores


def _unhex(digits: str) -> bytes:
    return bytes.fromhex(digits[: len(digits) // 2 * 2])


async def columns_with(admin: Connection, canary: Canary) -> set[str]:
    """`schema.table.column` of every table there is, the server's own and its statistics too."""
    found = set()
    for table in await admin.fetch(TABLES):
        shown = ", ".join(f"{column}::text" for column in table["columns"])
        rows = await admin.fetch(f"select {shown} from only {table['place']}")
        # Most tables hold it nowhere: one look at everything in them tells.
        if not canary.is_in("\n".join(text for row in rows for text in row.values() if text is not None)):
            continue
        for row in rows:
            found |= {
                f"{table['name']}.{column}"
                for column, text in zip(table["columns"], row.values(), strict=True)
                if text is not None and canary.is_in(text)
            }
    return found


def files_with(folder: Path, canary: Canary) -> set[str]:
    """Every file below a folder whose bytes or name hold it."""
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if canary.is_in(path.name) or (path.is_file() and canary.is_in_bytes(path.read_bytes()))
    }
