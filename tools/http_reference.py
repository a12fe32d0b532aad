"""The reference of HTTP calls with their scopes, parameters, bodies and answers, from the routes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from penstock.api import create_app
from penstock.api.app import ROUTERS
from penstock.api.guarded import GuardedRoute, StreamedRoute
from penstock.api.identity import Needs
from penstock.engine.engine import Engine
from penstock.settings import Settings

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "http-calls.md"
INTRO = """# HTTP: every call

On this page you can look up each call of the API: the scope it needs, what it takes and what it
returns. It is written by `make generate` from the routes themselves; [HTTP](http.md) explains keys,
sessions, waiting, paging, errors and limits, and shows how the calls are used. *or installation*:
somebody signed in to the whole installation may make the call without naming a tenant;
*installation only*: nobody else may. A field marked * is required. Every call may answer with a
[problem](http.md#problems).
"""
IDEMPOTENCY = "Idempotency-Key"
METHODS = ("get", "post", "put", "patch", "delete")


def page() -> str:
    document = create_app(Engine(Settings(_env_file=None))).openapi()
    schemas: dict[str, Any] = document["components"]["schemas"]
    scopes = dict(_scopes())
    parts = [INTRO]
    for tag in document["tags"]:
        parts.append(f"## {tag['name']}\n\n{tag['description']}\n")
        for path, calls in sorted(document["paths"].items()):
            for method in METHODS:
                call = calls.get(method)
                if call is not None and tag["name"] in call.get("tags", ()):
                    parts.append(_section(method.upper(), path, call, scopes, schemas))
    return "\n".join(parts)


def _scopes() -> Iterator[tuple[str, str]]:
    """What the caller of each operation needs."""
    for route in (route for router in ROUTERS for route in router.routes):
        if not isinstance(route, GuardedRoute | StreamedRoute):
            continue
        for dependency in route.dependant.dependencies:
            if isinstance(dependency.call, Needs):
                needs = dependency.call
                scope = f"`{needs.scope}`" if needs.scope else "any key or session"
                also = (
                    ""
                    if not needs.installation
                    else ", or installation"
                    if needs.tenant
                    else ", installation only"
                )
                yield str(route.operation_id), f"{scope}{also}"


def _section(
    method: str, path: str, call: dict[str, Any], scopes: dict[str, str], schemas: dict[str, Any]
) -> str:
    lines = [f"### {method} {path}\n", f"{call['summary'].rstrip('.')}."]
    about = call.get("description", "").strip()
    if about and about.rstrip(".") != call["summary"].rstrip("."):
        lines[-1] += " " + " ".join(about.split())
    needs = scopes.get(call.get("operationId", ""))
    lines.append(f"\nNeeds {needs}." if needs else "\nNeeds no key.")
    given = [each for each in call.get("parameters", ()) if each["name"] != IDEMPOTENCY]
    if given:
        lines += ["", "| parameter | in | type | meaning |", "|---|---|---|---|"]
        lines += [
            f"| `{each['name']}`{'*' if each.get('required') else ''} | {each['in']} "
            f"| {_type(each['schema'])} | {_cell(each.get('description', ''))} |"
            for each in given
        ]
    for kind, content in call.get("requestBody", {}).get("content", {}).items():
        shown = _fields(content.get("schema", {}), schemas)
        if shown:
            lines.append(f"\nBody ({kind}): {shown}.")
    for status, answer in sorted(call.get("responses", {}).items()):
        if status.startswith(("2", "3")):
            contents: list[dict[str, Any]] = [*answer.get("content", {}).values(), {}]
            shown = _fields(contents[0].get("schema", {}), schemas)
            lines.append(f"\nAnswers {status}{f': {shown}' if shown else ''}.")
    return "\n".join(lines) + "\n"


def _fields(schema: dict[str, Any], schemas: dict[str, Any]) -> str:
    """The names and types of an object's fields."""
    whole = schemas.get(str(schema.get("$ref", "")).rsplit("/", 1)[-1], schema)
    fields = whole.get("properties")
    if fields is None:
        return "" if not schema else _type(schema)
    required = set(whole.get("required", ()))
    return ", ".join(
        f"`{name}`{'*' if name in required else ''} ({_type(field)})" for name, field in fields.items()
    )


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in schema or "oneOf" in schema:
        kinds = [_type(each) for each in schema.get("anyOf", schema.get("oneOf", ()))]
        return " or ".join(dict.fromkeys(kinds))
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    kind = str(schema.get("format") or schema.get("type") or "anything")
    least, most = schema.get("minimum"), schema.get("maximum")
    bounds = f", {least:,} to {most:,}" if least is not None and most is not None else ""
    default = schema.get("default")
    return f"{kind}{bounds}" + (f", default `{default}`" if default not in (None, {}, []) else "")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
