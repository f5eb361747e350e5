"use strict";
// Both plans from above and their speeds, in metres and seconds. Told apart by colour, dash and mark.
cf.plots = (root) => {
  const { el } = cf, NAMES = ["original", "changed"], KIND = ["first", "second"];
  const bev = el("svg:svg", { role: "img", class: "cf-above", viewBox: "0 0 260 330" }), speed = el("svg:svg", { role: "img", class: "cf-over-time", viewBox: "0 0 260 150" });
  const numbers = el("pre", { tabindex: 0, role: "region", "aria-label": "Difference between the plans" });
  root.replaceChildren(el("figure", {}, el("figcaption", {}, "From above, m"), bev), el("figure", {}, el("figcaption", {}, "Speed, km/h"), speed), el("details", {}, el("summary", {}, "numbers"), numbers));
  const line = (points, kind) => el("svg:polyline", { points: points.map((p) => p.map((v) => v.toFixed(1)).join(",")).join(" "), class: `line ${kind}` });
  const text = (x, y, words, anchor = "start") => { const t = el("svg:text", { x, y, "text-anchor": anchor }); t.textContent = words; return t; };
  const dot = (p, kind) => (kind === "first" ? el("svg:circle", { cx: p[0], cy: p[1], r: 2.6, class: `dot ${kind}` }) : el("svg:rect", { x: p[0] - 2.4, y: p[1] - 2.4, width: 4.8, height: 4.8, class: `dot ${kind}` }));
  const legend = (y) => KIND.flatMap((kind, i) => [line([[34 + 96 * i, y - 4], [58 + 96 * i, y - 4]], kind), dot([46 + 96 * i, y - 4], kind), text(63 + 96 * i, y, NAMES[i])]);
  const step = (span, lines) => { const raw = span / lines, base = 10 ** Math.floor(Math.log10(raw)); return [1, 2, 5, 10].map((m) => m * base).find((s) => s >= raw); };
  function above(d) {
    const W = 260, H = 330, top = 26, low = 14, [rear, front, half] = d.ego;
    const all = d.plans.flat(), xs = all.map((p) => p[0]), ys = all.map((p) => Math.abs(p[1])), foot = d.place || [];
    const ahead = Math.max(15, ...xs, ...foot.map((p) => p[0])) * 1.06, behind = Math.max(4, -Math.min(0, ...xs) + 2);
    const k = Math.min((H - top - low) / (ahead + behind), (W / 2 - 30) / Math.max(5, Math.min(60, Math.max(...ys, ...foot.map((p) => Math.abs(p[1]))) + 2)));
    const at = ([x, y]) => [W / 2 + 10 - y * k, H - low - (x + behind) * k], parts = [];
    const s = step(ahead, 5);
    for (let m = 0; m <= ahead; m += s) { const y = at([m, 0])[1]; parts.push(el("svg:line", { x1: 30, x2: W - 2, y1: y, y2: y, class: "grid" }), text(27, y + 3.5, String(m), "end")); }
    d.plans.forEach((plan, i) => {
      const path = [[0, 0, 0], ...plan], side = (way) => path.map(([x, y, a]) => at([x - way * half * Math.sin(a), y + way * half * Math.cos(a)]));
      parts.push(el("svg:polygon", { points: [...side(1), ...side(-1).reverse()].map((p) => p.join(",")).join(" "), class: `width ${KIND[i]}` }));
    });
    d.plans.forEach((plan, i) => { const path = [[0, 0], ...plan].map(at); parts.push(line(path, KIND[i])); path.forEach((p, n) => { if (n && n % 4 === 0) parts.push(dot(p, KIND[i])); }); });
    parts.push(el("svg:polygon", { points: [[rear, half], [front, half], [front, -half], [rear, -half]].map((p) => at(p).join(",")).join(" "), class: "ego" }));
    if (foot.length) { parts.push(el("svg:polygon", { points: foot.map((p) => at(p).join(",")).join(" "), class: "foot" })); const p = at(foot[0]); parts.push(text(p[0] + 6, p[1] + 3, "added")); }
    bev.replaceChildren(...parts, ...legend(12));
    bev.setAttribute("aria-label", `Both plans from above with the car's width: the original ends ${d.plans[0].at(-1)[0].toFixed(0)} m ahead, the changed one ${d.plans[1].at(-1)[0].toFixed(0)} m` + (foot.length ? `; what was added stands ${foot[0][0].toFixed(0)} m ahead` : ""));
  }
  function overTime(d) {
    const W = 260, H = 150, top = 22, low = 18, span = 6, fastest = Math.max(20, ...d.speeds.flat()) * 1.08;
    const at = (t, v) => [34 + t / span * (W - 42), H - low - v / fastest * (H - top - low)], parts = [], s = step(fastest, 4);
    for (let v = 0; v <= fastest; v += s) { const y = at(0, v)[1]; parts.push(el("svg:line", { x1: 34, x2: W - 6, y1: y, y2: y, class: "grid" }), text(30, y + 3.5, String(v), "end")); }
    for (let t = 0; t <= span; t += 2) parts.push(text(at(t, 0)[0], H - 4, `${t} s`, "middle"));
    d.speeds.forEach((speeds, i) => { const path = speeds.map((v, n) => at(n * d.dt, v)); parts.push(line(path, KIND[i])); path.forEach((p, n) => { if (n % 4 === 0) parts.push(dot(p, KIND[i])); }); });
    speed.replaceChildren(...parts, ...legend(12));
    speed.setAttribute("aria-label", `Speed of both plans: the original goes from ${d.speeds[0][0]} to ${d.speeds[0].at(-1)} km/h, the changed one to ${d.speeds[1].at(-1)} km/h`);
  }
  return { show(d) { root.hidden = !d.plans; if (d.plans) { above(d); overTime(d); numbers.textContent = d.delta; } } };
};
// what a planner said, then what it planned; the text as it came behind a fold
cf.words = (w) => [
  cf.el("p", {}, w.said || "(no words)"), w.why ? cf.el("p", {}, w.why) : null, w.planned ? cf.el("p", { class: "planned" }, cf.el("b", {}, "Planned: "), w.planned) : null,
  w.raw ? cf.el("details", {}, cf.el("summary", {}, "as it came"), cf.el("pre", { tabindex: 0, role: "region", "aria-label": "The answer as it came" }, w.raw)) : null].filter(Boolean);
