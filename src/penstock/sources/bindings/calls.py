"""Calls a provider's logical methods through the bindings that a source uses."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any, Protocol

from penstock.sources.bindings.binding import Binding, Method
from penstock.sources.bindings.mcp_calls import McpCalls
from penstock.sources.bindings.page import RecordPage
from penstock.sources.bindings.rest_calls import RestCalls
from penstock.sources.errors import BindingMismatch


class Transport(Protocol):
    """Calls the methods of one binding."""

    async def page(self, method: Method, values: Mapping[str, Any], cursor: Any) -> RecordPage: ...
    def content(
        self, method: Method, values: Mapping[str, Any]
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]: ...


class Calls(Protocol):
    """The logical methods of one provider, as its reader calls them."""

    def has(self, name: str) -> bool:
        """Whether a method can be called."""

    async def page(
        self, name: str, values: Mapping[str, Any] | None = None, cursor: Any = None
    ) -> RecordPage:
        """One page. Raises the errors of `penstock.sources.errors`; CallRejected for a rejected call."""

    def content(
        self, name: str, values: Mapping[str, Any]
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """The bytes that a method returns."""


class BoundCalls:
    """Each method is called through the first binding that has it."""

    def __init__(self, provider: str, bindings: Sequence[tuple[Binding, Transport]]) -> None:
        self._provider = provider
        self._bindings = bindings

    def has(self, name: str) -> bool:
        return any(name in binding.methods for binding, _ in self._bindings)

    async def page(
        self, name: str, values: Mapping[str, Any] | None = None, cursor: Any = None
    ) -> RecordPage:
        method, transport = self._found(name)
        return await transport.page(method, values or {}, cursor)

    def content(
        self, name: str, values: Mapping[str, Any]
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        method, transport = self._found(name)
        return transport.content(method, values)

    def _found(self, name: str) -> tuple[Method, Transport]:
        for binding, transport in self._bindings:
            if name in binding.methods:
                return binding.methods[name], transport
        used = ", ".join(binding.name for binding, _ in self._bindings)
        raise BindingMismatch(self._provider, used, f"none of them has {name}")


@asynccontextmanager
async def open_calls(
    provider: str,
    bindings: Sequence[Binding],
    *,
    mcp_url: str | None,
    api_url: str,
    token: str | None,
    constants: Mapping[str, Any],
    most_bytes: int,
    allow_private: bool,
) -> AsyncIterator[BoundCalls]:
    """Connections for one sync; `constants` are values for the placeholders of every method.

    A binding's tools are compared with the server's before the first call of one of them.
    """
    async with AsyncExitStack() as stack:
        opened: list[tuple[Binding, Transport]] = []
        taken: set[str] = set()
        for binding in bindings:
            used = [method for name, method in binding.methods.items() if name not in taken]
            taken |= binding.methods.keys()
            made: McpCalls | RestCalls
            if binding.transport == "mcp":
                assert mcp_url is not None, "a provider with such a binding has the address of its server"
                made = McpCalls(
                    provider, binding, used, mcp_url, token, constants, allow_private=allow_private
                )
            else:
                made = RestCalls(
                    provider,
                    binding,
                    api_url,
                    token,
                    constants,
                    most_bytes=most_bytes,
                    allow_private=allow_private,
                )
            stack.push_async_callback(made.close)
            opened.append((binding, made))
        yield BoundCalls(provider, opened)
