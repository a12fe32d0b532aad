"""A rotation rewraps every data key while processes go on, and can be interrupted anywhere."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from penstock.cli.exit_codes import Exit
from penstock.db import Connection
from penstock.db.tenancy import TenantPool
from penstock.errors import InvalidMove, NotFound, VaultKeyReplaced
from penstock.settings import Settings
from penstock.vault import KeyRing, Secrets, Vault, VaultKeyInvalid, VaultKeyMissing, generate_key, read_keys
from penstock.vault.rotation import Rotation
from tests.integration.vaulted import Vaulted, vaulted
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database

PLAINTEXTS = [f"secret {number}".encode() for number in range(5)]


def settings(folder: Path, **values: Any) -> Settings:
    return Settings(_env_file=None, data_dir=folder, **values)


async def fill(here: Vaulted) -> dict[Any, bytes]:
    secrets = here.process()
    return {await here.put(secrets, plaintext): plaintext for plaintext in PLAINTEXTS}


async def all_of(here: Vaulted, secrets: Secrets, ids: dict[Any, bytes]) -> dict[Any, bytes]:
    return {secret_id: await here.get(secrets, secret_id) for secret_id in ids}


async def test_a_rotation_rewraps_the_data_keys_and_leaves_what_they_encrypt(
    database: Database, tmp_path: Path
) -> None:
    async with vaulted(database, settings(tmp_path)) as here:
        stored = await fill(here)
        before = await here.rows()
        rotation = here.rotation(batch=2)
        steps: list[tuple[int, int]] = []
        plan = await rotation.plan()
        assert (plan.new_key, plan.secrets) == (True, 5)
        rotated = await rotation.rotate(lambda done, total: steps.append((done, total)))
        after = await here.rows()
        assert (rotated.new_key, rotated.rewrapped, rotated.unreadable) == (True, 5, ())
        assert steps == [(2, 5), (4, 5), (5, 5)]
        assert {row["key_id"] for row in after} == {rotated.key_id}
        assert rotated.removable == (before[0]["key_id"],)
        for old, new in zip(before, after, strict=True):
            assert (old["ciphertext"], old["nonce"]) == (new["ciphertext"], new["nonce"])
            assert old["wrapped_key"] != new["wrapped_key"]
        assert await all_of(here, here.process(), stored) == stored
        only = Secrets(Vault(read_keys((tmp_path / "vault.key").read_text().split(",")[0], "the new key")))
        assert await all_of(here, only, stored) == stored


async def test_a_running_process_reads_and_writes_with_the_new_key_without_a_restart(
    database: Database, tmp_path: Path
) -> None:
    async with vaulted(database, settings(tmp_path)) as here:
        running = here.process()
        stored = await fill(here)
        assert await all_of(here, running, stored) == stored
        rotated = await here.rotation().rotate()
        assert await all_of(here, running, stored) == stored
        written = await here.put(running, b"after the rotation")
        assert {row["key_id"] for row in await here.rows()} == {rotated.key_id}
        assert await here.get(here.process(), written) == b"after the rotation"


class Crash(Exception):
    """The process ends here."""


class CrashingPool(TenantPool):
    """Fails in place of the nth use of a connection, as a killed process would."""

    def __init__(self, inner: TenantPool, uses: int) -> None:
        super().__init__(inner.pool)
        self.left = uses

    @asynccontextmanager
    async def all_tenants(self) -> AsyncIterator[Connection]:
        async with super().all_tenants() as conn:
            if self.left == 0:
                raise Crash
            self.left -= 1
            yield conn
            if self.left == 0:  # the work was done, but nobody learned of it
                raise Crash


async def test_an_interrupted_rotation_is_finished_by_the_next_one(
    database: Database, tmp_path: Path
) -> None:
    async with vaulted(database, settings(tmp_path)) as here:
        stored = await fill(here)
        crashes = 0
        for uses in range(30):
            pool = CrashingPool(here.operator, uses)
            ring = KeyRing.from_settings(here.settings, database.url("operator"))
            before = {row["key_id"] for row in await here.rows()}
            try:
                await Rotation(ring, pool, batch=2).rotate()
                break
            except Crash:
                crashes += 1
            assert await all_of(here, here.process(), stored) == stored
            first, *others = await here.rotation().status()
            if (
                len(before) == 1
                and {key.state for key in others} <= {"removable"}
                and not first.rotating_since
            ):
                continue  # it did not get as far as a new key
            finished = await here.rotation(batch=2).rotate()
            assert not finished.new_key
            assert {row["key_id"] for row in await here.rows()} == {finished.key_id}
            assert await all_of(here, here.process(), stored) == stored
        assert crashes >= 6
        assert await all_of(here, here.process(), stored) == stored


async def test_a_key_the_operator_put_first_is_used_and_no_other_made(
    database: Database, tmp_path: Path
) -> None:
    old, new = generate_key(), generate_key()
    async with vaulted(database, settings(tmp_path, vault_key=old)) as before:
        stored = await fill(before)
        with pytest.raises(VaultKeyInvalid, match="cannot add a key to a setting") as refused:
            await before.rotation().rotate()
        assert "NEW,OLD" in str(refused.value.remedy)
        assert old not in str(refused.value)
        after = Vaulted(
            database,
            settings(tmp_path, vault_key=f"{new},{old}"),
            before.runtime,
            before.operator,
            before.tenant_id,
        )
        plan = await after.rotation().plan()
        assert (plan.new_key, plan.secrets) == (False, 5)
        rotated = await after.rotation().rotate()
        assert (rotated.new_key, rotated.rewrapped) == (False, 5)
        assert await all_of(after, after.process(), stored) == stored
        # A process that still has only the old key says which one it lacks.
        with pytest.raises(VaultKeyMissing, match=rotated.key_id):
            await all_of(before, before.process(), stored)


async def test_a_key_is_forgotten_only_when_nothing_needs_it_and_then_encrypts_nothing(
    database: Database, tmp_path: Path
) -> None:
    async with vaulted(database, settings(tmp_path)) as here:
        stored = await fill(here)
        old_ring = read_keys((tmp_path / "vault.key").read_text(), "the file")
        rotation = here.rotation()
        with pytest.raises(NotFound, match="no vault key 0123"):
            await rotation.forget("0123")
        with pytest.raises(InvalidMove, match="new secrets are encrypted"):
            await rotation.forget(old_ring[0].key_id)
        running, stale = here.process(), Secrets(Vault(old_ring))
        await running.keys.vault()
        await rotation.rotate()
        late = await here.put(stale, b"late")  # a process that has not noticed yet
        with pytest.raises(InvalidMove, match="1 secrets need"):
            await rotation.forget(old_ring[0].key_id)
        assert (await rotation.rotate()).rewrapped == 1
        assert await rotation.forget(old_ring[0].key_id)
        assert [key.state for key in await rotation.status()] == ["encrypts"]
        with pytest.raises(VaultKeyReplaced):
            await here.put(stale, b"too late")
        stored[late] = b"late"
        stored[await here.put(running, b"noticed")] = b"noticed"
        assert await all_of(here, running, stored) == stored
        assert len(read_keys((tmp_path / "vault.key").read_text(), "the file")) == 1


async def test_a_secret_that_cannot_be_unwrapped_does_not_stop_a_rotation(
    database: Database, tmp_path: Path
) -> None:
    async with vaulted(database, settings(tmp_path)) as here:
        stored = await fill(here)
        broken = min(stored)
        await here.execute("update vault.secret set wrapped_key = 'x' where secret_id = $1", broken)
        rotated = await here.rotation().rotate()
        assert (rotated.rewrapped, rotated.unreadable) == (4, (broken,))
        del stored[broken]
        assert await all_of(here, here.process(), stored) == stored
        plans = [await here.rotation().plan(new_key=new_key) for new_key in (False, True)]
        assert [(plan.new_key, plan.secrets) for plan in plans] == [(False, 1), (True, 5)]


async def test_two_rotations_at_once_make_one_key(database: Database, tmp_path: Path) -> None:
    async with vaulted(database, settings(tmp_path)) as here:
        stored = await fill(here)
        both = await asyncio.gather(*(here.rotation(batch=1).rotate() for _ in range(2)))
        assert both[0].key_id == both[1].key_id
        assert sum(rotated.rewrapped for rotated in both) == 5
        assert await all_of(here, here.process(), stored) == stored


async def test_a_damaged_key_file_stops_no_process_that_has_its_keys(
    database: Database, tmp_path: Path
) -> None:
    async with vaulted(database, settings(tmp_path)) as here:
        running = here.process()
        secret_id = await here.put(running, b"before")
        path = tmp_path / "vault.key"
        kept = path.read_text()
        path.write_text("half a k")
        assert await here.get(running, secret_id) == b"before"
        path.unlink()
        assert await here.get(running, await here.put(running, b"while it was gone")) == b"while it was gone"
        assert not path.exists()
        path.write_text(kept)
        path.chmod(0o600)
        assert await here.get(here.process(), secret_id) == b"before"


def test_the_commands_show_rotate_and_forget_and_never_show_a_key(penstock: CommandLine) -> None:
    penstock("tenant", "create", "acme")
    penstock("source", "create", "--tenant", "acme")
    (before,) = penstock("vault", "status", "--json").json["keys"]
    assert (before["state"], before["secrets"]) == ("encrypts", 1)
    assert penstock("vault", "rotate", "--dry-run", "--json").json == {
        "dry_run": True,
        "new_key": True,
        "secrets": 1,
    }
    rotated = penstock("vault", "rotate", "--json")
    assert rotated.json["rotation"]["rewrapped"] == 1
    shown = penstock("vault", "status")
    assert f"penstock vault forget-key {before['key_id']}" in shown.err
    refused = penstock("vault", "forget-key", rotated.json["rotation"]["key_id"])
    assert refused.code == Exit.REFUSED
    assert "vault rotate" in refused.err
    forgotten = penstock("vault", "forget-key", before["key_id"])
    assert "is forgotten" in forgotten.out
    text = (penstock.folder / ".penstock" / "vault.key").read_text().strip()
    said = json.dumps(rotated.json) + shown.out + shown.err + forgotten.out
    assert text not in said
    assert base64.b64decode(text).hex() not in said
