"""The provider does what every provider must do, and says what is wrong with a path."""

from __future__ import annotations

import asyncio
from pathlib import Path
from uuid import uuid4

import pytest
from customer_list.provider import CustomerList

from penstock import Settings
from penstock.errors import InvalidArgument
from penstock.sources import OpenSource, SourceId, TenantId
from penstock.testing import SourceUnderTest, check_source

HEAD = "id,name,website,contract_value,notes\n"


def test_the_customer_list_passes_the_checks_of_every_provider(tmp_path: Path) -> None:
    path = tmp_path / "customers.csv"
    path.write_text(HEAD + "".join(f"{n:03},Customer {n},c{n}.example,{n}00,\n" for n in range(5)))
    config = CustomerList().check_config({"path": str(path)})
    source = OpenSource(TenantId(uuid4()), SourceId(uuid4()), "customer_list", None, config, Settings())

    def add(stream: str) -> str:
        with path.open("a") as file:
            file.write("900,New customer,new.example,100,\n")
        return "900"

    def change(stream: str) -> str:
        path.write_text(path.read_text().replace("Customer 1,", "Customer One,"))
        return "001"

    def remove(stream: str) -> str:
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(line for line in lines if not line.startswith("002")))
        return "002"

    tested = SourceUnderTest(
        provider=CustomerList(), source=source, add=add, change=change, remove=remove, fail=path.unlink
    )
    asyncio.run(check_source(tested))


def test_a_missing_file_is_refused_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"nowhere\.csv is not a file"):
        CustomerList().check_config({"path": str(tmp_path / "nowhere.csv")})
