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
    const found = colour.match(/[\d.]+/g).map(Number);
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
  const ratioOf = (colour, below) => {
    const [high, low] = [light(over(parse(colour), below)), light(below)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  for (const field of document.querySelectorAll('[placeholder]')) {
    const ratio = ratioOf(getComputedStyle(field, '::placeholder').color, behind(field));
    if (shown(field) && !field.value && ratio < 4.5) faults.push('contrast ' + ratio.toFixed(2) + ': placeholder ' + field.placeholder);
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || seen.has(element) || !shown(element)) continue;
    seen.add(element);
    if (element.closest('svg, button:disabled, .visually-hidden, .skip, option')) continue;
    const style = getComputedStyle(element);
    const ratio = ratioOf(style.color, behind(element));
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5))
      faults.push('contrast ' + ratio.toFixed(2) + ': ' + element.textContent.trim().slice(0, 40) + ' .' + element.className);
  }
  return faults.slice(0, 10);
}
