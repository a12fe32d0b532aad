"""Reads rich text (RTF) from its tokens: what each group is for, and the encoding of its bytes."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field, replace

from penstock.pipeline.parse.office.rtf_document import ParagraphFormat, RtfDocument
from penstock.pipeline.parse.office.rtf_tokens import Token, tokens
from penstock.pipeline.reasons import Reason, rejected

_CHARSETS = {
    0: "cp1252",
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gbk",
    136: "big5",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
}
_TWO_BYTES = frozenset({"cp932", "cp936", "cp949", "cp950", "cp1361", "gbk", "big5", "johab"})
_CODE_PAGES = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850", "ansi": "cp1252"}
_CHARACTERS = {
    "tab": "\t",
    "line": "\n",
    "emdash": "\u2014",
    "endash": "\u2013",
    "emspace": " ",
    "enspace": " ",
    "lquote": "\u2018",
    "rquote": "\u2019",
    "ldblquote": "\u201c",
    "rdblquote": "\u201d",
    "bullet": "\u2022",
    "qmspace": " ",
    "softline": "\n",
    "page": "\n",
    "column": "\n",
    "zwj": "\u200d",
    "zwnj": "\u200c",
    "ltrmark": "\u200e",
    "rtlmark": "\u200f",
}
_SYMBOLS = {"~": "\xa0", "_": "-", "\n": "\n", "\r": "\n", "{": "{", "}": "}", "\\": "\\"}
_SKIPPED = {
    *("colortbl", "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf"),
    *(
        "pict",
        "objdata",
        "annotation",
        "atnid",
        "atnauthor",
        "nonesttables",
        "shprslt",
        "listtable",
        "rsidtbl",
    ),
    *("listoverridetable", "revtbl", "fldinst", "xe", "tc", "generator", "sp", "nonshppict", "bkmkstart"),
    *("bkmkend", "datafield", "themedata", "latentstyles", "datastore", "ftnsep", "ftnsepc", "objclass"),
    *("objname", "private", "aftnsep", "aftnsepc", "pgdsctbl", "operator", "manager", "company", "do"),
}
_ENTERED = {"shpinst", "moMath"}
"""Groups whose content counts, though they are marked as optional."""
_INFO = {"title", "author", "subject", "keywords", "creatim", "revtim", "doccomm"}
_TIME = {"yr": "{:04}", "mo": "-{:02}", "dy": "-{:02}", "hr": "T{:02}", "min": ":{:02}"}
_HEADING = re.compile(r"\s*(?:heading|überschrift|titre|título|titolo|kop|rubrik)\s+([1-9])\b", re.I)
_MOST_DEPTH = 10_000


@dataclass(slots=True)
class _Group:
    purpose: str = "body"
    """body, skip, note, box, mark, fonts, styles, info, or one of the fields in info."""
    encoding: str = "cp1252"
    after_unicode: int = 1
    hidden: bool = False
    starts: bool = True
    """Nothing but the sign for an optional group was read in it yet."""
    optional: bool = False
    text: list[str] | None = None
    """Where the text of this group goes, if not to that of the group around."""
    format: ParagraphFormat | None = None


@dataclass(slots=True)
class RtfReader:
    document: RtfDocument = field(default_factory=RtfDocument)
    is_cut: bool = False
    """Only the last brace was missing."""
    _group: _Group = field(default_factory=lambda: _Group(text=[]))
    _stack: list[_Group] = field(default_factory=list)
    _fonts: dict[int, str] = field(default_factory=dict)
    _font: int = 0
    _style: int = 0
    _default: str = "cp1252"
    _bytes: bytearray = field(default_factory=bytearray)
    _to_skip: int = 0
    """Characters that repeat a Unicode one for old programs."""
    _high: int = 0
    """The first half of a character beyond U+FFFF, which RTF writes as two."""

    def read(self, data: bytes) -> RtfDocument:
        for token in tokens(data.decode("latin-1")):
            if token.byte is not None:
                self._byte(token.byte)
                continue
            text = token.text
            if self._bytes:
                # The second byte of a character may be written as the letter that has its number.
                if self._lacks_half() and (half := text[:1] or _SYMBOLS.get(token.symbol, "")):
                    self._bytes += half.encode("latin-1")
                    text = text[1:]
                    self._flush()
                    if not text:
                        continue
                self._flush()
            if text:
                self._text(text)
            elif token.word:
                self._word(token)
            elif token.brace:
                self._brace(token.brace)
            elif token.symbol == "*":
                self._group.optional = True
            elif token.symbol in _SYMBOLS:
                self._put(_SYMBOLS[token.symbol])
        if len(self._stack) > 1:
            raise rejected(Reason.TRUNCATED, "the rich text ends inside a group")
        self._flush()
        if self._stack:
            self.is_cut = True
            self._brace("}")
        self.document.end_paragraph(self._taken())
        self.document.end()
        return self.document

    def _byte(self, byte: int) -> None:
        if self._to_skip:
            self._to_skip -= 1
        else:
            self._bytes.append(byte)

    def _lacks_half(self) -> bool:
        """Whether the bytes end with the first one of a character that has two."""
        encoding = self._group.encoding
        if encoding not in _TWO_BYTES:
            return False
        decoder = codecs.getincrementaldecoder(encoding)("replace")
        decoder.decode(bytes(self._bytes))
        return bool(decoder.getstate()[0])

    def _flush(self) -> None:
        if self._bytes:
            held, self._bytes = bytes(self._bytes), bytearray()
            self._put(held.decode(self._group.encoding, "replace"))

    def _text(self, text: str) -> None:
        if self._to_skip:
            skipped = min(self._to_skip, len(text))
            self._to_skip -= skipped
            text = text[skipped:]
        if text and not text.isascii():
            text = text.encode("latin-1", "replace").decode(self._group.encoding, "replace")
        self._put(text)

    def _put(self, text: str) -> None:
        group = self._group
        group.starts = False
        if text:
            self._high = 0
        if group.purpose == "fonts":
            return
        if group.purpose == "styles":
            if found := _HEADING.match(text):
                self.document.levels.setdefault(self._style, int(found[1]))
            elif text.strip().rstrip(";").lower() == "title":
                self.document.levels.setdefault(self._style, 1)
        elif group.purpose != "skip" and not group.hidden and group.text is not None:
            group.text.append(text)

    def _taken(self) -> str:
        text = self._group.text
        if text is None:
            return ""
        taken = "".join(text)
        text.clear()
        return taken

    def _brace(self, brace: str) -> None:
        self._to_skip = 0
        if brace == "{":
            if len(self._stack) > _MOST_DEPTH:
                raise rejected(Reason.BOMB, f"groups are nested more than {_MOST_DEPTH:,} deep")
            self._stack.append(self._group)
            self._group = replace(self._group, starts=True, optional=False, format=None)
        elif self._stack:
            ended, self._group = self._group, self._stack.pop()
            if ended.text is not None and ended.text is not self._group.text:
                self._end_group(ended)

    def _end_group(self, ended: _Group) -> None:
        said = "".join(ended.text or ())
        if ended.purpose == "note":
            self._put(self.document.note(said))
        elif ended.purpose == "box":
            self.document.box(said)
        elif ended.purpose == "mark":
            self.document.mark = said.strip() or "•"
        elif ended.purpose in _INFO:
            self.document.info.setdefault(ended.purpose, said.strip())
        if ended.format is not None:
            self.document.format = ended.format

    def _opens(self, purpose: str) -> None:
        """From here on the group's text is collected on its own."""
        self._group.purpose, self._group.text, self._group.hidden = purpose, [], False
        if purpose in ("note", "box", "mark"):  # its paragraphs must not change those around
            self._group.format = replace(self.document.format)

    def _word(self, token: Token) -> None:
        word, number = token.word, token.number
        group = self._group
        starts, group.starts = group.starts, False
        if group.purpose == "skip":
            return
        if starts and self._destination(word):
            return
        if word == "u":
            self._unicode(number or 0)
        elif word in _CHARACTERS:
            self._put(_CHARACTERS[word])
        elif word == "uc":
            group.after_unicode = max(0, min(number or 0, 100))
        elif word == "f":
            self._font = number or 0
            if group.purpose != "fonts":
                group.encoding = self._fonts.get(self._font, self._default)
        elif word == "fcharset":
            self._fonts[self._font] = _CHARSETS.get(number or 0, self._default) if number else self._default
        elif word in ("v", "deleted"):
            group.hidden = number != 0
        elif word == "plain":
            group.hidden, group.encoding = False, self._default
        elif word == "ansicpg" or word in _CODE_PAGES:
            self._code_page(_CODE_PAGES.get(word, f"cp{number}"))
        elif word in _TIME and group.purpose in _INFO and group.text is not None:
            group.text.append(_TIME[word].format(number or 0))
        elif group.purpose == "styles":
            self._styled(word, number)
        elif group.purpose == "body":
            self._paragraph(word, number)
        elif word == "par" and group.text is not None:
            group.text.append("\n")

    def _destination(self, word: str) -> bool:
        """Whether the word says what its group is for."""
        group = self._group
        if word == "fonttbl":
            group.purpose = "fonts"
        elif word == "stylesheet":
            group.purpose = "styles"
        elif word == "info":
            group.purpose = "info"
        elif group.purpose == "info":
            self._opens(word if word in _INFO else "skip")
        elif group.purpose in ("fonts", "styles"):
            return False
        elif word == "footnote":
            self._opens("note")
        elif word == "shptxt":
            self._opens("box")
        elif word in ("listtext", "pntext"):
            self._opens("mark")
        elif word in _SKIPPED or (group.optional and word not in _ENTERED):
            group.purpose = "skip"
        else:
            return False
        return True

    def _unicode(self, number: int) -> None:
        code = number + 65_536 if number < 0 else number
        if 0xD800 <= code < 0xDC00:
            self._high = code
        elif 0xDC00 <= code < 0xE000:
            high, self._high = self._high, 0
            self._put(chr(0x10000 + ((high - 0xD800) << 10) + code - 0xDC00) if high else "\ufffd")
        else:
            self._put(chr(code) if 0 < code < 0x110000 else "")
        self._to_skip = self._group.after_unicode

    def _code_page(self, name: str) -> None:
        try:
            codecs.lookup(name)
        except LookupError:
            return
        self._default = self._group.encoding = name

    def _styled(self, word: str, number: int | None) -> None:
        if word == "s":
            self._style = number or 0
        elif word == "outlinelevel" and number is not None and 0 <= number < 9:
            self.document.levels.setdefault(self._style, number + 1)

    def _paragraph(self, word: str, number: int | None) -> None:
        document = self.document
        if word == "par" or word == "sect":
            document.end_paragraph(self._taken())
        elif word in ("cell", "nestcell"):
            document.end_cell(self._taken())
        elif word in ("row", "nestrow"):
            document.end_row()
        elif word == "pard":
            document.format = ParagraphFormat()
        elif word == "s":
            document.format.style = number or 0
        elif word == "outlinelevel":
            document.format.outline = number
        elif word == "intbl":
            document.format.in_table = True
        elif word == "ilvl":
            document.format.depth = max(0, min(number or 0, 9))
