"""Waits until a page shows what it asked for; the event stream stays open, so the network is never idle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.plugins.workers import eventually

if TYPE_CHECKING:
    from playwright.async_api import Page

# Noted before any script of the page runs: how many answers it still waits for.
COUNT_REQUESTS: Final = """
window.__waiting = 0;
const fetched = window.fetch;
window.fetch = (...given) => {
  window.__waiting += 1;
  return fetched(...given).finally(() => setTimeout(() => { window.__waiting -= 1; }, 30));
};
"""
_SETTLED: Final = """
() => document.querySelector('h1') !== null && window.__waiting === 0
  && document.querySelector('main .loading') === null
"""
# As the back button does; the new page has drawn, and asked for what it shows, when this returns.
_GO: Final = """
(path) => {
  if (document.querySelector('main h1') === null) return false;
  history.pushState(null, '', path);
  dispatchEvent(new PopStateEvent('popstate'));
  return new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(true))));
}
"""


async def settled(page: Page, path: str, *, load: bool = False) -> None:
    """Go to a path, and wait until everything on it was answered; the page needs COUNT_REQUESTS.

    An open console goes there without loading again, in a third of the processor time; `load` makes it load.
    """
    if load or not await page.evaluate(_GO, path):
        await page.goto(path)
    await eventually(lambda: page.evaluate(_SETTLED), within=30, every=0.05, what=f"{path} is complete")
