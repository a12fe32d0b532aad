"""The test's database as users of `penstock.testing` have it."""

from __future__ import annotations

import pytest

from penstock.testing import Database, Server
from tests.plugins import database as own


@pytest.fixture
def testing_database(database: own.Database) -> Database:
    return Database(database.name, Server(embedded=database.server))
