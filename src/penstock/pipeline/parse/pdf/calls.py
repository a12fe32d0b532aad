"""Pdfium's functions that are called for each word or object, bound so that a call converts only numbers.

The bindings of pypdfium2 make a typed pointer of each argument and result, which takes longer than the call.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, TypeAlias

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]  # it ships no types

Address = int
"""Where pdfium or an array of ours has something in memory; 0 is nothing."""

Reference: TypeAlias = Any
"""An address as an argument."""


def address_of(pointer: object) -> Address:
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0  # type: ignore[arg-type]


def reference(address: Address) -> Reference:
    """What is there, as an argument that needs no conversion in any call."""
    return ctypes.byref(ctypes.c_char.from_address(address))


def _bound(function: object, result: type, *arguments: type) -> Callable[..., Any]:
    """Without types of arguments: references and numbers, which are passed on as a C int."""
    return ctypes.PYFUNCTYPE(result, *arguments)(address_of(function))


_AT, _NUMBER = ctypes.c_void_p, ctypes.c_int

character = _bound(pdfium.FPDFText_GetUnicode, ctypes.c_uint)
"""(reference to a text page, index)"""
loose_box = _bound(pdfium.FPDFText_GetLooseCharBox, _NUMBER)
"""(reference to a text page, index, reference to four floats that it fills: left, top, right, bottom)"""
text_object = _bound(pdfium.FPDFText_GetTextObject, _AT)
"""(reference to a text page, index); None for a character that pdfium itself adds"""
text_matrix = _bound(pdfium.FPDFText_GetMatrix, _NUMBER)
"""(reference to a text page, index, reference to six floats that it fills)"""
font_size = _bound(pdfium.FPDFText_GetFontSize, ctypes.c_double)
"""(reference to a text page, index)"""
font_of = _bound(pdfium.FPDFTextObj_GetFont, _AT, _AT)
page_object = _bound(pdfium.FPDFPage_GetObject, _AT)
"""(reference to a page, index)"""
object_kind = _bound(pdfium.FPDFPageObj_GetType, _NUMBER, _AT)
