"""Each test has the shop's app on a database of its own, and an empty outbox."""

from collections.abc import Iterator

import pytest
import shop

from penstock import Penstock
from penstock.testing import Bind


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def app(penstock_bind: Bind) -> Iterator[Penstock]:
    yield penstock_bind(shop.app)
    shop.outbox.clear()
