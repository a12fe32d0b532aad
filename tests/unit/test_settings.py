"""Settings are checked before anything starts, and an error names the variable."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import SettingInvalid
from penstock.settings import Settings, unknown_variables


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


def test_a_misspelt_variable_is_told_once_with_the_nearest_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("PENSTOCK_CONCURENCY=7\nPENSTOCK_LOG_LEVEL=debug\nOTHER=1\n")
    monkeypatch.setattr("penstock.settings._told", set())
    monkeypatch.setenv("PENSTOCK_DATABSE_URL", "postgresql://nobody@localhost/none")
    monkeypatch.setenv("PENSTOCK_XYZZY", "1")
    monkeypatch.setenv("PENSTOCK_CHAOS_LONG", "1")
    monkeypatch.setenv("penstock_lease_seconds", "20")
    assert unknown_variables() == {
        "PENSTOCK_CONCURENCY": "PENSTOCK_CONCURRENCY",
        "PENSTOCK_DATABSE_URL": "PENSTOCK_DATABASE_URL",
        "PENSTOCK_XYZZY": None,
    }
    assert unknown_variables() == {}


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


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("PENSTOCK_NOTIFY", "off", False),
        ("PENSTOCK_NOTIFY", "YES", True),
        ("PENSTOCK_METRICS_PORT", "9090", 9090),
        ("PENSTOCK_DATA_DIR", "/srv/mill", Path("/srv/mill")),
        ("PENSTOCK_POLL_INTERVAL", "1e1", 10.0),
        ("PENSTOCK_EMBEDDER", "", "wordllama"),
    ],
)
def test_a_value_is_read_in_the_type_of_its_setting(
    variable: str, value: str, expected: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    assert getattr(Settings(), variable.removeprefix("PENSTOCK_").lower()) == expected


def test_a_refusal_says_what_the_value_must_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_CONCURRENCY", "0")
    with pytest.raises(SettingInvalid, match="it must be at least 1"):
        Settings()
    with pytest.raises(SettingInvalid, match="it must be a whole number"):
        Settings(concurrency="many")


def test_a_copy_changes_what_it_is_told_and_is_checked() -> None:
    settings = Settings(concurrency=7).model_copy(update={"metrics_port": 9000})
    assert (settings.concurrency, settings.metrics_port) == (7, 9000)
    assert settings.model_fields_set == {"concurrency", "metrics_port"}
    with pytest.raises(SettingInvalid, match="PENSTOCK_METRICS_PORT"):
        settings.model_copy(update={"metrics_port": -1})
