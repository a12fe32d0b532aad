"""Pdfium's functions that are called for each word or object, bound so that a call converts only numbers.

The bindings of pypdfium2 make a typed pointer of each argument and result, which takes longer than the call.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]  # it ships no types

Address = int
"""Where pdfium or an array of ours has something in memory; 0 is nothing."""


def address_of(pointer: object) -> Address:
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0  # type: ignore[arg-type]


def _bound(function: object, result: type, *arguments: type) -> Callable[..., Any]:
    return ctypes.PYFUNCTYPE(result, *arguments)(address_of(function))


_AT, _NUMBER = ctypes.c_void_p, ctypes.c_int

character = _bound(pdfium.FPDFText_GetUnicode, ctypes.c_uint, _AT, _NUMBER)
"""(text page, index)"""
loose_box = _bound(pdfium.FPDFText_GetLooseCharBox, _NUMBER, _AT, _NUMBER, _AT)
"""(text page, index, four floats that it fills: left, top, right, bottom)"""
text_object = _bound(pdfium.FPDFText_GetTextObject, _AT, _AT, _NUMBER)
"""(text page, index); None for a character that pdfium itself adds"""
text_matrix = _bound(pdfium.FPDFText_GetMatrix, _NUMBER, _AT, _NUMBER, _AT)
"""(text page, index, six floats that it fills)"""
font_size = _bound(pdfium.FPDFText_GetFontSize, ctypes.c_double, _AT, _NUMBER)
"""(text page, index)"""
font_of = _bound(pdfium.FPDFTextObj_GetFont, _AT, _AT)
page_object = _bound(pdfium.FPDFPage_GetObject, _AT, _AT, _NUMBER)
"""(page, index)"""
object_kind = _bound(pdfium.FPDFPageObj_GetType, _NUMBER, _AT)
