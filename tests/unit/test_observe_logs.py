"""One line per event: valid JSON for machines, aligned and harmless for a terminal."""

import io
import json
import logging
import re
from collections.abc import Callable, Iterator

import pytest

from penstock.observe import Logger, Throttle, configure, get_logger
from penstock.observe.formats import JsonFormat


@pytest.fixture(autouse=True)
def _quiet_root() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = set(root.handlers), root.level
    yield
    for added in set(root.handlers) - handlers:
        root.removeHandler(added)
    root.setLevel(level)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def to_json(level: str = "info") -> tuple[Logger, io.StringIO]:
    stream = io.StringIO()
    configure(level, "json", stream=stream)
    return get_logger("penstock.test"), stream


def to_console(level: str = "info") -> tuple[Logger, io.StringIO]:
    stream = io.StringIO()
    configure(level, "console", stream=stream)
    return get_logger("penstock.test"), stream


def test_a_json_line_has_time_level_logger_event_and_fields() -> None:
    log, stream = to_json()
    log.info("job_claimed", job_id="7", attempt=1)
    [line] = lines(stream)
    assert list(line) == ["time", "level", "logger", "event", "job_id", "attempt"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", str(line["time"]))
    assert line | {"time": ""} == {
        "time": "",
        "level": "info",
        "logger": "penstock.test",
        "event": "job_claimed",
        "job_id": "7",
        "attempt": 1,
    }


def test_each_method_writes_its_level() -> None:
    log, stream = to_json("debug")
    log.debug("a")
    log.info("b")
    log.warning("c")
    log.error("d")
    assert [line["level"] for line in lines(stream)] == ["debug", "info", "warning", "error"]


def test_lines_below_the_level_are_not_written() -> None:
    log, stream = to_json("warning")
    log.info("a")
    log.throttled("b", level="info")
    assert not log.enabled_for_debug
    assert stream.getvalue() == ""


def test_bound_fields_are_on_every_line_and_stay_with_the_bound_logger() -> None:
    log, stream = to_json()
    bound = log.bind(worker_id="w1").bind(queue="mail")
    bound.info("a", queue="other")
    log.info("b")
    first, second = lines(stream)
    assert (first["worker_id"], first["queue"]) == ("w1", "other")
    assert "worker_id" not in second


def test_a_field_may_be_called_event_or_self() -> None:
    log, stream = to_json()
    log.info("a", event="x", self="y")
    [line] = lines(stream)
    assert (line["event"], line["event_"], line["self"]) == ("a", "x", "y")


def test_one_event_is_one_json_line_whatever_is_in_it() -> None:
    log, stream = to_json()
    log.info('a\n{"event": "forged"}', text='b\r\n\u2028"\ud800\x00', **{"k\n": "v"})
    [line] = lines(stream)
    assert line["event"] == 'a\n{"event": "forged"}'
    assert line["text"] == 'b\r\n\u2028"\ud800\x00'


@pytest.mark.parametrize("open_log", [to_json, to_console])
def test_secrets_are_not_written_by_either_format(
    open_log: Callable[[], tuple[Logger, io.StringIO]],
) -> None:
    log, stream = open_log()
    log.bind(token="hunter2").info("x postgresql://u:hunter2@h", deep={"a": [{"password": "hunter2"}]})
    assert "hunter2" not in stream.getvalue()
    assert stream.getvalue().count("[redacted]") == 2


def fail() -> Exception:
    try:
        try:
            raise KeyError("inner")
        except KeyError as cause:
            raise ValueError("first line\nDETAIL: Key (email)=(ann@example.com)") from cause
    except ValueError as error:
        return error


def test_an_exception_is_its_code_and_first_line() -> None:
    log, stream = to_json()
    log.error("job_failed", error=fail(), will_retry=True)
    [line] = lines(stream)
    assert (line["error_code"], line["error_message"]) == ("ValueError", "first line")
    assert not {"error", "error_traceback"} & line.keys()
    assert "ann@example.com" not in stream.getvalue()


def test_a_traceback_is_written_only_when_debugging_and_shows_no_data() -> None:
    log, stream = to_json("debug")
    log.error("job_failed", error=fail())
    [line] = lines(stream)
    places = line["error_traceback"]
    assert isinstance(places, list)
    assert places[0].endswith(" in fail")
    assert "caused by KeyError: 'inner'" in places
    assert "ann@example.com" not in stream.getvalue()


def test_an_exception_group_names_its_first_cause() -> None:
    log, stream = to_json()
    log.error("worker_failed", error=ExceptionGroup("many", [ExceptionGroup("more", [ValueError("why")])]))
    assert lines(stream)[0]["error_message"] == "many (1 sub-exception): ValueError: why"


def test_console_output_cannot_be_forged_or_drive_the_terminal() -> None:
    log, stream = to_console("debug")
    hostile = "a\n12:00:00.000 error forged\r\x1b[2J\x9b31m\u202eevil\u2028"
    log.info(hostile, text=hostile, nested={"k": hostile}, error=ValueError("x\x1b[2J"), **{hostile: 1})
    get_logger(hostile).info("b")
    written = stream.getvalue()
    assert written.count("\n") == 2
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", written)
    assert "\\x1b[2J" in written


def test_console_tracebacks_are_indented_below_their_line() -> None:
    log, stream = to_console("debug")
    log.error("job_failed", error=fail())
    first, *below = stream.getvalue().splitlines()
    assert "error_code=ValueError" in first
    assert below
    assert all(line.startswith("    | ") for line in below)


def test_console_columns_are_aligned_and_values_unambiguous() -> None:
    log, stream = to_console()
    log.info("short", n=1)
    log.warning("a_longer_event", text='two "words"', empty="", flag=True, none=None)
    one, two = stream.getvalue().splitlines()
    assert one.index("n=1") == two.index("text=")
    assert two.endswith('text="two \\"words\\"" empty="" flag=true none=null')


@pytest.mark.parametrize(
    ("stream", "format_name", "no_color", "colour"),
    [
        (Terminal, "auto", "", True),
        (Terminal, "auto", "1", False),
        (Terminal, "console", "", True),
        (io.StringIO, "console", "", False),
    ],
)
def test_colour_only_on_a_terminal_that_wants_it(
    stream: type[io.StringIO], format_name: str, no_color: str, colour: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", no_color)
    out = stream()
    configure("info", format_name, stream=out)
    get_logger("penstock.test").info("a")
    assert ("\x1b[" in out.getvalue()) is colour
    assert not out.getvalue().startswith("{")


def test_auto_is_json_away_from_a_terminal_and_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    configure()
    get_logger("penstock.test").info("a")
    out, err = capsys.readouterr()
    assert out == ""
    assert json.loads(err)["event"] == "a"


def test_configuring_twice_writes_each_line_once() -> None:
    to_json()
    log, stream = to_json()
    log.info("a")
    assert len(lines(stream)) == 1


def test_other_libraries_are_heard_from_warning_on_and_redacted() -> None:
    _, stream = to_json("debug")
    other = logging.getLogger("somelibrary")
    other.info("GET https://h/?token=hunter2")
    other.warning("failed %s", "postgresql://u:hunter2@h", exc_info=fail())
    other.warning("extra", extra={"fields": {"password": "hunter2"}})
    first, second = lines(stream)
    assert (first["event"], first["error_code"]) == ("failed postgresql://u:***@h", "ValueError")
    assert second["event"] == "extra"
    assert "hunter2" not in stream.getvalue()


def test_another_librarys_wrong_arguments_still_make_a_line() -> None:
    record = logging.LogRecord("somelibrary", logging.CRITICAL, "", 0, "%d %d", ("wrong",), None)
    line = json.loads(JsonFormat().format(record))
    assert (line["event"], line["level"]) == ("%d %d", "error")


@pytest.mark.parametrize(("level", "format_name"), [("loud", "json"), ("info", "xml")])
def test_an_unknown_setting_is_refused_with_the_choices(level: str, format_name: str) -> None:
    with pytest.raises(ValueError, match="use one of"):
        configure(level, format_name)


class BrokenStream(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError("gone")


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


def test_logging_never_raises() -> None:
    configure("debug", "json", stream=BrokenStream())
    log = get_logger("penstock.test")
    log.info("a", error=Unprintable())
    log.info(Unprintable())  # type: ignore[arg-type]  # not even for a wrong event
    log.throttled("a", key=[], every="x")  # type: ignore[arg-type]  # or a wrong key
    closed = io.StringIO()
    configure("debug", "console", stream=closed)
    closed.close()
    log.info("a")


def test_a_terminal_that_cannot_show_a_character_gets_its_number() -> None:
    raw = io.BytesIO()
    configure("info", "console", stream=io.TextIOWrapper(raw, encoding="ascii"))
    get_logger("penstock.test").info("a", name="Zoë")
    assert b"name=Zo\\xeb" in raw.getvalue()


def test_a_flood_of_one_event_becomes_one_line_per_second_with_a_count() -> None:
    _, stream = to_json()
    clock = Clock()
    log = get_logger("penstock.test", throttle=Throttle(clock))
    for _ in range(50):
        log.throttled("db_reconnect", error=OSError("refused"))
    clock.now += 1.0
    log.bind(worker_id="w").throttled("db_reconnect")
    clock.now += 1.0
    log.throttled("db_reconnect")
    first, second, third = lines(stream)
    assert (first["level"], first["error_code"]) == ("warning", "OSError")
    assert "suppressed" not in first
    assert second["suppressed"] == 49
    assert "suppressed" not in third


def test_another_key_or_event_is_not_held_back() -> None:
    _, stream = to_json()
    log = get_logger("penstock.test", throttle=Throttle(Clock()))
    for key in ("a", "b", "a"):
        log.throttled("db_reconnect", key=key)
    log.throttled("db_lost", key="a", level="error")
    assert [(line["event"], line["key"]) for line in lines(stream)] == [
        ("db_reconnect", "a"),
        ("db_reconnect", "b"),
        ("db_lost", "a"),
    ]


def test_the_throttle_remembers_a_bounded_number_of_keys() -> None:
    clock = Clock()
    throttle = Throttle(clock)
    for key in range(5_000):
        assert throttle.admit(key, 1.0) == 0
    assert throttle.admit(4_999, 1.0) is None
    assert throttle.admit(0, 1.0) == 0
