const $ = (what) => element.querySelector(`[data-${what}]`);
const view = cf.viewer($("view"));
let rows = new Map(), total = 0, listed = 0, first = 0, at = 0, now = null, wanted = 0, asked = 0, queued = 0, chosen = new Set(), tiled = false;

const REASONS = ["wrong scale", "floats or sinks", "looks pasted", "wrong light", "hidden or cut off", "not a hazard here", "implausible", "seam or smear"];
const MARK = { accept: "✓", reject: "✕", flag: "⚑", "": "·" };
const SAID = { accept: "you accepted it", reject: "you rejected it", flag: "you flagged it", "": "to do" };
const FACETS = { hazard: "Hazard", cluster: "Cluster", drive: "Drive", scene: "Scene", band: "Distance", recognition: "Recognition", gate: "Rejected by" };
const PAGE = 100;

const narrowed = () => Object.fromEntries([...$("facets").querySelectorAll("select")].map((s) => [s.name, s.value]));
// the server keeps the queue; the page holds what is on screen of it. null where it was asked for again meanwhile:
// an older answer must not take the newer one's place
async function fetched(where) {
  const turn = ++queued;
  const told = await cf.ask("queue", { show: $("filter").value, find: $("find").value, ...narrowed(), ...where });
  if (turn !== queued) return null;
  rows = new Map();
  first = told.from; total = told.total; listed = told.listed; wanted = told.wanted;
  told.rows.forEach((r, i) => rows.set(first + i, r));
  count(told.counts); facets(told.facets); list(); tiles();
  return told;
}
async function load(keep) {
  await cf.me(); // where this person was
  const before = moved;
  const told = await fetched({ keep: keep || (now && now.id) || cf.stored("case." + cf.name()), from: Math.min(at, Math.max(0, total - 1)) });
  if (told && before === moved) return go(told.at !== null ? told.at : Math.min(Math.max(at, first), Math.max(0, total - 1)), false);
  // somebody has gone on to another case while this was fetched: that one stays
  const here = told && !going && now && [...rows].find(([, r]) => r.id === now.id);
  return here ? go(here[0], false) : told;
}
function count(c) {
  $("counts").replaceChildren(
    cf.el("b", {}, `${c.mine} of ${c.here}`), " looked at by you",
    cf.el("progress", { max: Math.max(c.here, 1), value: c.mine, "aria-label": "looked at by you" }),
    cf.el("small", {}, `${c.here > wanted ? `${c.here} cases, ${wanted} were asked for` : `${c.here} of ${wanted} wanted`} · ${c.rejected || 0} rejected · ${c.refused || 0} rejected by gates`));
}
function facets(found) {
  const was = narrowed();
  $("facets").replaceChildren(...Object.entries(FACETS).filter(([f]) => found[f].length > 1 || was[f]).map(([f, label]) => cf.el("label", { class: "cf-filter" }, label,
    cf.el("select", { name: f, onchange: () => { at = 0; load(); } }, cf.el("option", { value: "" }, "any"), ...found[f].map(([v, n]) => cf.el("option", { value: v, selected: was[f] === v }, `${v.replaceAll("_", " ")} (${n})`))))));
}
function list() {
  $("list").replaceChildren(...[...rows].map(([i, r]) => line(r, i)));
  $("page").textContent = total > PAGE ? `${first + 1} to ${Math.min(total, first + PAGE)} of ${total}` : "";
}
const line = (r, i) => cf.el("li", { "data-i": i, id: "case-" + r.id, role: "option", "aria-selected": "false", class: r.mine || "" },
  cf.el("i", { title: SAID[r.mine], role: "img", "aria-label": SAID[r.mine] }, r.status === "rejected" ? "✕" : MARK[r.mine]),
  cf.el("span", {}, r.name, cf.el("small", {}, r.where || r.reason.slice(0, 60))),
  r.others.length ? cf.el("em", { title: r.others.map((o) => o.join(": ")).join("\n") }, r.others.map((o) => MARK[o[1]]).join("")) : null);
let moved = 0, going = 0;
async function go(index, byHand = true) {
  moved += byHand; going += 1;
  try { await visit(index); } finally { going -= 1; }
}
async function visit(index) {
  const turn = ++asked;
  if (!total) { empty(); return; }
  at = Math.max(0, Math.min(total - 1, index));
  if (!rows.has(at)) { await fetched({ from: at }).catch(() => null); if (turn !== asked || !rows.has(at)) return; }
  const row = rows.get(at);
  const early = ahead && ahead.id === row.id ? await ahead.item : null;
  const item = early || await cf.ask("item", { id: row.id }).catch(() => null);
  if (turn !== asked || !item) return;
  now = item;
  cf.stored("case." + cf.name(), row.id);
  draw(row);
  lookAhead(rows.get(at + 1));
  clearTimeout(lingering);
  lingering = setTimeout(() => linger(row, turn, Boolean(early)), 200);
}
// what only somebody who stays needs: the strip's pictures, and whether what was fetched early is old by now
let lingering = null;
function linger(row, turn, early) {
  for (const frame of $("strip").querySelectorAll("[data-src]")) frame.src = frame.dataset.src;
  if (early) refresh(row, turn);
}
// the next case is fetched and decoded while this one is looked at
let ahead = null;
function lookAhead(next) {
  if (!next || (ahead && ahead.id === next.id)) return;
  const mine = ahead = { id: next.id, frames: [] };
  mine.item = cf.ask("item", { id: next.id }).then((item) => {
    mine.frames = [item.original, item.augmented].filter(Boolean).map((src) => { const frame = new Image(); frame.src = src; frame.decode().catch(() => {}); return frame; });
    return item;
  }).catch(() => null);
}
async function refresh(row, turn) {
  const item = await cf.ask("item", { id: row.id }).catch(() => null);
  if (item && turn === asked && JSON.stringify(item) !== JSON.stringify(now)) { now = item; draw(row); linger(row, turn, false); }
}
function empty() {
  now = null;
  $("view").hidden = true;
  const sought = $("find").value.trim(), narrow = Object.values(narrowed()).some(Boolean);
  $("title").textContent = sought ? `Nothing found for “${sought}”` : narrow ? "Nothing fits" : $("filter").value === "todo" ? "Nothing left to look at" : "No such case";
  $("state").textContent = sought || narrow ? `among ${listed} in this list; ${sought ? "clear the search" : "choose any"} to see them` : "";
  for (const part of ["facts", "provenance", "gates", "reviews", "strip"]) $(part).replaceChildren();
}
function draw(row) {
  const was = $("list").querySelector("[aria-current]"), here = $("list").querySelector(`[data-i="${at}"]`);
  if (was) { was.removeAttribute("aria-current"); was.setAttribute("aria-selected", "false"); }
  if (here) { here.setAttribute("aria-current", "true"); here.setAttribute("aria-selected", "true"); $("list").setAttribute("aria-activedescendant", here.id); }
  if (here) { const l = $("list"); if (here.offsetTop < l.scrollTop || here.offsetTop > l.scrollTop + l.clientHeight - 60) l.scrollTop = here.offsetTop - l.clientHeight / 2; }
  $("title").textContent = now.name || row.name;
  $("state").textContent = `${at + 1} of ${total}` + (now.status === "accepted" ? "" : ` · ${now.status} by ${now.by}: ${now.reason}`);
  $("state").className = now.status === "accepted" ? "" : "bad";
  $("view").hidden = !now.original;
  if (now.original) view.show(now);
  $("facts").replaceChildren(...cf.rows(now.facts || [["Reason", now.reason]]));
  $("provenance").replaceChildren(...cf.rows(now.provenance || []));
  $("gates").replaceChildren(...cf.gates(now.gates || []));
  $("reviews").replaceChildren(...now.reviews.map((r) => cf.el("li", { class: r.decision }, cf.el("b", {}, r.who), ` ${r.decision === "clear" ? "took that back" : r.decision}`, r.reason && r.reason !== "undo" ? `: ${r.reason}` : "", cf.el("small", {}, ` ${cf.when(r.at)}`))));
  if (!now.reviews.length) $("reviews").append(cf.el("li", { class: "none" }, "nobody has decided yet"));
  $("strip").replaceChildren(...(now.strip || []).map((f) => cf.el("button", { title: `frame at ${f.t} s`, "aria-label": `Show the frame at ${f.t} seconds`, onclick: () => view.show({ ...now, original: f.original, augmented: f.path, box: f.t > -0.01 ? now.box : null, outline: f.t > -0.01 ? now.outline : [] }) },
    cf.el("img", { "data-src": f.path + "&small", alt: "" }), `${f.t > -0.01 ? 0 : f.t.toFixed(1)} s`)));
  const whole = now.status !== "refused";
  for (const b of ["accept", "reject", "flag"]) $(b).disabled = !whole || (b === "reject" && now.status === "rejected");
}
// of: the case that was on screen when its reason was asked for, whatever is there by now
async function decide(decision, reason, of = { id: now.id, name: now.name }) {
  const { id, name } = of;
  const answer = await cf.ask("decide", { id, decision, reason: reason || "" }).catch(() => null);
  if (!answer) return;
  cf.toast(`${answer.said}: ${name}. U takes it back.`);
  const next = rows.get(at + 1) || rows.get(at - 1);
  await load(next ? next.id : id);
}
function ask(title, button, chips) {
  const box = $("why");
  $("why-title").textContent = title; $("go").textContent = button; $("go").className = button === "reject" ? "no" : "yes"; $("words").value = "";
  $("chips").replaceChildren(...chips.map((c, i) => cf.el("button", { type: "button", onclick: () => { $("words").value = $("words").value.trim() || c; box.close("go"); } }, cf.el("kbd", {}, String(i + 1)), " " + c)));
  box.returnValue = "";
  box.showModal();
  box.focus(); // no reason is chosen beforehand: Enter must not take the first
  return new Promise((resolve) => box.addEventListener("close", () => resolve(box.returnValue === "go" ? $("words").value.trim() : null), { once: true }));
}
$("why").addEventListener("keydown", (e) => {
  const on = document.activeElement, writing = on === $("words"), chip = /^[1-9]$/.test(e.key) && !writing ? $("chips").children[Number(e.key) - 1] : null;
  if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
  if (chip) { e.preventDefault(); chip.click(); }
  else if (e.key === "Enter" && !e.shiftKey && on.tagName !== "BUTTON") { e.preventDefault(); $("why").close("go"); }
  else if (e.key.length === 1 && e.key !== " " && !writing) $("words").focus(); // what is typed goes there
});
async function reject() {
  if (!now || $("reject").disabled) return;
  const of = { id: now.id, name: now.name }, reason = await ask(`Why reject “${of.name}”?`, "reject", REASONS);
  if (reason === "") cf.toast("A rejection needs a reason.", true);
  else if (reason) decide("reject", reason, of);
}
async function flag() {
  if (!now || $("flag").disabled) return;
  const of = { id: now.id, name: now.name }, reason = await ask(`Flag “${of.name}” for others: what about it?`, "flag", ["second opinion, please", "borderline realism", "unsure it needs a response"]);
  if (reason !== null) decide("flag", reason, of);
}
async function undo() { const back = await cf.ask("undo").catch(() => null); if (back) { cf.toast(back.said); if (["rejected", "flag"].includes($("filter").value)) $("filter").value = "all"; await load(back.id); } }
const press = (button, on) => { $(button).setAttribute("aria-pressed", on); };
const flicker = () => { view.flicker(!view.flickering); press("flicker", view.flickering); };
const zoom = () => { view.zoom(!view.zoomed); press("zoom", view.zoomed); };
const outline = () => { view.outline(!view.outlined); press("outline", view.outlined); };
const DO = { a: () => now && !$("accept").disabled && decide("accept"), r: reject, f: flag, u: undo, z: zoom, m: outline, w: () => gallery(!tiled), escape: () => tiled && gallery(false), " ": () => (tiled ? sides() : flicker()),
  arrowright: () => go(at + 1), arrowdown: () => go(at + 1), arrowleft: () => go(at - 1), arrowup: () => go(at - 1) };
cf.keys(element, (event) => {
  const on = document.activeElement, key = event.key.toLowerCase();
  if (on && on.type === "range" && /^arrow/.test(key)) return false;
  if (on && on.tagName === "BUTTON" && key === " ") on.blur();
  if (tiled && /^[arfzm]$/.test(key)) return false; // these are about the one case that is not on screen
  if (!DO[key] || event.repeat && !/^arrow/.test(key)) return false;
  DO[key]();
  return true;
}, [["A", "accept, or bring back"], ["R", "reject, with a reason"], ["F", "flag"], ["U", "undo"], ["space", "before and after, by turns"], ["Z", "zoom to the edit"], ["M", "mask outline"], ["W", "gallery"], ["Esc", "back from the gallery"], ["← →", "previous, next case"], ["?", "this list"]]);
for (const [button, act] of [["accept", DO.a], ["reject", reject], ["flag", flag], ["undo", undo], ["flicker", flicker], ["zoom", zoom], ["outline", outline], ["prev", DO.arrowleft], ["next", DO.arrowright]]) $(button).addEventListener("click", act);
let typing = null;
$("filter").addEventListener("change", () => { at = 0; chosen.clear(); load(); });
$("find").addEventListener("input", () => { at = 0; clearTimeout(typing); typing = setTimeout(load, 150); });
$("list").addEventListener("click", (e) => { const li = e.target.closest("li"); if (li) go(Number(li.dataset.i)); });
cf.onName(() => load());

// --- the gallery: many at once ---
function tiles() {
  if (!tiled) return;
  $("tiles").replaceChildren(...[...rows].map(([i, r]) => tile(r, i)));
  $("earlier").disabled = first === 0; $("later").disabled = first + PAGE >= total;
  chose();
}
function tile(r, i) {
  const picture = cf.el("img", { src: side(r), alt: "", loading: "lazy", width: 160 }), box = cf.el("input", { type: "checkbox", "aria-label": `choose ${r.name}, ${r.where}` });
  box.checked = chosen.has(r.id);
  box.addEventListener("change", () => { if (box.checked) chosen.add(r.id); else chosen.delete(r.id); chose(); });
  const open = cf.el("button", { title: `${r.name}, ${r.where || r.reason}`, "aria-label": `look at ${r.name}, ${r.where}`, onclick: () => { gallery(false); go(i); } }, picture);
  open.addEventListener("pointerenter", () => { picture.src = (sided ? r.after : r.before) || ""; }); open.addEventListener("pointerleave", () => { picture.src = side(r); });
  return cf.el("li", { class: r.mine || "" }, open, cf.el("label", {}, box, ` ${MARK[r.mine]} ${r.name}`));
}
let sided = false;
const side = (r) => (sided ? r.before : r.after) || "";
function sides() { sided = !sided; $("sides").setAttribute("aria-pressed", sided); tiles(); }
function chose() { $("gallery-title").textContent = `${total} cases`; $("chosen").textContent = chosen.size ? `${chosen.size} chosen` : "choose some by their boxes; a picture opens its case"; for (const b of ["accept-all", "reject-all", "flag-all"]) $(b).disabled = !chosen.size; }
function gallery(on) {
  tiled = on;
  element.querySelector(".cf-room").classList.toggle("tiled", on);
  $("gallery").hidden = !on; $("single").hidden = $("facts-side").hidden = on;
  $("gallery-button").setAttribute("aria-pressed", on);
  tiles();
}
async function together(decision, reason) {
  const told = await cf.ask("decide_all", { ids: [...chosen], decision, reason: reason || "" }).catch(() => null);
  if (!told) return;
  chosen.clear();
  cf.toast(`${told.said}. U takes all of it back.`);
  await load();
}
async function rejectAll() { const reason = await ask(`Why reject ${chosen.size} cases?`, "reject", REASONS); if (reason) together("reject", reason); else if (reason === "") cf.toast("A rejection needs a reason.", true); }
async function flagAll() { const reason = await ask(`Flag ${chosen.size} cases: what about them?`, "flag", []); if (reason !== null) together("flag", reason); }
for (const [button, act] of [["gallery-button", () => gallery(!tiled)], ["sides", sides], ["every", () => { for (const r of rows.values()) chosen.add(r.id); tiles(); }], ["none", () => { chosen.clear(); tiles(); }], ["accept-all", () => together("accept")], ["reject-all", rejectAll], ["flag-all", flagAll],
  ["earlier", () => go(first - 1)], ["later", () => go(first + PAGE)]]) $(button).addEventListener("click", act);

load().catch(() => {});
