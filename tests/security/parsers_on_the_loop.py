"""Which patterns and parsers meet outside bytes on an event loop, and which do not."""

from __future__ import annotations

from typing import Final

from tests.security.edge_parsers import ON_THE_LOOP as OF_THE_EDGE
from tests.security.source_parsers import ON_THE_LOOP as OF_SOURCES
from tests.security.text_parsers import ON_THE_LOOP as OF_TEXTS
from tests.security.token_parsers import ON_THE_LOOP as OF_TOKENS

ON_THE_LOOP: Final = OF_THE_EDGE | OF_SOURCES | OF_TEXTS | OF_TOKENS
NOT_ON_A_LOOP: Final[dict[str, str]] = {
    "penstock.pipeline.classify.prototypes:tomllib": "a file that comes with the package",
    "penstock.api.server_pages._COMMAND": "our own sentences",
    "penstock.console.bundle._RELATIVE": "our own page",
    "penstock.console.bundle._index": "our own page",
    "penstock.backup.": "a command, on the operator's own archive",
    "penstock.cli.": "a command's own arguments and errors",
    "penstock.processes.channels.own": "the name of a channel that a program registers at its start",
    "penstock.index.qdrant_old_layout.NAME": "names of collections of the operator's own server",
    "penstock.index.qdrant_points.collection_of": "the name of a model that a program configures",
    "penstock.index.qdrant_points:zlib": "a checksum, nothing is unpacked",
    "penstock.embed.tokens._BYTE": "the tokenisers' own vocabulary",
    "penstock.embed.tokens._digits_stand_alone": "the tokenisers' own vocabulary",
    "penstock.pipeline.chunk.": "runs in the sandbox",
    "penstock.embed.local.minilm_install": "a command, on a file whose hash was checked",
    "penstock.pipeline.parse.engine": "runs in the sandbox",
    "penstock.pipeline.parse.guards": "runs in the sandbox",
    "penstock.pipeline.parse.markup": "runs in the sandbox",
    "penstock.pipeline.parse.markup_source": "runs in the sandbox",
    "penstock.pipeline.parse.markup_writer": "runs in the sandbox",
    "penstock.pipeline.parse.pdf.": "runs in the sandbox",
    "penstock.pipeline.parse.office.": "runs in the sandbox",
    "penstock.pipeline.parse.pdf_scans": "runs in the sandbox",
    "penstock.pipeline.parse.pdfium": "runs in the sandbox",
    "penstock.pipeline.parse.page_image": "runs in the sandbox",
    "penstock.pipeline.parse.readers.": "runs in the sandbox",
    "penstock.pipeline.parse.scan_words": "runs in the sandbox",
    "penstock.pipeline.parse.result:xberg": "for types only",
    "penstock.queue.schedule": "schedules are the app's own code",
    "penstock.processes.generator.": "a command's own arguments",
    "penstock.settings": "the operator's own settings",
    "penstock.source_settings": "the operator's own settings",
    "penstock.sources.bindings.loading": "files of installed packages; their patterns have a case",
    "penstock.sources.bindings.template": "files of installed packages; values are put in unread",
    "penstock.sources.google_drive.records:zlib": "a checksum, nothing is unpacked",
    "penstock.sources.mapping.map_file": "files of installed packages",
    "penstock.sources.mapping.expressions:jmespath.exceptions": "errors; the parser has a case",
    "penstock.sources.mapping.expressions:jmespath.functions": "replaced by our own functions",
    "penstock.sources.registry": "the names of installed packages",
    "penstock.simulators.": "not part of a running installation",
    "penstock.sql": "our own files",
    "penstock.testing.": "not part of a running installation",
    "penstock.webhooks.google_push:joserfc.errors": "errors; the parser has a case",
    "penstock.webhooks.public_keys:joserfc.errors": "errors; the parser has a case",
}
"""Modules (and packages, with a full stop) whose patterns no stranger reaches on a loop, and why."""
