"""The API serves each route as its module declared it: nothing is built again for an app or in a request."""

from __future__ import annotations

from fastapi.routing import APIRoute

from penstock.api.app import ROUTERS, create_app
from penstock.engine.engine import Engine
from penstock.settings import Settings


def test_an_app_serves_the_declared_routes_themselves_in_their_order() -> None:
    declared = [route for router in ROUTERS for route in router.routes]
    for _ in range(2):  # a second app finds them as the first did
        served = create_app(Engine(Settings())).routes
        assert [route for route in served if any(route is each for each in declared)] == declared
        assert {name for route in declared if isinstance(route, APIRoute) for name in route.responses} >= {
            "default"
        }
