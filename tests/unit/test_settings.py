"""Settings are checked before anything starts, and an error names the variable."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import SettingInvalid
from penstock.settings import Settings, unknown_variables
from penstock.source_settings import provider_settings


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


def test_a_misspelt_variable_is_reported_once_with_the_nearest_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("PENSTOCK_CONCURENCY=7\nPENSTOCK_LOG_LEVEL=debug\nOTHER=1\n")
    monkeypatch.setattr("penstock.settings._reported", set())
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
def test_an_invalid_value_is_refused_with_the_name_of_its_variable(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingInvalid) as refused:
        Settings()
    assert refused.value.variable == variable
    assert variable in str(refused.value)


def test_a_password_appears_neither_in_an_error_nor_in_a_listing(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_copy_changes_only_the_given_fields_and_validates_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PENSTOCK_NICENESS")
    settings = Settings(concurrency=7).model_copy(update={"metrics_port": 9000})
    assert (settings.concurrency, settings.metrics_port) == (7, 9000)
    assert settings.model_fields_set == {"concurrency", "metrics_port"}
    with pytest.raises(SettingInvalid, match="PENSTOCK_METRICS_PORT"):
        settings.model_copy(update={"metrics_port": -1})


def test_a_seeds_name_of_a_setting_is_read_without_the_prefix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("TOKEN_REFRESH_SKEW_SECONDS=90\nCONCURRENCY=7\n")
    assert Settings().token_refresh_skew_seconds == 90
    assert Settings().concurrency == 100
    monkeypatch.setenv("PENSTOCK_TOKEN_REFRESH_SKEW_SECONDS", "30")
    assert Settings().token_refresh_skew_seconds == 30


def test_drive_and_gmail_use_googles_client_unless_they_have_their_own() -> None:
    settings = Settings(google_client_id="ours", google_client_secret="hush", gmail_client_id="mail")
    assert provider_settings(settings, "google_drive").client_id == "ours"
    assert provider_settings(settings, "gmail").client_id == "mail"
    assert "hush" not in repr(provider_settings(settings, "google_drive")) + repr(settings)
    assert provider_settings(settings, "hubspot").client_id is None


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://me@host", "ftp://host", "https:///path"])
def test_an_address_of_a_provider_must_be_an_http_url(url: str) -> None:
    with pytest.raises(SettingInvalid, match="PENSTOCK_HUBSPOT_AUTHORIZE_URL"):
        Settings(hubspot_authorize_url=url)
