"""Generates PDF files whose content is known: columns, tables, footers, forms, turned pages and more.

They are drawn in different ways, since real files are: by a report generator in reading order, line by line
across columns, word by word, or in no order at all.
"""

from __future__ import annotations

from pathlib import Path

from bench.reading.made import pdf_prose, pdf_tabular
from bench.reading.truth import Truth

_MAKERS = (
    pdf_prose.report,
    pdf_prose.paper,
    pdf_prose.paper_drawn_by_line,
    pdf_prose.three_columns,
    pdf_prose.running_lines,
    pdf_prose.footnotes,
    pdf_prose.hyphens,
    pdf_prose.turned,
    pdf_prose.slides,
    pdf_prose.browser_print,
    pdf_prose.right_to_left,
    pdf_tabular.ruled,
    pdf_tabular.open_sided,
    pdf_tabular.borderless,
    pdf_tabular.long_cells,
    pdf_tabular.table_beside_prose,
    pdf_tabular.sideways_table,
    pdf_tabular.form,
    pdf_tabular.invoice,
    pdf_tabular.filing,
    pdf_tabular.mixed,
)


def make(folder: Path) -> list[Truth]:
    """Write the files into a folder; the same at every call. A file that needs a missing font is left out."""
    made = (maker(folder / f"{maker.__name__}.pdf") for maker in _MAKERS)
    return [truth for truth in made if truth]
