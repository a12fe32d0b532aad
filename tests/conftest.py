"""The plugins of this test suite, one concern each."""

from tests.plugins.memory_folder import use_memory

use_memory()  # before anything asks for a temporary folder

pytest_plugins = [
    "tests.plugins.garbage",  # first: it switches the collector off
    "tests.plugins.environment",
    "tests.plugins.certificates",
    "tests.plugins.compiled_tests",
    "tests.plugins.event_loop",
    "tests.plugins.forked_children",
    "tests.plugins.order",
    "tests.plugins.parsing",
    "tests.plugins.processes",
    "tests.plugins.server",
    "tests.plugins.processor",
    "tests.plugins.database",
    "tests.plugins.testing_database",
    "tests.plugins.sql_folder",
    "tests.plugins.own_folder",
    "tests.plugins.command_line",
    "tests.plugins.workers",
    "tests.plugins.prepared_cluster",
    "tests.plugins.server_of_own",
    "tests.plugins.other_user",
    "tests.plugins.plain_server",
    "tests.plugins.pgbouncer",
    "tests.plugins.aws",
    "tests.plugins.bucket",
    "tests.plugins.objects",
    "tests.plugins.smtp",
    "tests.plugins.dovecot",
    "tests.plugins.valkey",
    "tests.plugins.bullmq",
    "tests.plugins.bullmq_bridges",
    "tests.plugins.console",
]
