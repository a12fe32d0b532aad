"""What is read of a provider's answer with an error status, whatever the answer contains."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.sources.errors import AccessForbidden, Throttled
from penstock.sources.responses import CallRejected, HttpFailure, error_codes, failure_of

WRONG = (5, True, "text", {"a": "b"}, [5, "text", None, [], {}], [{"reason": {}, "code": [], "context": 5}])


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize(
    "body",
    [
        lambda wrong: {"error": {"errors": wrong}},
        lambda wrong: {"error": {"details": wrong}},
        lambda wrong: {"Fault": {"Error": wrong}},
        lambda wrong: {"errors": wrong},
        lambda wrong: wrong,
    ],
)
def test_an_answer_of_another_shape_is_still_the_failure_of_its_status(body: Any, wrong: Any) -> None:
    sent = json.dumps(body(wrong)).encode()
    for status, kind in ((400, CallRejected), (403, AccessForbidden), (429, Throttled)):
        assert type(failure_of("HubSpot", "contacts", HttpFailure(status, {}, sent))) is kind


def test_codes_are_found_where_each_vendor_puts_them() -> None:
    google = {"error": {"errors": [{"reason": "a"}], "details": [{"reason": "b"}], "status": "c"}}
    assert list(error_codes(json.dumps(google).encode())) == ["a", "b", "c"]
    for spelled in ("Error", "error"):
        body = {"Fault": {spelled: [{"code": "3200"}], "type": "AUTHENTICATION"}}
        assert list(error_codes(json.dumps(body).encode())) == ["3200", "AUTHENTICATION"]
