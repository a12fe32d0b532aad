"""A sealed secret opens for its tenant, id and name under its master key, and in no other way."""

from __future__ import annotations

import base64
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.ids import uuid7
from penstock.settings import Settings
from penstock.vault import (
    Sealed,
    SecretUnreadable,
    Vault,
    VaultKeyInvalid,
    VaultKeyMissing,
    generate_key,
    master_keys,
    read_keys,
)

TENANT, SECRET, NAME = uuid4(), uuid7(), "hubspot.refresh_token"
CANARY = b"canary-7f3a"


def vault(*keys: str) -> Vault:
    return Vault(read_keys(",".join(keys), "the test"))


def settings(folder: Path, **values: object) -> Settings:
    return Settings(_env_file=None, data_dir=folder, **values)


@given(st.binary(max_size=2_000))
def test_a_sealed_secret_can_be_opened_again(plaintext: bytes) -> None:
    box = vault(generate_key())
    assert box.open(TENANT, SECRET, NAME, box.seal(TENANT, SECRET, NAME, plaintext)) == plaintext


def test_a_sealed_secret_shows_nothing_of_itself() -> None:
    box = vault(generate_key())
    sealed = box.seal(TENANT, SECRET, NAME, CANARY)
    assert all(CANARY not in part for part in (sealed.ciphertext, sealed.wrapped_key))
    again = box.seal(TENANT, SECRET, NAME, CANARY)
    assert {sealed.ciphertext, sealed.nonce, sealed.wrapped_key, sealed.key_nonce}.isdisjoint(
        {again.ciphertext, again.nonce, again.wrapped_key, again.key_nonce}
    )
    assert repr(sealed) == f"Sealed(key_id={sealed.key_id!r})"


@pytest.mark.parametrize("moved", ["tenant", "secret", "name"])
def test_a_secret_moved_to_another_place_does_not_open(moved: str) -> None:
    box = vault(generate_key())
    sealed = box.seal(TENANT, SECRET, NAME, CANARY)
    tenant = uuid4() if moved == "tenant" else TENANT
    secret = uuid7() if moved == "secret" else SECRET
    name = NAME + "x" if moved == "name" else NAME
    with pytest.raises(SecretUnreadable):
        box.open(tenant, secret, name, sealed)


@pytest.mark.parametrize("part", ["ciphertext", "nonce", "wrapped_key", "key_nonce"])
def test_a_changed_secret_does_not_open(part: str) -> None:
    box = vault(generate_key())
    sealed = box.seal(TENANT, SECRET, NAME, CANARY)
    value: bytes = getattr(sealed, part)
    for changed in (bytes([value[0] ^ 1]) + value[1:], value[:-1], b""):
        fields: dict[str, Any] = {part: changed}
        broken = replace(sealed, **fields)
        with pytest.raises(SecretUnreadable):
            box.open(TENANT, SECRET, NAME, broken)


def test_without_its_master_key_a_secret_does_not_open() -> None:
    sealed = vault(generate_key()).seal(TENANT, SECRET, NAME, CANARY)
    with pytest.raises(VaultKeyMissing, match=sealed.key_id):
        vault(generate_key()).open(TENANT, SECRET, NAME, sealed)


def test_after_a_rotation_old_seals_open_and_new_ones_are_under_the_new_key() -> None:
    old, new = generate_key(), generate_key()
    before = vault(old).seal(TENANT, SECRET, NAME, CANARY)
    both = vault(new, old)
    assert both.open(TENANT, SECRET, NAME, before) == CANARY
    after = both.seal(TENANT, SECRET, NAME, CANARY)
    assert vault(new).open(TENANT, SECRET, NAME, after) == CANARY
    with pytest.raises(VaultKeyMissing):
        vault(old).open(TENANT, SECRET, NAME, after)
    broken = Sealed(b"", b"", before.wrapped_key, before.key_nonce[::-1], before.key_id)
    with pytest.raises(SecretUnreadable):
        both.open(TENANT, SECRET, NAME, broken)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "short",
        base64.b64encode(b"x" * 31).decode(),
        "not base64 at all!",
        base64.b64encode(b"k" * 32).decode() + ",",
    ],
)
def test_an_invalid_key_is_refused_naming_the_variable_and_not_the_key(tmp_path: Path, text: str) -> None:
    with pytest.raises(VaultKeyInvalid, match="PENSTOCK_VAULT_KEY") as refused:
        master_keys(settings(tmp_path, vault_key=text))
    assert text.rstrip(",") not in str(refused.value) or not text
    assert not (tmp_path / "vault.key").exists()


def test_the_same_key_twice_is_refused() -> None:
    key = generate_key()
    with pytest.raises(VaultKeyInvalid, match="twice"):
        read_keys(f"{key}, {key}", "the test")


def test_a_key_of_the_settings_is_used_and_no_file_is_made(tmp_path: Path) -> None:
    key = generate_key()
    (found,) = master_keys(settings(tmp_path, vault_key=f" {key}\n"))
    assert found.key == base64.b64decode(key)
    assert key not in repr(found)
    assert list(tmp_path.iterdir()) == []


def test_a_key_file_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    first = Vault.from_settings(settings(folder))
    sealed = first.seal(TENANT, SECRET, NAME, CANARY)
    path = folder / "vault.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Vault.from_settings(settings(folder)).open(TENANT, SECRET, NAME, sealed) == CANARY
    assert [entry.name for entry in folder.iterdir()] == ["vault.key"]


def test_processes_that_start_at_once_get_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: master_keys(settings(tmp_path)), range(32)))
    assert len({keys[0].key_id for keys in made}) == 1


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o666])
def test_a_key_file_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "vault.key"
    path.write_text(generate_key())
    path.chmod(mode)
    with pytest.raises(VaultKeyInvalid, match=f"chmod 600 {path}"):
        master_keys(settings(tmp_path))


def test_a_key_file_that_is_a_link_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_text(generate_key())
    target.chmod(0o600)
    os.symlink(target, tmp_path / "vault.key")
    with pytest.raises(VaultKeyInvalid, match="regular file"):
        master_keys(settings(tmp_path))


def test_a_key_file_may_hold_several_keys(tmp_path: Path) -> None:
    old, new = generate_key(), generate_key()
    path = tmp_path / "vault.key"
    path.write_text(f"{new},{old}\n")
    path.chmod(0o600)
    assert [key.key for key in master_keys(settings(tmp_path))] == [
        base64.b64decode(key) for key in (new, old)
    ]
