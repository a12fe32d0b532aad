"""Makes real documents at run time, for demonstrations and tests: each maker returns the file's bytes."""

from penstock.testing.papers.content import Piece, Rows
from penstock.testing.papers.docx_maker import docx
from penstock.testing.papers.mail import eml
from penstock.testing.papers.pdf_maker import pdf
from penstock.testing.papers.scan import scan_pdf, scan_png
from penstock.testing.papers.web import html

__all__ = ["Piece", "Rows", "docx", "eml", "html", "pdf", "scan_pdf", "scan_png"]
