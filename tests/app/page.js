// What a page is to somebody who cannot see it well, or has no mouse. One expression, evaluated in the page.
({
  // every visible text with its contrast ratio to what is behind it, per WCAG 2.2; pictures left out
  contrasts: (root) => {
  const parse = (c) => { const m = c.match(/[\d.]+/g).map(Number); if (c.startsWith('color(srgb')) for (let i = 0; i < 3; i++) m[i] *= 255; return { rgb: m.slice(0, 3), a: m[3] ?? 1 }; };
  const over = (top, under) => top.rgb.map((v, i) => v * top.a + under[i] * (1 - top.a));
  const light = (rgb) => { const [r, g, b] = rgb.map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const behind = (e) => {
    const layers = [];
    for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.a) layers.push(c); if (c.a === 1) break; }
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255]);
  };
  const faint = (e) => { let o = 1; for (; e; e = e.parentElement) o *= Number(getComputedStyle(e).opacity); return o; };
  const found = [];
  const add = (e, text, colour) => {
    const back = behind(e), ink = parse(colour);
    const style = getComputedStyle(e), size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    found.push({ text: text.slice(0, 40), ratio: ratio(over({ rgb: ink.rgb, a: ink.a * faint(e) }, back), back), needed: large ? 3 : 4.5 });
  };
  const host = document.querySelector(root), texts = document.createTreeWalker(host, NodeFilter.SHOW_TEXT);
  for (let node; (node = texts.nextNode());) {
    const e = node.parentElement, text = node.textContent.trim();
    if (!text || !e.checkVisibility({ checkOpacity: false, checkVisibilityCSS: true }) || e.closest('.cf-hidden, option, :disabled, script, style')) continue;
    const style = getComputedStyle(e);
    add(e, text, e instanceof SVGElement ? style.fill : style.color);
  }
  for (const e of host.querySelectorAll('input, textarea, select')) {
    if (!e.checkVisibility() || e.disabled || /range|radio|checkbox/.test(e.type)) continue;
    add(e, e.value || e.tagName, getComputedStyle(e).color);
    if (e.placeholder) add(e, e.placeholder, getComputedStyle(e, '::placeholder').color);
  }
  return found;
},
  // the focused element: what it is called, where it is, and whether a ring shows
  focused: () => {
  const e = document.activeElement;
  if (!e || e === document.body) return null;
  const style = getComputedStyle(e), box = e.getBoundingClientRect();
  const name = e.getAttribute('aria-label') || (e.labels && e.labels[0] && e.labels[0].childNodes[0].textContent.trim()) || e.textContent.trim().replace(/\s+/g, ' ') || e.tagName;
  return { name: name.slice(0, 40), ring: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
           top: box.top, bottom: box.bottom, left: box.left, right: box.right, width: innerWidth, height: innerHeight,
           room: e.closest('[id^=room-]') && e.closest('[id^=room-]').id };
},
  // controls that a screen reader could not name, pictures without a text, and ids used twice
  nameless: (root) => {
  const named = (e) => (e.labels && [...e.labels].some((l) => l.textContent.trim())) || e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.getAttribute('alt') || (!/^(INPUT|SELECT|TEXTAREA|UL|OL)$/.test(e.tagName) && e.textContent.trim());
  const bad = [...document.querySelectorAll(`${root} :is(button, input, select, textarea, dialog, progress, [tabindex="0"], [role=img], [role=listbox])`)].filter((e) => e.checkVisibility() && !named(e)).map((e) => e.outerHTML.slice(0, 120));
  const pictures = [...document.querySelectorAll(`${root} img`)].filter((e) => !e.hasAttribute('alt')).map((e) => e.outerHTML.slice(0, 120));
  const ids = [...document.querySelectorAll('[id]')].map((e) => e.id), twice = ids.filter((id, i) => id.startsWith('cf-') && ids.indexOf(id) !== i);
  return [...bad, ...pictures, ...twice];
},
})
