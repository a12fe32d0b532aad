"""All readers by the kind of file they read."""

from __future__ import annotations

from penstock.pipeline.parse.protocol import Reader
from penstock.pipeline.parse.readers.delimited import DelimitedReader
from penstock.pipeline.parse.readers.mail import MailReader
from penstock.pipeline.parse.readers.markdown import MarkdownReader
from penstock.pipeline.parse.readers.outlook import OutlookReader
from penstock.pipeline.parse.readers.pdf import PdfReader
from penstock.pipeline.parse.readers.picture import PictureReader
from penstock.pipeline.parse.readers.plain import PlainReader
from penstock.pipeline.parse.readers.sheets import SheetsReader
from penstock.pipeline.parse.readers.slides import SlidesReader
from penstock.pipeline.parse.readers.web import WebReader
from penstock.pipeline.parse.readers.word import WordReader

READERS: tuple[Reader, ...] = (
    PlainReader(),
    MarkdownReader(),
    WebReader(),
    DelimitedReader(),
    PdfReader(),
    WordReader(),
    SlidesReader(),
    SheetsReader(),
    MailReader(),
    OutlookReader(),
    PictureReader(),
)
READER_OF = {kind: reader for reader in READERS for kind in reader.kinds}
