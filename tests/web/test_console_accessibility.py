"""Every page at desk and phone width, in both themes: labels, contrast, and nothing that scrolls sideways."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from tests.plugins.console import Site
from tests.web.uploading import handbook, upload

pytestmark = pytest.mark.timeout(240)

PATHS = (
    "/",
    "/documents",
    "/documents?status=failed,indexed&q=a",
    "/upload",
    "/search?q=mill",
    "/search?q=mill&compare=1&b.mode=text",
    "/sources",
    "/sources/connect",
    "/sources/skipped",
    "/clients",
    "/queues",
    "/tasks",
    "/failures",
    "/workers",
    "/processes",
    "/operations",
    "/access/keys",
    "/access/sessions",
    "/access/tenants",
    "/access/audit",
    "/no-such-page",
)

# Controls without a name, pictures without a text, and text that is too faint for what is behind it.
FAULTS = """
() => {
  const faults = [];
  const shown = (element) => {
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    return box.width > 1 && box.height > 1 && style.visibility !== 'hidden' && style.display !== 'none';
  };
  const named = (element) =>
    element.getAttribute('aria-label') || element.getAttribute('title') || element.textContent.trim() ||
    (element.getAttribute('aria-labelledby') && document.getElementById(element.getAttribute('aria-labelledby'))?.textContent) ||
    [...(element.labels || [])].map((label) => label.textContent.trim()).join('') || element.getAttribute('alt');
  for (const element of document.querySelectorAll('button, a, select, textarea, input:not([type=hidden]), [role=img], img'))
    if (shown(element) && !(element.tagName === 'IMG' ? element.hasAttribute('alt') : named(element)))
      faults.push('no name: ' + element.outerHTML.slice(0, 120));
  const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
  for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) faults.push('id twice: ' + id);

  const parse = (colour) => {
    const found = colour.match(/[\\d.]+/g).map(Number);
    return { rgb: found.slice(0, 3), alpha: found.length > 3 ? found[3] : 1 };
  };
  const over = (top, below) => top.rgb.map((value, at) => value * top.alpha + below[at] * (1 - top.alpha));
  const light = (rgb) => {
    const [r, g, b] = rgb.map((value) => value / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.alpha > 0) layers.push(colour);
      if (colour.alpha === 1) break;
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || seen.has(element) || !shown(element)) continue;
    seen.add(element);
    if (element.closest('svg, button:disabled, .visually-hidden, .skip, option')) continue;
    const style = getComputedStyle(element);
    const below = behind(element);
    const ink = over(parse(style.color), below);
    const [high, low] = [light(ink), light(below)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5))
      faults.push('contrast ' + ratio.toFixed(2) + ': ' + element.textContent.trim().slice(0, 40) + ' .' + element.className);
  }
  return faults.slice(0, 10);
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_control_has_a_name_and_every_text_stands_out(
    site: Site, scheme: Literal["light", "dark"]
) -> None:
    document = await upload(site, "labelled.pdf", handbook(), "application/pdf")
    broken = await upload(site, "unlabelled.pdf", b"%PDF-1.4 broken", "application/pdf")
    paths = (*PATHS, f"/documents/{document['document_id']}?chunk=1", f"/documents/{broken['document_id']}")
    found: dict[str, Any] = {}
    async with site.visit(tenant="acme", watch=False, color_scheme=scheme) as page:
        for path in paths:
            await page.goto(path)
            await page.locator("h1").first.wait_for()
            await page.wait_for_load_state("networkidle")
            if faults := await page.evaluate(FAULTS):
                found[path] = faults
    assert found == {}


async def test_nothing_scrolls_sideways_at_phone_width(site: Site) -> None:
    long_name = await upload(site, f"{'a-long-name-without-any-spaces-' * 6}.txt", "Words. " * 30)
    right_to_left = await upload(site, "تقرير عن الطاحونة.txt", "يفتح السد عند الفجر ويغلق عند الغروب.")
    document = await upload(site, "phone.pdf", handbook(), "application/pdf")
    shown = [f"/documents/{each['document_id']}?chunk=0" for each in (long_name, right_to_left, document)]
    wider: dict[str, int] = {}
    async with site.visit(tenant="acme", watch=False, viewport={"width": 390, "height": 844}) as page:
        for path in (*PATHS, *shown):
            await page.goto(path)
            await page.locator("h1").first.wait_for()
            await page.wait_for_load_state("networkidle")
            over = await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            if over > 0:
                wider[path] = over
    assert wider == {}
