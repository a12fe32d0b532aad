"""The plugins of this test suite, one concern each."""

from tests.plugins.memory_folder import use_memory

use_memory()  # before anything asks for a temporary folder

pytest_plugins = [
    "tests.plugins.environment",
    "tests.plugins.event_loop",
    "tests.plugins.parsing",
    "tests.plugins.processes",
    "tests.plugins.server",
    "tests.plugins.database",
    "tests.plugins.sql_folder",
    "tests.plugins.command_line",
    "tests.plugins.workers",
    "tests.plugins.server_of_own",
    "tests.plugins.other_user",
    "tests.plugins.plain_server",
    "tests.plugins.bucket",
    "tests.plugins.smtp",
]
