"""The media types that can be read, and the file extensions and other names that stand for them."""

from __future__ import annotations

from penstock.model import text_media

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
DOC, PPT, XLS = "application/msword", "application/vnd.ms-powerpoint", "application/vnd.ms-excel"
ODT = "application/vnd.oasis.opendocument.text"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
ODP = "application/vnd.oasis.opendocument.presentation"
EPUB = "application/epub+zip"
RTF = "application/rtf"
HTML = "text/html"
MARKDOWN = "text/markdown"
CSV = "text/csv"
TEXT = "text/plain"
EML = "message/rfc822"
MSG = "application/vnd.ms-outlook"
PNG, JPEG, TIFF = "image/png", "image/jpeg", "image/tiff"
GIF, BMP, WEBP = "image/gif", "image/bmp", "image/webp"
ZIP = "application/zip"
TAR = "application/x-tar"
GZIP, BZIP2, XZ = "application/gzip", "application/x-bzip2", "application/x-xz"
TNEF = "application/ms-tnef"
OLE = "application/x-ole-storage"
EMPTY = "application/x-empty"
UNKNOWN = "application/octet-stream"

_EXTENSIONS = {
    PDF: "pdf",
    PNG: "png",
    JPEG: "jpg",
    TIFF: "tiff",
    GIF: "gif",
    BMP: "bmp",
    WEBP: "webp",
    DOCX: "docx",
    PPTX: "pptx",
    XLSX: "xlsx",
    DOC: "doc",
    PPT: "ppt",
    XLS: "xls",
    ODT: "odt",
    ODS: "ods",
    ODP: "odp",
    EPUB: "epub",
    RTF: "rtf",
    HTML: "html",
    MARKDOWN: "md",
    CSV: "csv",
    TEXT: "txt",
    EML: "eml",
    MSG: "msg",
    ZIP: "zip",
    TNEF: "tnef",
    TAR: "tar",
    GZIP: "gz",
    BZIP2: "bz2",
    XZ: "xz",
    **{kind: endings[0] for kind, endings in text_media.ALL.items()},
}
_OTHER_EXTENSIONS = {
    "jpeg": JPEG,
    "tif": TIFF,
    "htm": HTML,
    "xhtml": HTML,
    "markdown": MARKDOWN,
    "text": TEXT,
}
_OTHER_EXTENSIONS |= {"log": TEXT, "dib": BMP, "tsv": CSV, "jpe": JPEG, "mht": EML}
_OTHER_EXTENSIONS |= {"docm": DOCX, "dotx": DOCX, "dotm": DOCX, "dot": DOC, "wbk": DOC}
_OTHER_EXTENSIONS |= {"pptm": PPTX, "ppsx": PPTX, "ppsm": PPTX, "potx": PPTX, "pps": PPT, "pot": PPT}
_OTHER_EXTENSIONS |= {"xlsm": XLSX, "xltx": XLSX, "xltm": XLSX, "xlt": XLS}
_OTHER_EXTENSIONS |= {"ott": ODT, "ots": ODS, "otp": ODP}
_OTHER_EXTENSIONS |= {"tgz": GZIP, "tbz2": BZIP2, "tbz": BZIP2, "txz": XZ}
_OTHER_EXTENSIONS |= {other: kind for kind, endings in text_media.ALL.items() for other in endings[1:]}
_FAMILIES = (
    ("PDF", (PDF,)),
    ("DOCX, PPTX, XLSX, DOC, PPT, XLS", (DOCX, PPTX, XLSX, DOC, PPT, XLS)),
    ("ODT, ODP, ODS, RTF, EPUB", (ODT, ODP, ODS, RTF, EPUB)),
    ("HTML, Markdown, CSV, plain text", (HTML, MARKDOWN, CSV, TEXT)),
    (
        "JSON, XML, LaTeX, AsciiDoc, reStructuredText, Org, Jupyter notebooks, subtitles",
        text_media.STRUCTURED,
    ),
    ("source code", text_media.CODE),
    ("mail (EML, MSG, winmail.dat)", (EML, MSG, TNEF)),
    ("images (PNG, JPEG, TIFF, GIF, BMP, WebP)", (PNG, JPEG, TIFF, GIF, BMP, WEBP)),
    ("archives (ZIP, TAR, gzip, bzip2, xz)", (ZIP, TAR, GZIP, BZIP2, XZ)),
)
SUPPORTED_NAMES = ", ".join(said for said, _ in _FAMILIES)
"""The supported types as a person calls them."""
_BY_EXTENSION = {ending: kind for kind, ending in _EXTENSIONS.items()} | _OTHER_EXTENSIONS
_OTHER_NAMES = {
    "image/jpg": JPEG,
    "image/pjpeg": JPEG,
    "image/x-png": PNG,
    "image/x-ms-bmp": BMP,
    "application/x-pdf": PDF,
    "application/xhtml+xml": HTML,
    "text/x-markdown": MARKDOWN,
    "application/csv": CSV,
    "text/tab-separated-values": CSV,
    "application/x-msg": MSG,
    "application/x-zip-compressed": ZIP,
    "application/vnd.ms-tnef": TNEF,
    "text/rtf": RTF,
    "text/richtext": RTF,
    "application/x-rtf": RTF,
    "application/vnd.ms-word": DOC,
    "application/x-msexcel": XLS,
    "application/mspowerpoint": PPT,
    "application/vnd.ms-word.document.macroenabled.12": DOCX,
    "application/vnd.ms-excel.sheet.macroenabled.12": XLSX,
    "application/vnd.ms-powerpoint.presentation.macroenabled.12": PPTX,
    "application/x-gzip": GZIP,
    "application/x-bzip": BZIP2,
    "application/tar": TAR,
    "application/x-gtar": TAR,
    **text_media.OTHER_NAMES,
}

SUPPORTED = frozenset(_EXTENSIONS)
"""The types that can be turned into text."""
TEXTUAL = frozenset({HTML, MARKDOWN, CSV, TEXT, EML}) | frozenset(text_media.ALL)
"""Types without a magic number: detecting one of them is a guess."""
IMAGES = frozenset({PNG, JPEG, TIFF, GIF, BMP, WEBP})
OFFICE = frozenset({DOCX, PPTX, XLSX})
OLD_OFFICE = frozenset({DOC, PPT, XLS})
OPEN_DOCUMENT = frozenset({ODT, ODS, ODP})
PACKAGES = OFFICE | OPEN_DOCUMENT | {EPUB}
"""Types that are zip archives inside."""
PACKED = frozenset({GZIP, BZIP2, XZ})
"""One file that is packed, often a TAR archive."""


def extension(mime_type: str) -> str:
    """The file extension for this type, without the dot; `bin` if unknown."""
    return _EXTENSIONS.get(declared_kind(mime_type) or "", "bin")


def kind_of_name(filename: str | None) -> str | None:
    """The supported type that a file's extension stands for, if any."""
    ending = (filename or "").rpartition(".")[2].lower()
    return _BY_EXTENSION.get(ending) if "." in (filename or "") else None


def declared_kind(declared: str | None) -> str | None:
    """The type that a declared type stands for; None if it says nothing."""
    bare = (declared or "").partition(";")[0].strip().lower()
    return (_OTHER_NAMES.get(bare, bare) or None) if bare != UNKNOWN else None
