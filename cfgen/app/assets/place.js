const $ = (what) => element.querySelector(`[data-${what}]`);
const work = cf.jobs($("job"));
let scene = null, live = null, seed = 0, turn = 0, wish = 0, waiting = false, own = "", instant = "", chosen = "", held = "", settling = null;
const q = () => ({ scene: $("scene").value, hazard: $("hazard").value, size: Number($("size").value) || 0, inpainter: $("inpainter").value, guide: $("guide").value,
  s: Number($("s").value), lateral: Number($("l").value), heading: Number($("h").value), seed });
const option = (value, text) => cf.el("option", { value }, text);

async function start() {
  const a = await cf.ask("scenes");
  own = a.inpainter; instant = a.instant;
  $("scene").replaceChildren(...a.scenes.map((s) => option(s, s)));
  $("inpainter").replaceChildren(...a.inpainters.map((i) => cf.el("option", { value: i.id, disabled: Boolean(i.missing) }, i.missing ? `${i.id} (${i.missing})` : i.id)));
  $("guide").replaceChildren(option("", "nothing"), option(instant, `what ${instant} draws`));
  const usable = (id) => a.inpainters.some((i) => i.id === id && !i.missing);
  chosen = usable(own) ? own : instant;
  $("inpainter").value = chosen;
  $("guide").value = a.guide && chosen === own ? a.guide : "";
  if (!await take()) { $("inpainter").value = chosen = instant; $("guide").value = ""; await take(); }
  await pick();
  const open = await cf.ask("jobs");
  follow_job(open.find((j) => j.kind === "draw" || j.kind === "save"));
}
// an inpainter that is slow to start is started on the server; one that cannot be leaves the choice as it was
async function begun(wanted) {
  const starting = await cf.ask("open_inpainter", wanted).catch(() => undefined);
  if (!starting) return starting === null;
  const ended = await work.follow(starting);
  if (!ended || ended.state !== "done") return false;
  work.say("");
  return true;
}
async function take() {
  const wanted = { inpainter: $("inpainter").value, guide: $("guide").value, hazard: $("hazard").value };
  for (;;) {
    const found = await begun(wanted) && await cf.ask("hazards", wanted).catch(() => null);
    if (!found) return false;
    chosen = wanted.inpainter; held = wanted.guide;
    hazards(found);
    if ($("hazard").value === wanted.hazard) return true;
    wanted.hazard = $("hazard").value; // it cannot draw what was chosen: another was
  }
}
async function choose_inpainter() {
  const was = chosen, guide = held;
  if (!await take()) { $("inpainter").value = was; $("guide").value = guide; return; }
  await suggest();
}
function hazards(found) {
  const kept = $("hazard").value, groups = new Map();
  for (const h of found.hazards) { if (!groups.has(h.cluster)) groups.set(h.cluster, cf.el("optgroup", { label: h.cluster.replaceAll("_", " ") })); groups.get(h.cluster).append(cf.el("option", { value: h.id, "data-sizes": h.sizes }, h.name)); }
  $("hazard").replaceChildren(...groups.values());
  if (found.hazards.some((h) => h.id === kept)) $("hazard").value = kept;
  sizes();
  $("guide-label").hidden = !found.generative;
  $("preview-word").textContent = chosen === instant ? "preview" : "generate";
}
function sizes() {
  const n = Number(($("hazard").selectedOptions[0] || { dataset: {} }).dataset.sizes || 1);
  $("size").replaceChildren(...Array.from({ length: n }, (_, i) => option(i, `variant ${i + 1}`)));
  $("size-label").hidden = n < 2;
}
async function pick() {
  busy(true);
  const mine = ++wish, found = await cf.ask("scene", { scene: $("scene").value });
  if (mine !== wish) return;
  scene = found;
  const [w, h] = scene.size;
  $("frame").src = scene.frame;
  $("stage").style.aspectRatio = `${w} / ${h}`; $("stage").style.setProperty("--aspect", w / h);
  $("draw").setAttribute("viewBox", `0 0 ${w} ${h}`);
  speed();
  await suggest();
}
// where the build would put it; only then do the sliders say something from the start
function suggest() { return settling = settle(); }
async function settle() {
  busy(true);
  const mine = ++wish, p = await cf.ask("suggest", { ...q(), seed: ++seed }).catch(() => null);
  if (mine !== wish) return; // asked again, or moved by hand meanwhile
  if (p) { $("s").value = p.s; $("l").value = p.lateral; $("h").value = p.heading; $("size").value = p.size; }
  busy(false);
  follow();
}
const busy = (on) => $("stage").setAttribute("aria-busy", on);
function moved() { wish++; busy(false); follow(); }
// live: one question on the way at a time, the newest wins
async function follow() {
  $("part").hidden = true;
  $("gates-box").hidden = true; $("took").textContent = "";
  $("s-out").textContent = `${Number($("s").value).toFixed(1)} m`; 
  const l = Number($("l").value);
  $("l-out").textContent = Math.abs(l) < 0.05 ? "on the path" : `${Math.abs(l).toFixed(1)} m ${l > 0 ? "left" : "right"}`;
  $("h-out").textContent = `${$("h").value}°`;
  turn++;
  await look();
}
// asking again for where it was moved meanwhile is no move: what is being drawn there still counts
async function look() {
  if (waiting || !scene) return;
  waiting = true;
  const mine = turn, answer = await cf.ask("live", q()).catch(() => null);
  waiting = false;
  if (answer) { live = answer; draw(); }
  if (mine !== turn) look();
}
const poly = (points, cls) => cf.el("svg:polygon", { points: points.map((p) => p.join(",")).join(" "), class: cls });
function draw() {
  const ok = !live.faults.length, shapes = [];
  if (live.corners) {
    const c = live.corners, [w] = scene.size;
    shapes.push(poly(c.slice(0, 4), "foot " + (ok ? "" : "bad")));
    for (const [a, b] of [[4, 5], [5, 6], [6, 7], [7, 4], [0, 4], [1, 5], [2, 6], [3, 7]]) shapes.push(cf.el("svg:line", { x1: c[a][0], y1: c[a][1], x2: c[b][0], y2: c[b][1], class: ok ? "" : "bad" }));
    shapes.push(cf.el("svg:circle", { cx: (c[0][0] + c[1][0]) / 2, cy: (c[0][1] + c[1][1]) / 2, r: w / 320, class: "front" }));
  }
  $("draw").replaceChildren(...shapes);
  $("verdict").className = "cf-verdict " + (ok ? "ok" : "bad");
  $("verdict").replaceChildren(...(ok ? ["This place works."] : live.faults.map((f) => cf.el("p", {}, cf.el("b", {}, f), ": move or turn it, or choose another size."))));
  const px = (p) => (p ? `${p[0]} × ${p[1]} px` : "not in view");
  $("numbers").replaceChildren(...cf.rows([["Required deceleration", `${live.decel.toFixed(1)} m/s² (${live.band[0]} to ${live.band[1]})`], ["From", `${scene.speed_kmh.toFixed(0)} km/h`],
    ["At the planner's size", px(live.planner_px)], ["In the frame", px(live.frame_px)], ["Footprint", `${live.size[0].toFixed(1)} × ${live.size[1].toFixed(1)} m, ${live.size[2].toFixed(1)} m high`], ["Why it matters", live.why]]));
  $("save").disabled = !ok;
  bev(ok);
}
const B = { w: 300, h: 340, ahead: 62, behind: 3 };
B.k = B.h / (B.ahead + B.behind);
const toBev = ([x, y]) => [B.w / 2 - y * B.k, B.h - (x + B.behind) * B.k];
function bev(ok) {
  const svg = $("bev"), parts = [];
  svg.setAttribute("viewBox", `0 0 ${B.w} ${B.h}`);
  for (let x = 0; x <= 60; x += 10) { const y = toBev([x, 0])[1]; parts.push(cf.el("svg:line", { x1: 24, x2: B.w, y1: y, y2: y, class: "grid" }), cf.el("svg:text", { x: 2, y: y + 4 }, String(x))); }
  const line = scene.path.map(toBev), half = scene.lane_m / 2 * B.k;
  for (const side of [-half, half]) parts.push(cf.el("svg:polyline", { points: line.map(([u, v]) => `${u + side},${v}`).join(" "), class: "lane" }));
  parts.push(cf.el("svg:polyline", { points: line.map((p) => p.join(",")).join(" "), class: "path" }));
  parts.push(poly([[3.8, .95], [3.8, -.95], [-1, -.95], [-1, .95]].map(toBev), "ego"));
  parts.push(poly(live.foot_m.map(toBev), "foot " + (ok ? "" : "bad")));
  const [u, v] = toBev(live.front_m);
  parts.push(cf.el("svg:circle", { cx: u, cy: v, r: 3, class: "front" }));
  svg.replaceChildren(...parts);
}
function speed() {
  const svg = $("speed"), W = 330, H = 110, t0 = scene.speed[0][0], t1 = scene.speed.at(-1)[0], top = Math.max(20, 1.1 * Math.max(...scene.speed.map((p) => p[1])));
  const at = ([t, v]) => [34 + (W - 42) * (t - t0) / (t1 - t0 || 1), H - 18 - (H - 28) * v / top];
  svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
  const zero = at([0, 0]);
  svg.replaceChildren(cf.el("svg:line", { x1: zero[0], x2: zero[0], y1: 6, y2: H - 18, class: "lane" }), cf.el("svg:text", { x: zero[0] - 6, y: H - 4 }, "now"),
    ...[0, Math.round(top / 2), Math.round(top)].flatMap((v) => [cf.el("svg:line", { x1: 34, x2: W, y1: at([0, v])[1], y2: at([0, v])[1], class: "grid" }), cf.el("svg:text", { x: 2, y: at([0, v])[1] + 4 }, String(v))]),
    cf.el("svg:text", { x: W - 30, y: H - 4 }, `${t1.toFixed(0)} s`), cf.el("svg:text", { x: 34, y: H - 4 }, "km/h"),
    cf.el("svg:polyline", { points: scene.speed.map((p) => at(p).join(",")).join(" "), class: "path" }));
}
async function locate(where) {
  const found = await cf.ask("locate", { scene: $("scene").value, ...where }).catch(() => null);
  if (!found) return;
  $("s").value = found.s; $("l").value = found.lateral;
  moved();
}
function inFrame(e) { const r = $("stage").getBoundingClientRect(); return [(e.clientX - r.left) / r.width * scene.size[0], (e.clientY - r.top) / r.height * scene.size[1]]; }
$("stage").addEventListener("click", (e) => { if (scene) locate({ px: inFrame(e) }); });
$("bev").addEventListener("click", (e) => { const r = $("bev").getBoundingClientRect(), u = (e.clientX - r.left) / r.width * B.w, v = (e.clientY - r.top) / r.height * B.h; if (scene) locate({ xy: [(B.h - v) / B.k - B.behind, (B.w / 2 - u) / B.k] }); });

function showPart(p, took) {
  const [x, y, w, h] = p.at, [W, H] = scene.size, part = $("part");
  Object.assign(part.style, { left: `${100 * x / W}%`, top: `${100 * y / H}%`, width: `${100 * w / W}%`, height: `${100 * h / H}%` });
  part.src = p.part; part.hidden = false; $("draw").replaceChildren();
  $("hide").setAttribute("aria-pressed", "false");
  $("took").textContent = `drawn in ${(took / 1000).toFixed(2)} s`;
  $("gates-box").hidden = false;
  $("gates").replaceChildren(...cf.gates(p.gates));
}
async function preview() {
  await settling; // a place that is still looked for would move the hazard away from under the drawing
  if (work.busy) { cf.toast("One thing at a time: it is still drawing. Stop it first."); return; }
  const at = turn;
  if (chosen === instant) {
    const start = performance.now(), p = await cf.ask("preview", q()).catch(() => null);
    if (p && at === turn) showPart(p, performance.now() - start);
  } else follow_job(await cf.ask("generate", q()).catch(() => null), at);
}
async function follow_job(job, at = turn) {
  const ended = job && await work.follow(job);
  if (!ended || ended.state !== "done") return;
  if (ended.kind === "save") { cf.toast("Saved as a new case; it is in the queue under Curate."); work.say(`Saved as ${ended.result}.`); cf.changed(); }
  else if (at === turn) { showPart(ended.result, 1000 * ended.seconds); work.say(""); }
  else work.say("Drawn, but you have moved the hazard since.");
}
async function save() {
  if ($("save").disabled || work.busy) return;
  if (!cf.name()) { cf.toast("Type your name at the top of the page first.", true); return; }
  follow_job(await cf.ask("save", q()).catch(() => null));
}
function other() { seed++; follow(); preview(); }
const hide = () => { if ($("part").src) { const on = $("part").hidden; $("part").hidden = !on; $("hide").setAttribute("aria-pressed", !on); } };
const press = (what, by) => { $(what).value = Number($(what).value) + by; moved(); };
// the arrows go to the previous and next scene, as they go to the previous and next case and answer elsewhere
function scene_by(way) { const next = $("scene").selectedIndex + way; if (next >= 0 && next < $("scene").options.length) { $("scene").selectedIndex = next; pick(); } }
const DO = { p: preview, o: other, n: suggest, enter: save, " ": hide, i: () => press("s", 0.5), k: () => press("s", -0.5), j: () => press("l", 0.1), l: () => press("l", -0.1), q: () => press("h", 5), e: () => press("h", -5), arrowleft: () => scene_by(-1), arrowright: () => scene_by(1) };
cf.keys(element, (event) => {
  const key = event.key.toLowerCase(), on = document.activeElement;
  if (on && on.type === "range" && /^arrow/.test(key)) return false;
  if (on && on.tagName === "BUTTON" && (key === " " || key === "enter")) return false;
  if (!DO[key]) return false;
  DO[key]();
  return true;
}, [["← →", "previous, next scene"], ["I K", "farther, nearer"], ["J L", "to the left, to the right"], ["Q E", "turn"], ["P", "preview"], ["O", "other seed"], ["N", "suggest a place"], ["space", "before and after"], ["Enter", "save as a case"], ["?", "this list"]]);
for (const w of ["s", "l", "h"]) $(w).addEventListener("input", moved);
$("scene").addEventListener("change", pick);
$("hazard").addEventListener("change", async () => { busy(true); if (await take()) suggest(); else busy(false); });
$("size").addEventListener("change", moved);
$("inpainter").addEventListener("change", choose_inpainter); $("guide").addEventListener("change", choose_inpainter);
for (const [b, f] of [["suggest", suggest], ["preview", preview], ["other", other], ["hide", hide], ["save", save]]) $(b).addEventListener("click", f);
cf.onShown(element, () => start().catch(() => {}));
