"""The commands of LaTeX by what a reader does with them: levels, symbols, accents, what is dropped."""

from __future__ import annotations

import unicodedata

LEVELS = {
    "part": 1,
    "chapter": 1,
    "section": 2,
    "subsection": 3,
    "subsubsection": 4,
    "paragraph": 5,
    "subparagraph": 6,
    "frametitle": 2,
}
TABLES = {
    "tabular": 1,
    "tabularx": 2,
    "tabulary": 2,
    "longtable": 1,
    "array": 1,
    "supertabular": 1,
    "tblr": 1,
}
"""Environments of tables, with the arguments that are not cells."""
LISTS = frozenset({"itemize", "enumerate", "description"})
CODE = frozenset({"verbatim", "lstlisting", "minted", "Verbatim", "alltt", "comment"})
DROPPED = {
    **dict.fromkeys(
        (
            *("label", "vspace", "hspace", "input", "include", "includegraphics", "usepackage", "pagestyle"),
            *("thispagestyle", "bibliographystyle", "bibliography", "documentclass", "graphicspath", "index"),
            *("cline", "cmidrule", "color", "pagenumbering", "hypersetup", "RequirePackage", "includeonly"),
            *("phantom", "fontsize", "selectlanguage", "tikzset", "lstset", "geometry", "rowcolor"),
        ),
        1,
    ),
    "setlength": 2,
    "addtolength": 2,
    "setcounter": 2,
    "addtocounter": 2,
    "definecolor": 3,
    "textcolor": 1,
    "rule": 2,
    "resizebox": 2,
    "raisebox": 1,
}
"""Commands whose arguments are no text, with their number."""

_GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"),
    *(
        "nu",
        "xi",
        "omicron",
        "pi",
        "rho",
        "final sigma",
        "sigma",
        "tau",
        "upsilon",
        "phi",
        "chi",
        "psi",
        "omega",
    ),
)
SYMBOLS = {name: chr(0x3B1 + number) for number, name in enumerate(_GREEK) if " " not in name}
SYMBOLS |= {name.capitalize(): chr(0x391 + number) for number, name in enumerate(_GREEK) if " " not in name}
SYMBOLS |= {
    "varepsilon": "ε",
    "vartheta": "ϑ",
    "varphi": "φ",
    "times": "×",  # noqa: RUF001
    "cdot": "·",
    "pm": "±",
    "leq": "≤",
    "le": "≤",
    "geq": "≥",
    "ge": "≥",
    "neq": "≠",
    "ne": "≠",
    "approx": "≈",
    "equiv": "≡",
    "infty": "∞",
    "sum": "∑",
    "prod": "∏",
    "int": "∫",
    "partial": "∂",
    "nabla": "∇",
    "in": "∈",
    "subset": "⊂",
    "cup": "∪",  # noqa: RUF001
    "cap": "∩",
    "forall": "∀",
    "exists": "∃",
    "to": "→",
    "rightarrow": "→",
    "Rightarrow": "⇒",
    "leftarrow": "←",
    "ldots": "…",
    "dots": "…",
    "cdots": "…",
    "textellipsis": "…",
    "ss": "ß",
    "ae": "æ",
    "AE": "Æ",
    "oe": "œ",
    "OE": "Œ",
    "o": "ø",
    "O": "Ø",
    "aa": "å",
    "AA": "Å",
    "l": "ł",
    "L": "Ł",
    "i": "i",
    "j": "j",
    "textendash": "–",  # noqa: RUF001
    "textemdash": "—",
    "textbackslash": "\\",
    "textasciitilde": "~",
    "textunderscore": "_",
    "textquoteright": "’",  # noqa: RUF001
    "euro": "€",
    "texteuro": "€",
    "pounds": "£",
    "copyright": "©",
    "S": "§",
    "P": "¶",
    "degree": "°",
    "LaTeX": "LaTeX",
    "TeX": "TeX",
    "and": "; ",
    "quad": " ",
    "qquad": " ",
    "left": " ",
    "right": " ",
    "limits": " ",
    "displaystyle": " ",
    "mathrm": " ",
    "mathbf": " ",
    "mathit": " ",
    "mathcal": " ",
    "mathbb": " ",
    "text": " ",
    "textbf": "",
    "textit": "",
    "hline": "",
    "toprule": "",
    "midrule": "",
    "bottomrule": "",
}
ACCENTS = {
    "'": "\u0301",
    "`": "\u0300",
    "^": "\u0302",
    '"': "\u0308",
    "~": "\u0303",
    "=": "\u0304",
    ".": "\u0307",
    "u": "\u0306",
    "v": "\u030c",
    "H": "\u030b",
    "c": "\u0327",
    "d": "\u0323",
    "b": "\u0331",
    "r": "\u030a",
    "k": "\u0328",
}


def accented(accent: str, letter: str) -> str:
    """The letter with its accent, as one character where there is one."""
    letter = letter.strip()
    return unicodedata.normalize("NFC", letter[:1] + ACCENTS[accent]) + letter[1:] if letter else ""
