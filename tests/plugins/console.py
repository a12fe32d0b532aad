"""The console in a real browser: one API with a worker and one Chromium for all its tests in a row.

Tests under tests/web are `async def`. They run on the loop of the site, in its thread, where the API, the
worker and Playwright run too. `site.visit()` is a page of somebody who is signed in; any error that the
browser reports, a refusal by the content security policy too, fails the test.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import os
import threading
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from penstock.accounts import Role, Sessions
from penstock.db.tenancy import TenantPool
from tests.integration.api_server import ApiServer, api_server
from tests.plugins.busy import stretched
from tests.plugins.chromium import FLAGS, headless_chromium
from tests.plugins.console_data import SiteTasks, declare, fill
from tests.plugins.database import Database, Maintenance, cloned
from tests.plugins.workers import working

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page

ROOT = Path(__file__).parents[2]
DIST = ROOT / "src/penstock/console/dist"
CHROMIUM = headless_chromium()
PATIENCE_HOLDS = 30.0
T = TypeVar("T")


@dataclass(slots=True)
class Site:
    """The API with its console, the browser, and the loop they all run on."""

    loop: asyncio.AbstractEventLoop
    server: ApiServer
    browser: Browser
    sessions: Sessions
    tasks: SiteTasks
    shots: Path
    states: dict[tuple[str, str | None], Any] = field(default_factory=dict)
    _patience: tuple[float, float] = field(default=(-math.inf, 0.0), init=False)

    def run(self, coroutine: Coroutine[Any, Any, T], *, within: float = 240) -> T:
        """From the thread of the tests: run it on the site's loop."""
        running = asyncio.run_coroutine_threadsafe(coroutine, self.loop)
        try:
            return running.result(within)
        except BaseException:
            running.cancel()  # or it would go on beside the next test
            raise

    def patience(self) -> float:
        """For how many seconds a page is waited for; found out again after half a minute."""
        at, seconds = self._patience
        if time.monotonic() - at > PATIENCE_HOLDS:
            seconds = min(100.0, stretched(20.0))  # 55 ms of the processor, in which the loop waits
            self._patience = time.monotonic(), seconds
        return seconds

    async def signed_in(self, role: Role = "admin", tenant: str | None = None) -> Any:
        """The cookies of somebody who signed in by a link, once for each role and tenant."""
        wanted = (role, tenant)
        if wanted not in self.states:
            link = await self.sessions.create_link(f"{role} of tests", role, tenant)
            context = await self.browser.new_context()
            try:
                answer = await context.request.post(
                    f"{self.server.url}/login/{link.token}",
                    headers={"Sec-Fetch-Site": "same-origin"},
                    max_redirects=0,  # the page itself would cost half a second of the processor
                )
                assert answer.status == 303, await answer.text()
                self.states[wanted] = await context.storage_state()
            finally:
                await context.close()
        return self.states[wanted]

    @asynccontextmanager
    async def visit(
        self, role: Role = "admin", tenant: str | None = None, *, watch: bool = True, **options: Any
    ) -> AsyncIterator[Page]:
        """A page of a fresh context; with `watch` an error in the browser fails the test."""
        from playwright.async_api import expect

        context: BrowserContext = await self.browser.new_context(
            storage_state=await self.signed_in(role, tenant),
            base_url=self.server.url,
            reduced_motion="reduce",
            **{"viewport": {"width": 1280, "height": 900}, **options},
        )
        patience = 1_000 * self.patience()
        context.set_default_timeout(patience)
        expect.set_options(timeout=patience)
        page = await context.new_page()
        found: list[str] = []
        page.on(
            "console",
            lambda said: found.append(f"{said.text} {said.location}") if said.type == "error" else None,
        )
        page.on("pageerror", lambda error: found.append(str(error)))
        try:
            async with self.noted(page, found):
                yield page
        finally:
            await page.unroute_all(behavior="ignoreErrors")  # an answer may be on its way
            await context.close()
        assert not (watch and found), found

    @asynccontextmanager
    async def noted(self, page: Page, said: Sequence[str]) -> AsyncIterator[None]:
        """A test that fails within says what the page showed and what the browser said."""
        try:
            yield
        except BaseException as error:
            await self.shoot(page, "failed-" + _test_name())
            error.add_note(f"{page.url} showed: {await page.locator('body').inner_text()}"[:3_000])
            error.add_note(f"the browser said: {said}")
            raise

    async def shoot(self, page: Page, name: str) -> Path:
        """A screenshot, in build/screenshots."""
        path = self.shots / f"{name}.png"
        await page.screenshot(path=path)
        return path


def _test_name() -> str:
    return os.environ.get("PYTEST_CURRENT_TEST", "unknown").split("::")[-1].split(" ")[0].replace("/", "_")


_OPEN = pytest.StashKey[tuple[Site, ExitStack]]()


@pytest.fixture
def site(
    request: pytest.FixtureRequest,
    maintenance: Maintenance,
    template: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Site:
    """One for all tests in a row that want it. Skips where there is no console or no Chromium."""
    stash = request.config.stash
    if _OPEN not in stash:
        if not (DIST / "index.html").is_file():
            pytest.skip("the console is not built: make console")
        if CHROMIUM is None:
            pytest.skip("there is no Chromium: apt-get install chromium-headless-shell")
        pytest.importorskip("playwright", reason="make setup installs Playwright")
        with ExitStack() as closing:
            database = closing.enter_context(contextmanager(cloned)(maintenance, template))
            runner = _Runner(database, tmp_path_factory.mktemp("site"))
            closing.callback(runner.stop)
            stash[_OPEN] = runner.start(), closing.pop_all()
    return stash[_OPEN][0]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Close the site after the last of them: a thread that works on would disturb other tests.

    Hypothesis, for one, fails a test when somebody else uses the random numbers of the process meanwhile.
    """
    if _OPEN in item.config.stash and "site" not in getattr(nextitem, "fixturenames", ()):
        _, closing = item.config.stash[_OPEN]
        del item.config.stash[_OPEN]
        closing.close()


class _Runner:
    """The site in a thread of its own."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self._folder = folder
        self._ready = threading.Event()
        self._over: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._site: Site | None = None
        self._failed: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="console site")

    def start(self) -> Site:
        self._thread.start()
        assert self._ready.wait(200)
        if self._failed is not None:
            raise self._failed
        assert self._site is not None
        return self._site

    def stop(self) -> None:
        if self._loop is not None and self._over is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(60)
        if self._failed is not None:
            raise self._failed

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001 - raised where the tests are
            self._failed = error
        self._ready.set()

    async def _serve(self) -> None:
        from playwright.async_api import async_playwright

        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        shots = ROOT / "build/screenshots"
        shots.mkdir(parents=True, exist_ok=True)
        async with AsyncExitStack() as stack:
            settings = {"requests_per_minute": 1_000_000, "operator_url": self._database.operator_url}
            server = await stack.enter_async_context(api_server(self._database, self._folder, **settings))
            tasks = declare(server.engine.tasks)
            queues = {**server.engine.queues, **SiteTasks.QUEUES}
            await stack.enter_async_context(working(server.engine.tasks, queues))
            await fill(server, tasks)
            operators = await TenantPool.open(
                self._database.operator_url, application_name="operator", size=1
            )
            stack.push_async_callback(operators.close)
            playwright = await stack.enter_async_context(async_playwright())
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            stack.push_async_callback(browser.close)
            self._site = Site(self._loop, server, browser, Sessions(operators), tasks, shots)
            self._ready.set()
            await self._over.wait()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """An `async def` test of the site runs on the site's loop."""
    site = pyfuncitem.funcargs.get("site")
    if not isinstance(site, Site) or not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    site.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The first test of a process also pays for the site, so all may take longer than others."""
    for item in items:
        if "site" in getattr(item, "fixturenames", ()) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(300))
