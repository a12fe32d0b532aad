"""Generates PDF files of text: columns, headings, running lines, footnotes, hyphens, turned pages."""

from __future__ import annotations

from pathlib import Path

from reportlab.lib.pagesizes import A4, landscape  # type: ignore[import-untyped]  # it ships no types
from reportlab.lib.styles import getSampleStyleSheet  # type: ignore[import-untyped]
from reportlab.lib.utils import simpleSplit  # type: ignore[import-untyped]
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer  # type: ignore[import-untyped]

from bench.reading.made.pdf_drawing import HEIGHT, TOP, WIDTH, by_word, column, drawn_lines, wrapped
from bench.reading.made.pdf_texts import Sentences, marks
from bench.reading.truth import Truth


def report(path: Path) -> Truth:
    """One column from a report generator, with bookmarks."""
    say, sheet = Sentences(1), getSampleStyleSheet()
    story: list[object] = []
    text: list[str] = []
    headings: list[tuple[str, ...]] = []
    order: list[str] = []

    class _Document(SimpleDocTemplate):  # type: ignore[misc]  # the library has no types
        def afterFlowable(self, flowable: object) -> None:  # noqa: N802  # the library's name
            level = {"Heading1": 0, "Heading2": 1}.get(getattr(getattr(flowable, "style", None), "name", ""))
            if level is not None:
                said = flowable.getPlainText()  # type: ignore[attr-defined]
                self.canv.bookmarkPage(said)
                self.canv.addOutlineEntry(said, said, level)

    def add(words: str, style: str) -> None:
        story.append(Paragraph(words, sheet[style]))
        text.append(words)

    add("Annual Survey of Waterways", "Title")
    headings.append(("Annual Survey of Waterways",))
    for chapter in ("Summary", "Rivers", "Canals"):
        add(chapter, "Heading1")
        headings.append((*headings[0], chapter))
        for part in ("", f"{chapter} in the north", f"{chapter} in the south"):
            if part:
                add(part, "Heading2")
                headings.append((chapter, part))
            for paragraph in say.paragraphs(2):
                add(paragraph, "Normal")
                story.append(Spacer(1, 6))
                order += marks(paragraph)
    _Document(str(path), title="Survey").build(story)
    return Truth(path, "pdf", "\n".join(text), headings=tuple(headings), order=tuple(order))


def paper(path: Path) -> Truth:
    """Two columns with a title over both, drawn column by column; baselines of the columns differ."""
    say, page = Sentences(2), Canvas(str(path))
    title, left, right = "On the Flow of Water in Narrow Channels", say.paragraphs(4), say.paragraphs(4)
    page.setFont("Times-Bold", 17)
    page.drawCentredString(WIDTH / 2, TOP, title)
    page.setFont("Times-Roman", 11)
    page.drawCentredString(WIDTH / 2, TOP - 26, "Ada Alder and Bob Beech")
    headings = ("1 Introduction", "2 Method", "3 Results", "4 Conclusion")
    column(page, 60, TOP - 60, 230, left, headings[:2])
    column(page, 305, TOP - 65, 230, right, headings[2:])
    page.save()
    text = [title, "Ada Alder and Bob Beech", *headings, *left, *right]
    paths = [(title,), *((title, heading) for heading in headings)]
    return Truth(path, "pdf", "\n".join(text), headings=tuple(paths), order=(title, *marks(*left, *right)))


def paper_drawn_by_line(path: Path) -> Truth:
    """Two columns whose lines are drawn across the page, so that the file's order mixes them."""
    say, page = Sentences(3), Canvas(str(path))
    left, right = say.paragraphs(5), say.paragraphs(5)
    both = [wrapped(each, 225, "Times-Roman", 10) for each in (left, right)]
    page.setFont("Times-Bold", 16)
    page.drawString(60, TOP, "Letters on Weirs")
    page.setFont("Times-Roman", 10)
    for at in range(max(map(len, both))):
        for x, lines in zip((60, 310), both, strict=True):
            if at < len(lines):
                by_word(page, x, TOP - 30 - 12 * at, lines[at])
    page.save()
    order = ("Letters on Weirs", *marks(*left, *right))
    text = "\n".join(["Letters on Weirs", *left, *right])
    return Truth(path, "pdf", text, headings=(("Letters on Weirs",),), order=order)


def three_columns(path: Path) -> Truth:
    """A newsletter: three columns, drawn from the right one to the left one."""
    say, page = Sentences(4), Canvas(str(path), pagesize=landscape(A4))
    columns = [say.paragraphs(4, 3) for _ in range(3)]
    page.setFont("Helvetica-Bold", 26)
    page.drawString(50, 520, "The Harbour Letter")
    page.setFont("Helvetica", 10)
    for x, paragraphs in reversed(list(zip((50, 305, 560), columns, strict=True))):
        y = 480.0
        for paragraph in paragraphs:
            for line in simpleSplit(paragraph, "Helvetica", 10, 225):
                page.drawString(x, y, line)
                y -= 12
            y -= 8
    page.save()
    every = [paragraph for column in columns for paragraph in column]
    return Truth(
        path,
        "pdf",
        "\n".join(["The Harbour Letter", *every]),
        headings=(("The Harbour Letter",),),
        order=("The Harbour Letter", *marks(*every)),
    )


def running_lines(path: Path) -> Truth:
    """Twelve pages with a header and a counting footer; sentences go on from page to page."""
    say, page = Sentences(9), Canvas(str(path))
    lines = wrapped([say.paragraph(150)], 450, "Times-Roman", 11)
    each = len(lines) // 12
    for number in range(12):
        page.setFont("Times-Italic", 9)
        page.drawString(72, HEIGHT - 40, "Harbour Authority: Report on Works")
        page.drawCentredString(WIDTH / 2, 36, f"Page {number + 1} of 12")
        page.setFont("Times-Roman", 11)
        for at, line in enumerate(lines[each * number : each * (number + 1) if number < 11 else None]):
            page.drawString(72, TOP - 14 * at, line)
        page.showPage()
    page.save()
    whole = " ".join(lines)
    text = f"Harbour Authority: Report on Works\n{whole}\nPage 1 of 12"
    return Truth(path, "pdf", text, order=marks(whole))


def footnotes(path: Path) -> Truth:
    """Two columns with a footnote below the left one."""
    say, page = Sentences(10), Canvas(str(path))
    left, right = say.paragraphs(4), say.paragraphs(4)
    page.setFont("Times-Roman", 10)
    low = drawn_lines(page, 60, TOP, 230, left)
    page.line(60, low - 10, 140, low - 10)
    page.setFont("Times-Roman", 8)
    page.drawString(60, low - 22, "1 The ledger of the second lock is lost since the flood.")
    page.setFont("Times-Roman", 10)
    drawn_lines(page, 310, TOP, 230, right)
    page.save()
    note = "1 The ledger of the second lock is lost since the flood."
    order = (*marks(*left, *right), "The ledger of the second lock is lost")
    return Truth(path, "pdf", "\n".join([*left, *right, note]), order=order)


def hyphens(path: Path) -> Truth:
    """Words divided at line ends; one of them has its hyphen in the middle of a line, too."""
    page = Canvas(str(path))
    lines = (
        "The harbour is open to inter-",
        "national trade and to com-",
        "mercial ships of the well-",
        "known lines. A well-known line",
        "pays its dues in ad-",
        "vance, as the commer-",
        "cial code demands of it.",
    )
    page.setFont("Times-Roman", 12)
    for at, line in enumerate(lines):
        page.drawString(72, TOP - 15 * at, line)
    page.save()
    text = (
        "The harbour is open to international trade and to commercial ships of the well-known lines. A "
        "well-known line pays its dues in advance, as the commercial code demands of it."
    )
    return Truth(path, "pdf", text, order=("international trade", "commercial ships", "in advance as the"))


def turned(path: Path) -> Truth:
    """A page shown turned by a quarter, so that its text is upright, and one that is upside down."""
    say, page = Sentences(11), Canvas(str(path))
    texts = [say.paragraphs(3), say.paragraphs(3)]
    for turn, paragraphs in zip((90, 180), texts, strict=True):
        page.setPageRotation(turn)
        page.saveState()
        if turn == 90:
            page.translate(WIDTH, 0)
        else:
            page.translate(WIDTH, HEIGHT)
        page.rotate(turn)
        page.setFont("Helvetica-Bold", 18)
        page.drawString(60, 500, f"Turned by {turn}")
        page.setFont("Helvetica", 10)
        drawn_lines(page, 60, 460, 400, paragraphs)
        page.restoreState()
        page.showPage()
    page.save()
    text = "\n".join(["Turned by 90", *texts[0], "Turned by 180", *texts[1]])
    paths = (("Turned by 90",), ("Turned by 180",))
    order = ("Turned by 90", *marks(*texts[0]), "Turned by 180", *marks(*texts[1]))
    return Truth(path, "pdf", text, headings=paths, order=order)


def slides(path: Path) -> Truth:
    """Pages like slides: a large title, bullets, and two lists side by side; the title is drawn last."""
    page = Canvas(str(path), pagesize=landscape(A4))
    titles = ("Why the canal was dug", "Arguments on both sides")
    points = ("Grain had to reach the city", "Roads were closed in winter", "Coal came by sea only")
    fors = ("Cheaper freight for all", "Work for many hands", "Water for the mills")
    against = ("Fields are cut in two", "The treasury is empty", "Locks need constant care")
    page.setFont("Helvetica", 20)
    for at, point in enumerate(points):
        page.drawString(80, 380 - 50 * at, "•")
        page.drawString(110, 380 - 50 * at, point)
    page.setFont("Helvetica-Bold", 34)
    page.drawString(80, 480, titles[0])
    page.showPage()
    page.setFont("Helvetica", 20)
    for at in range(3):
        page.drawString(80, 380 - 50 * at, f"• {fors[at]}")
        page.drawString(450, 380 - 50 * at, f"• {against[at]}")
    page.setFont("Helvetica-Bold", 34)
    page.drawString(80, 480, titles[1])
    page.save()
    order = (titles[0], *points, titles[1], *fors, *against)
    return Truth(path, "pdf", "\n".join(order), headings=tuple((each,) for each in titles), order=order)


def browser_print(path: Path) -> Truth:
    """A web page as a browser prints it: turned axes and scaled fonts, a date above and an address below."""
    say, page = Sentences(13), Canvas(str(path))
    paragraphs = [say.paragraphs(3) for _ in range(3)]
    for number, three in enumerate(paragraphs, start=1):
        page.saveState()
        page.scale(0.75, 0.75)
        page.setFont("Helvetica", 10)
        page.drawString(40, 1090, "18/11/2026, 10:15")
        page.drawString(400, 1090, "Notes of the lock keeper")
        page.drawString(40, 20, "https://example.org/notes")
        page.drawRightString(750, 20, f"{number}/3")
        page.setFont("Helvetica-Bold", 28)
        page.drawString(60, 1020, f"Chapter {number}")
        page.setFont("Helvetica", 16)
        y = 970.0
        for paragraph in three:
            for line in simpleSplit(paragraph, "Helvetica", 16, 640):
                by_word(page, 60, y, line, "Helvetica", 16)
                y -= 22
            y -= 16
        page.restoreState()
        page.showPage()
    page.save()
    every = [paragraph for three in paragraphs for paragraph in three]
    text = ["18/11/2026, 10:15 Notes of the lock keeper https://example.org/notes 1/3", *every]
    text += [f"Chapter {number}" for number in (1, 2, 3)]
    order = []
    for number, three in enumerate(paragraphs, start=1):
        order += [f"Chapter {number}", *marks(*three)]
    paths = tuple((f"Chapter {number}",) for number in (1, 2, 3))
    return Truth(path, "pdf", "\n".join(text), headings=paths, order=tuple(order))


def right_to_left(path: Path) -> Truth | None:
    """Hebrew, drawn as it is seen; needs a font of the machine."""
    from reportlab.pdfbase import pdfmetrics  # type: ignore[import-untyped]
    from reportlab.pdfbase.ttfonts import TTFError, TTFont  # type: ignore[import-untyped]

    try:
        pdfmetrics.registerFont(TTFont("Hebrew", "DejaVuSans.ttf"))
    except TTFError:
        return None
    lines = (
        "הנמל הישן נפתח מחדש בחודש מאי",
        "והספינה הראשונה הגיעה מן הצפון",
        "עם מטען של תבואה ושל עצים",
    )
    page = Canvas(str(path))
    page.setFont("Hebrew", 12)
    for at, line in enumerate(lines):
        page.drawRightString(500, TOP - 18 * at, line[::-1])
    page.save()
    order = (lines[0], "והספינה הראשונה", "תבואה ושל עצים")
    return Truth(path, "pdf", "\n".join(lines), order=order)
