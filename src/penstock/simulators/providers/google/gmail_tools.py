"""The tools of Gmail's MCP server, and the logical methods of the sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from penstock.simulators.providers.google import gmail_messages
from penstock.simulators.providers.google.drive_tools import tool_errors
from penstock.simulators.providers.google.gmail_rest import (
    LOOK,
    READ,
    listed_threads,
    not_found,
    rest_thread,
    thread_line,
)
from penstock.simulators.providers.tools import (
    Tool,
    ToolAnswer,
    ToolFailed,
    boolean,
    integer,
    object_schema,
    string,
    structured,
    whole_number,
)

if TYPE_CHECKING:
    from penstock.simulators.providers.google.gmail_provider import Gmail

FORMATS: Final = ("MINIMAL", "FULL_CONTENT", "METADATA_ONLY")
_THREADS: Final = object_schema(
    threads={"type": "array", "items": {"type": "object"}}, nextPageToken={"type": "string"}
)
_THREAD: Final = object_schema(id={"type": "string"}, messages={"type": "array", "items": {"type": "object"}})
_TOKEN: Final = string("The nextPageToken of the previous page.")


class GmailTools:
    """The handlers of the tools."""

    def __init__(self, gmail: Gmail) -> None:
        self._gmail = gmail

    def vendor(self) -> list[Tool]:
        search = {
            "query": string("Gmail's search words."),
            "pageSize": integer("Threads per page.", minimum=1, maximum=50, default=20),
            "pageToken": _TOKEN,
            "includeTrash": boolean("Also threads in the bin."),
        }
        get = {
            "threadId": string("The id of the thread."),
            "messageFormat": string("How much of each message.", enum=list(FORMATS)),
        }
        return [
            Tool(
                "search_threads",
                "Lists threads, newest first.",
                tool_errors(self._search),
                search,
                [],
                _THREADS,
                LOOK,
            ),
            Tool(
                "get_thread",
                "A thread with its messages.",
                tool_errors(self._get),
                get,
                ["threadId"],
                _THREAD,
                READ,
            ),
        ]

    def sandbox(self) -> list[Tool]:
        listing = {
            "q": string("Gmail's search words."),
            "maxResults": integer("Threads per page.", minimum=1, maximum=500, default=100),
            "pageToken": _TOKEN,
            "includeSpamTrash": boolean("Also threads in the bin and spam."),
        }
        get = {
            "id": string("The id of the thread."),
            "format": string("Format.", enum=["full", "metadata", "minimal"]),
        }
        return [
            Tool(
                "gmail.threads.list", "Lists threads.", tool_errors(self._list), listing, [], _THREADS, LOOK
            ),
            Tool(
                "gmail.threads.get",
                "A thread with its messages.",
                tool_errors(self._thread),
                get,
                ["id"],
                _THREAD,
                READ,
            ),
        ]

    def _search(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        query = {
            "q": arguments.get("query"),
            "pageToken": arguments.get("pageToken"),
            "maxResults": whole_number(arguments, "pageSize", 20, 50),
            "includeSpamTrash": bool(arguments.get("includeTrash")),
        }
        ids, token, _ = listed_threads(self._gmail, query)
        mailbox, fields = self._gmail.world.gmail, self._gmail.message_fields
        threads = [
            {
                "id": each,
                "messages": [
                    gmail_messages.tool_message(mail, "MINIMAL", fields) for mail in mailbox.of(each)
                ],
            }
            for each in ids
        ]
        return structured({"threads": threads} | ({"nextPageToken": token} if token else {}))

    def _get(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        form = arguments.get("messageFormat") or "FULL_CONTENT"
        if form not in FORMATS:
            raise ToolFailed(f"Invalid messageFormat: {form}")
        messages = self._gmail.world.gmail.of(str(arguments["threadId"]))
        if not messages:
            raise not_found()
        fields = self._gmail.message_fields
        shown = [gmail_messages.tool_message(each, form, fields) for each in messages]
        return structured({"id": arguments["threadId"], "messages": shown})

    def _list(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        ids, token, total = listed_threads(self._gmail, dict(arguments))
        lines = [thread_line(self._gmail.world.gmail, each) for each in ids]
        body = {"threads": lines, "resultSizeEstimate": min(total, 201)}
        return structured(body | ({"nextPageToken": token} if token else {}))

    def _thread(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        form = str(arguments.get("format") or "full")
        return structured(rest_thread(self._gmail.world.gmail, str(arguments["id"]), form))
