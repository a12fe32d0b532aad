"""The values of a PDF's form fields as words at the place of their field."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import pypdfium2  # type: ignore[import-untyped]  # it ships no types
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from penstock.pipeline.parse.pdf.words import AFTER_ALL, Word

_MOST_FIELDS = 5_000
_MOST_BYTES = 200_000
_LINE = 12.0


def field_words(page: pypdfium2.PdfPage, form: pypdfium2.PdfFormEnv | None) -> Iterator[Word]:
    """Filled text fields and choices, and `[x]` for boxes that are ticked."""
    if form is None:
        return
    place = AFTER_ALL
    for at in range(min(_MOST_FIELDS, pdfium.FPDFPage_GetAnnotCount(page.raw))):
        field = pdfium.FPDFPage_GetAnnot(page.raw, at)
        if not field:
            continue
        try:
            if pdfium.FPDFAnnot_GetSubtype(field) != pdfium.FPDF_ANNOT_WIDGET:
                continue
            said = _value(field, form)
            box = pdfium.FS_RECTF()
            if not said or not pdfium.FPDFAnnot_GetRect(field, box):
                continue
        finally:
            pdfium.FPDFPage_CloseAnnot(field)
        left, bottom = min(box.left, box.right), min(box.top, box.bottom)
        top, right = max(box.top, box.bottom), max(box.left, box.right)
        lines = [line.split() for line in said.splitlines() if line.strip()]
        high = (top - bottom) / max(1, len(lines))
        size = max(4.0, min(_LINE, 0.8 * high))
        for number, line in enumerate(lines):
            middle = top - (number + 0.5) * high
            wide = (right - left) / max(1, sum(map(len, line)) + len(line))
            wide = min(wide, 0.5 * size)
            x = left
            for word in line:
                end = x + wide * len(word)
                yield Word(x, middle - size / 2, end, middle + size / 2, word, size, bold=False, place=place)
                place, x = place + 1, end + wide


def _value(field: object, form: pypdfium2.PdfFormEnv) -> str:
    kind = pdfium.FPDFAnnot_GetFormFieldType(form.raw, field)
    if kind in (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON):
        return "[x]" if pdfium.FPDFAnnot_IsChecked(form.raw, field) else ""
    if kind in (
        pdfium.FPDF_FORMFIELD_TEXTFIELD,
        pdfium.FPDF_FORMFIELD_COMBOBOX,
        pdfium.FPDF_FORMFIELD_LISTBOX,
    ):
        return _text(field, form)
    return ""


def _text(field: object, form: pypdfium2.PdfFormEnv) -> str:
    length = pdfium.FPDFAnnot_GetFormFieldValue(form.raw, field, None, 0)
    if not 2 < length <= _MOST_BYTES:
        return ""
    held = (ctypes.c_uint16 * (length // 2 + 1))()
    pdfium.FPDFAnnot_GetFormFieldValue(form.raw, field, held, length)
    return bytes(held).decode("utf-16-le", "replace").partition("\x00")[0]
