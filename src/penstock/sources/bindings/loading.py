"""Reads bindings from the TOML files of their provider and checks them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final, get_args

from penstock.errors import InvalidArgument
from penstock.sources.bindings.binding import Binding, Method, Paging, Rule
from penstock.sources.bindings.paths import Path

NAME: Final = re.compile(r"[a-z0-9_-]+@[a-z0-9_.-]+")
_REQUEST: Final = re.compile(r"(GET|POST) ([/{]\S*)")
_BINDING_KEYS: Final = {"binding", "transport", "error_text", "errors", "methods"}
_METHOD_KEYS: Final = {
    "tool", "request", "arguments", "query", "body", "records", "values", "paging", "page_size", "timeout",
    "blocks", "content", "encoding",
}  # fmt: skip
_PAGING_KEYS: Final = {"rule", "next", "total", "first", "overlap"}


@cache
def binding_names(package: str) -> Sequence[str]:
    """The bindings that a provider's package has, by name."""
    folder = files(package) / "bindings"
    return sorted(each.name.removesuffix(".toml") for each in folder.iterdir() if each.name.endswith(".toml"))


@cache
def load_binding(package: str, name: str) -> Binding:
    """The binding of this name in a provider's package; InvalidArgument lists those there are."""
    if name not in binding_names(package):
        known = ", ".join(binding_names(package))
        raise InvalidArgument(f"there is no binding {name!r}", "bindings", f"Choose from {known}")
    return parse_binding((files(package) / "bindings" / f"{name}.toml").read_text("utf-8"), name)


def parse_binding(text: str, name: str) -> Binding:
    """The binding in a TOML text; ValueError says what is wrong, and where."""
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise ValueError(f"binding {name}: {wrong}") from None
    try:
        _only(given, _BINDING_KEYS)
        if given.get("binding") != name or NAME.fullmatch(name) is None:
            raise ValueError(
                f"binding = {given.get('binding')!r} must be the file's name, such as hubspot-mcp@2026-04"
            )
        if given.get("transport") not in ("mcp", "rest"):
            raise ValueError("transport must be mcp or rest")
        methods = {each: _method(each, table, given["transport"]) for each, table in _methods(given)}
        error_text = re.compile(given["error_text"]) if "error_text" in given else None
        errors = [_error(each) for each in given.get("errors", ())]
    except (ValueError, TypeError, re.error) as wrong:
        raise ValueError(f"binding {name}: {wrong}") from None
    return Binding(
        name=name, transport=given["transport"], methods=methods, error_text=error_text, errors=errors
    )


def _error(table: Mapping[str, Any]) -> tuple[re.Pattern[str], int]:
    _only(table, {"text", "status"})
    if table.get("status") not in range(400, 600) or not isinstance(table.get("text"), str):
        raise ValueError("an error has a text, which is a regular expression, and a status from 400 to 599")
    return re.compile(table["text"], re.IGNORECASE), table["status"]


def _methods(given: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    methods = given.get("methods")
    if not isinstance(methods, dict) or not methods:
        raise ValueError("it has no methods")
    return list(methods.items())


def _method(name: str, table: Mapping[str, Any], transport: str) -> Method:
    try:
        _only(table, _METHOD_KEYS)
        request = _REQUEST.fullmatch(table["request"]) if "request" in table else None
        if (transport == "mcp") is not ("tool" in table) or (transport == "rest") is not (
            request is not None
        ):
            raise ValueError("an mcp method has a tool, a rest method has a request such as GET /path")
        if not 0 < table.get("timeout", 60) <= 300 or not 0 < table.get("page_size", 100) <= 1_000:
            raise ValueError("timeout must be at most 300 seconds, page_size at most 1000")
        if table.get("paging", {}).get("overlap", 0) * 2 > table.get("page_size", 100):
            raise ValueError("paging.overlap must be at most half of page_size")
        if table.get("blocks", "one") not in ("one", "each"):
            raise ValueError("blocks must be one or each")
        if table.get("encoding", "base64") not in ("base64", "base64url", "text"):
            raise ValueError("encoding must be base64, base64url or text")
        return Method(
            name=name,
            tool=table.get("tool"),
            request=(request[1], request[2]) if request else None,
            arguments=table.get("arguments", table.get("query", {})),
            body=table.get("body"),
            records=Path(table["records"]) if "records" in table else None,
            values={key: Path(path) for key, path in table.get("values", {}).items()},
            paging=_paging(table.get("paging", {})),
            page_size=table.get("page_size", 100),
            timeout=float(table.get("timeout", 60)),
            blocks=table.get("blocks", "one"),
            content=Path(table["content"]) if "content" in table else None,
            encoding=table.get("encoding", "base64"),
        )
    except (ValueError, TypeError) as wrong:
        raise ValueError(f"{name}: {wrong}") from None


def _paging(table: Mapping[str, Any]) -> Paging:
    _only(table, _PAGING_KEYS)
    rule = table.get("rule", "none")
    if rule not in get_args(Rule):
        raise ValueError(f"paging.rule must be one of {', '.join(get_args(Rule))}")
    if rule in ("cursor", "keyset") and "next" not in table:
        raise ValueError(f"paging with the rule {rule} needs the path next")
    if rule == "offset" and "total" not in table:
        raise ValueError("paging with the rule offset needs the path total")
    return Paging(
        rule=rule,
        next=Path(table["next"]) if "next" in table else None,
        total=Path(table["total"]) if "total" in table else None,
        first=int(table.get("first", 0)),
        overlap=int(table.get("overlap", 0)),
    )


def _only(table: Mapping[str, Any], known: Collection[str]) -> None:
    if unknown := sorted(table.keys() - known):
        raise ValueError(f"unknown key {unknown[0]!r}; there are {', '.join(sorted(known))}")
