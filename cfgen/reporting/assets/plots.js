// Bird's-eye view and speed plot of a case as SVG. Teal is the original plan, orange the modified one.
"use strict";

const TEAL = "#008080", ORANGE = "#e86a10", ORANGE_INK = "#b04a00", PLACE = "#b02a37", GRID = "#e2e6ea", AXIS = "#a8b0b8", MUTED = "#68707a";

// Plots shrink to the width of a phone; their words must not.
const FONT = matchMedia("(max-width: 640px)").matches ? 15 : 12;

/** An element with attributes and children; text is never read as markup. */
function make(tag, attributes = {}, ...children) {
  const svg = ["svg", "g", "path", "circle", "line", "text", "rect", "title", "polygon"].includes(tag);
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const line = (x1, y1, x2, y2, stroke) => make("line", { x1, y1, x2, y2, stroke });
const words = (x, y, anchor, text, fill = MUTED) =>
  make("text", { x, y, "text-anchor": anchor, fill, "font-size": FONT, "font-family": "system-ui, sans-serif" }, text);
const path = (points, stroke, width) =>
  make("path", {
    d: points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join(""),
    fill: "none", stroke, "stroke-width": width, "stroke-linejoin": "round", "stroke-linecap": "round",
  });

/** The smallest of the steps x 10^k that is at least `needed`. */
function rung(needed, steps) {
  const power = 10 ** Math.floor(Math.log10(needed));
  return power * steps.find((step) => step * power >= needed * (1 - 1e-9));
}

const LADDER = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];

/** Plans are lists of [x, y] in metres, x forward, y left; `place` is an outline alike. A strip at the right stretches sideways moves. */
function bevPlot(plans, place) {
  const size = { width: 460, height: 460 }, top = 40, bottom = 34, left = 44, right = 18;
  const all = [...plans.flatMap((plan) => plan.points), ...(place ? place.points : [])];
  const sideways = Math.max(...all.map(([, y]) => Math.abs(y)));
  const ahead = Math.max(14, ...all.map(([x]) => x), ...all.map(([x]) => -x / 0.08));
  const stretched = sideways <= 0.15 * ahead && ahead >= 25;
  const strip = stretched ? 124 : 0, gap = stretched ? 46 : 0;
  const room = size.width - left - right - strip - gap;
  const forward = rung(1.04 * Math.max(ahead, (2 * sideways * (size.height - top - bottom)) / room / 1.08), LADDER);
  const along = (size.height - top - bottom) / (1.08 * forward), row = top + forward * along;
  const areas = [{ from: left, to: left + room, across: along, name: "to scale" }];
  if (stretched) {
    const side = rung(Math.max(1.3 * sideways, 2.5), LADDER);
    const from = size.width - right - strip;
    areas.push({ from, to: from + strip, across: strip / 2 / side, name: `sideways x ${Math.round(strip / 2 / side / along)}` });
  }
  const svg = make("svg", { viewBox: `0 0 ${size.width} ${size.height}`, role: "img" });
  svg.append(make("title", {}, "Plans from above: x forward, y left, in metres"));
  const step = rung(forward / 7, [1, 2, 5, 10]);
  for (let x = 0; x <= forward * 1.0001; x += step) {
    for (const area of areas) svg.append(line(area.from, row - x * along, area.to, row - x * along, x ? GRID : AXIS));
    svg.append(words(left - 6, row - x * along + 4, "end", `${+x.toPrecision(6)}`));
  }
  for (const area of areas) drawArea(svg, area, size.height - bottom, top, row, along, plans, place);
  svg.append(words(2, top - 10, "start", "x (m)"));
  return svg;
}

function drawArea(svg, area, bottom, top, row, along, plans, place) {
  const middle = (area.from + area.to) / 2, half = (area.to - area.from) / 2 / area.across;
  const step = rung((2 * half) / ((area.to - area.from) / 45), [1, 2, 5, 10]);
  for (let k = -Math.floor(half / step + 1e-6); k <= half / step + 1e-6; k++) {
    const x = middle - k * step * area.across, label = +(k * step).toPrecision(6);
    svg.append(line(x, top, x, bottom, k ? GRID : AXIS), words(x, bottom + 15, "middle", k > 0 ? `+${label}` : `${label}`));
  }
  svg.append(words(middle, top - 10, "middle", area.name), words(middle, bottom + 30, "middle", "left + y (m) - right"));
  const put = ([x, y]) => [middle - y * area.across, row - x * along];
  const grow = Math.max(1, 4.5 / (0.95 * along)) * along;
  const body = [[-1, 0.95], [2.9, 0.95], [3.8, 0], [2.9, -0.95], [-1, -0.95]];
  const corners = body.map(([x, y]) => `${(middle - y * grow).toFixed(1)},${(row - x * grow).toFixed(1)}`).join(" ");
  svg.append(make("polygon", { points: corners, fill: "#cdd3d9", stroke: MUTED }));
  plans.forEach((plan, i) => {
    const points = [[0, 0], ...plan.points].map(put);
    svg.append(path(points, plan.color, i ? 2.2 : 4.5));
    points.slice(1).forEach(([cx, cy], k) => svg.append(make("circle", { cx, cy, r: (k + 1) % 4 ? 2 : 3.6 - 0.4 * i, fill: plan.color })));
    const [cx, cy] = points[points.length - 1];
    svg.append(make("circle", { cx, cy, r: 6.5 - 2 * i, fill: "#fff", stroke: plan.color, "stroke-width": 2 }));
  });
  if (place) {
    const points = place.points.map((corner) => put(corner).map((v) => v.toFixed(1)).join(",")).join(" ");
    svg.append(make("polygon", { class: "place", points, fill: PLACE, "fill-opacity": 0.15, stroke: PLACE, "stroke-width": 2, "stroke-dasharray": place.there ? "none" : "4 3" }));
  }
  svg.append(make("circle", { cx: middle, cy: row, r: 3, fill: "#1d2329" }));
}

/** Plans carry speeds in km/h, 0.25 s apart from 0 on. */
function speedPlot(plans) {
  const width = 460, height = 270, top = 40, bottom = 34, left = 44, right = 46;
  const highest = rung(1.06 * Math.max(18, ...plans.flatMap((plan) => plan.speeds)), LADDER);
  const at = (t, v) => [left + (t / 6) * (width - left - right), height - bottom - (v / highest) * (height - top - bottom)];
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  svg.append(make("title", {}, "Planned speed in km/h over 6 s"), words(2, top - 10, "start", "speed (km/h)"));
  const step = rung(highest / 5, [1, 2, 5, 10]);
  for (let v = 0; v <= highest * 1.0001; v += step) {
    svg.append(line(...at(0, v), ...at(6, v), v ? GRID : AXIS), words(left - 6, at(0, v)[1] + 4, "end", `${+v.toPrecision(6)}`));
  }
  for (let t = 0; t <= 6; t++) {
    svg.append(line(...at(t, 0), ...at(t, highest), t ? GRID : AXIS), words(at(t, 0)[0], height - bottom + 15, "middle", `${t}`));
  }
  svg.append(words((left + width - right) / 2, height - 4, "middle", "time (s)"));
  plans.forEach((plan, i) => {
    const points = plan.speeds.map((v, k) => at(0.25 * k, v));
    svg.append(path(points, plan.color, i ? 2.2 : 4.5));
  });
  const ends = plans.map((plan) => ({ color: plan.color, v: plan.speeds[plan.speeds.length - 1] })).sort((a, b) => b.v - a.v);
  const ys = ends.map((end) => at(6, end.v)[1] + 4);
  if (ys.length === 2 && ys[1] - ys[0] < 15) {
    const middle = (ys[0] + ys[1]) / 2;
    ys[0] = middle - 7.5;
    ys[1] = middle + 7.5;
  }
  ends.forEach((end, i) => svg.append(words(width - right + 7, ys[i], "start", end.v.toFixed(1), end.color === ORANGE ? ORANGE_INK : end.color)));
  return svg;
}
