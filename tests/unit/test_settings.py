"""Settings are checked before anything starts, and an error names the variable."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import SettingInvalid
from penstock.settings import Settings


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_without_any_variable_the_embedded_server_is_used() -> None:
    settings = Settings()
    assert settings.database_url is None
    assert settings.data_dir == Path(".penstock")
    assert settings.beat_seconds < settings.lease_seconds / 2


def test_the_environment_beats_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("PENSTOCK_CONCURRENCY=7\nPENSTOCK_LOG_LEVEL=DEBUG\nOTHER=1\n")
    monkeypatch.setenv("PENSTOCK_CONCURRENCY", "9")
    settings = Settings()
    assert (settings.concurrency, settings.log_level) == (9, "debug")


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PENSTOCK_CONCURRENCY", "0"),
        ("PENSTOCK_CONCURRENCY", "many"),
        ("PENSTOCK_POLL_INTERVAL", "0"),
        ("PENSTOCK_POLL_INTERVAL", "nan"),
        ("PENSTOCK_LEASE_SECONDS", "inf"),
        ("PENSTOCK_POLL_JITTER", "1.5"),
        ("PENSTOCK_METRICS_PORT", "70000"),
        ("PENSTOCK_LOG_FORMAT", "xml"),
        ("PENSTOCK_LOG_LEVEL", "loud"),
        ("PENSTOCK_PAYLOAD_LIMIT_BYTES", "10"),
        ("PENSTOCK_COMPLETED_RETENTION_DAYS", "0"),
        ("PENSTOCK_POOL_SIZE", "0"),
        ("PENSTOCK_DATABASE_URL", "mysql://host/db"),
        ("PENSTOCK_ADMIN_URL", "postgresql://admin@host/db"),
        ("PENSTOCK_BEAT_SECONDS", "7.5"),
    ],
)
def test_a_wrong_value_is_refused_by_the_name_of_its_variable(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingInvalid) as refused:
        Settings()
    assert refused.value.variable == variable
    assert variable in str(refused.value)


def test_a_password_shows_neither_in_a_refusal_nor_in_a_listing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_DATABASE_URL", "http://me:hunter2@host/db")
    with pytest.raises(SettingInvalid) as refused:
        Settings()
    assert "hunter2" not in str(refused.value)
    assert "hunter2" not in repr(Settings(database_url="postgresql://me:hunter2@host/db"))


def test_settings_do_not_change_afterwards() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().concurrency = 3
