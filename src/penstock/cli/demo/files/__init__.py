"""Creates real documents for demonstrations and tests; each function returns the file's bytes."""

from penstock.cli.demo.files.content import Piece, Rows
from penstock.cli.demo.files.docx_maker import docx
from penstock.cli.demo.files.mail import eml
from penstock.cli.demo.files.pdf_maker import pdf
from penstock.cli.demo.files.scan import scan_pdf, scan_png
from penstock.cli.demo.files.web import html

__all__ = ["Piece", "Rows", "docx", "eml", "html", "pdf", "scan_pdf", "scan_png"]
