"""Writes the API's description to console/openapi.json, from which the console's types are generated.

With --check it writes nothing and fails if the file differs. Neither needs a database, a network or Node.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from penstock.api import create_app
from penstock.engine.engine import Engine
from penstock.settings import Settings

DESCRIBED = Path(__file__).parent.parent / "console/openapi.json"


def described() -> str:
    """The description; without the version, which changes without the API."""
    app = create_app(Engine(Settings(_env_file=None)))
    document = app.openapi()
    document["info"]["version"] = "0"
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def main() -> int:
    """0 if the file is, or now is, what the code says."""
    current = described()
    if sys.argv[1:] != ["--check"]:
        DESCRIBED.write_text(current, encoding="utf-8")
        return 0
    if DESCRIBED.is_file() and DESCRIBED.read_text(encoding="utf-8") == current:
        return 0
    print("console/openapi.json is not what the API is now. Run: make console-types", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
