const $ = (what) => element.querySelector(`[data-${what}]`);
const view = cf.viewer($("view")), work = cf.jobs(server, $("job"));
let all = [], shown = [], at = 0, now = null, wanted = 0, asked = 0;

const REASONS = ["wrong scale", "floats or sinks", "looks pasted", "wrong light", "hidden or cut off", "not a hazard here", "implausible", "seam or smear"];
const matches = {
  todo: (r) => r.status === "accepted" && !r.mine,
  all: (r) => r.status === "accepted",
  flag: (r) => r.mine === "flag" || r.others.some((o) => o[1] === "flag"),
  split: (r) => new Set([r.mine, ...r.others.map((o) => o[1])].filter(Boolean)).size > 1,
  rejected: (r) => r.status === "rejected",
  refused: (r) => r.status === "refused",
};
const MARK = { accept: "✓", reject: "✕", flag: "⚑", "": "·" };
const SAID = { accept: "you accepted it", reject: "you rejected it", flag: "you flagged it", "": "to do" };

async function load(keep) {
  const answer = await cf.ask(server, "queue");
  all = answer.rows; wanted = answer.wanted;
  if (!$("topup").value) $("topup").value = wanted;
  count();
  return filter(keep || (now && now.id) || cf.stored("case." + cf.name()));
}
function count() {
  const here = all.filter(matches.all), mine = here.filter((r) => r.mine).length;
  $("counts").replaceChildren(
    cf.el("b", {}, `${mine} of ${here.length}`), " looked at by you",
    cf.el("progress", { max: Math.max(here.length, 1), value: mine, "aria-label": "looked at by you" }),
    cf.el("small", {}, `${here.length} of ${wanted} wanted · ${all.filter(matches.rejected).length} rejected · ${all.filter(matches.refused).length} refused by gates`));
}
function filter(keep) {
  const how = $("filter").value, word = $("find").value.trim().toLowerCase();
  shown = all.filter((r) => matches[how](r) && (!word || `${r.name} ${r.hazard} ${r.scene} ${r.id}`.toLowerCase().includes(word)));
  $("list").replaceChildren();
  list(FIRST);
  const found = shown.findIndex((r) => r.id === keep);
  return go(found >= 0 ? found : Math.min(at, Math.max(0, shown.length - 1)));
}
// the lines at once that can be seen, the others while nothing else is to do
const FIRST = 120;
let filling = null;
function list(upto) {
  clearTimeout(filling);
  const from = $("list").children.length;
  $("list").append(...shown.slice(from, upto).map((r, i) => line(r, from + i)));
  if (upto < shown.length) filling = setTimeout(() => list(upto + 4 * FIRST), 30);
}
const line = (r, i) => cf.el("li", { "data-i": i, id: "case-" + r.id, role: "option", "aria-selected": "false", class: r.mine || "" },
  cf.el("i", { title: SAID[r.mine], "aria-label": SAID[r.mine] }, r.status === "rejected" ? "✕" : MARK[r.mine]),
  cf.el("span", {}, r.name, cf.el("small", {}, r.where || r.reason.slice(0, 60))),
  r.others.length ? cf.el("em", { title: r.others.map((o) => o.join(": ")).join("\n") }, r.others.map((o) => MARK[o[1]]).join("")) : null);
async function go(index) {
  if (!shown.length) { empty(); return; }
  at = Math.max(0, Math.min(shown.length - 1, index));
  const row = shown[at], turn = ++asked;
  const early = ahead && ahead.id === row.id ? await ahead.item : null;
  const item = early || await cf.ask(server, "item", { id: row.id }).catch(() => null);
  if (turn !== asked || !item) return;
  now = item;
  cf.stored("case." + cf.name(), row.id);
  draw(row);
  lookAhead(shown[at + 1]);
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
  mine.item = cf.ask(server, "item", { id: next.id }).then((item) => {
    mine.frames = [item.original, item.augmented].filter(Boolean).map((src) => { const frame = new Image(); frame.src = src; frame.decode().catch(() => {}); return frame; });
    return item;
  }).catch(() => null);
}
async function refresh(row, turn) {
  const item = await cf.ask(server, "item", { id: row.id }).catch(() => null);
  if (item && turn === asked && JSON.stringify(item) !== JSON.stringify(now)) { now = item; draw(row); linger(row, turn, false); }
}
function empty() {
  now = null;
  $("view").hidden = true;
  $("title").textContent = $("filter").value === "todo" ? "Nothing left to look at" : "No such case";
  $("state").textContent = "";
  for (const part of ["facts", "provenance", "gates", "reviews", "strip"]) $(part).replaceChildren();
}
function draw(row) {
  if (at >= $("list").children.length) list(at + FIRST);
  const was = $("list").querySelector("[aria-current]"), here = $("list").children[at];
  if (was) { was.removeAttribute("aria-current"); was.setAttribute("aria-selected", "false"); }
  if (here) { here.setAttribute("aria-current", "true"); here.setAttribute("aria-selected", "true"); $("list").setAttribute("aria-activedescendant", here.id); }
  if (here) { const l = $("list"); if (here.offsetTop < l.scrollTop || here.offsetTop > l.scrollTop + l.clientHeight - 60) l.scrollTop = here.offsetTop - l.clientHeight / 2; }
  $("title").textContent = now.name || row.name;
  $("state").textContent = `${at + 1} of ${shown.length}` + (now.status === "accepted" ? "" : ` · ${now.status} by ${now.by}: ${now.reason}`);
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
  for (const b of ["accept", "reject", "flag", "again"]) $(b).disabled = !whole || (b === "reject" && now.status === "rejected");
  $("back").hidden = now.status !== "rejected";
}
async function decide(decision, reason) {
  if (!now) return;
  const row = shown[at], id = now.id;
  const answer = await cf.ask(server, "decide", { id, decision, reason: reason || "" }).catch(() => null);
  if (!answer) return;
  cf.toast(`${answer.said}: ${row.name}. U takes it back.`);
  const next = shown[at + 1] || shown[at - 1];
  await load(next ? next.id : id);
}
function ask(title, button, chips, hazards) {
  const box = $("why");
  $("why-title").textContent = title; $("go").textContent = button; $("go").className = button === "reject" ? "no" : "yes"; $("words").value = "";
  $("hazards-label").hidden = !hazards;
  $("words-label").hidden = Boolean(hazards);
  $("chips").replaceChildren(...chips.map((c, i) => cf.el("button", { type: "button", onclick: () => { $("words").value = c; box.close("go"); } }, cf.el("kbd", {}, String(i + 1)), " " + c)));
  box.returnValue = "";
  box.showModal();
  return new Promise((resolve) => box.addEventListener("close", () => resolve(box.returnValue === "go" ? $("words").value.trim() : null), { once: true }));
}
$("why").addEventListener("keydown", (e) => {
  const chip = /^[1-9]$/.test(e.key) && document.activeElement !== $("words") ? $("chips").children[Number(e.key) - 1] : null;
  if (chip) { e.preventDefault(); chip.click(); }
});
async function reject() {
  if (!now || $("reject").disabled) return;
  const reason = await ask(`Why reject “${now.name}”?`, "reject", REASONS);
  if (reason === "") cf.toast("A rejection needs a reason.", true);
  else if (reason) decide("reject", reason);
}
async function flag() {
  if (!now || $("flag").disabled) return;
  const reason = await ask(`Flag “${now.name}” for others: what about it?`, "flag", ["second opinion, please", "borderline realism", "unsure it needs a response"]);
  if (reason !== null) decide("flag", reason);
}
async function undo() { const back = await cf.ask(server, "undo").catch(() => null); if (back) { cf.toast("Taken back."); if (["rejected", "flag"].includes($("filter").value)) $("filter").value = "all"; await load(back.id); } }
async function bringBack() { if (now && now.status === "rejected") { await cf.ask(server, "bring_back", { id: now.id }); cf.toast("Brought back."); $("filter").value = "all"; await load(now.id); } }

const press = (button, on) => { $(button).setAttribute("aria-pressed", on); };
const flicker = () => { view.flicker(!view.flickering); press("flicker", view.flickering); };
const zoom = () => { view.zoom(!view.zoomed); press("zoom", view.zoomed); };
const outline = () => { view.outline(!view.outlined); press("outline", view.outlined); };
const DO = { a: () => now && !$("accept").disabled && decide("accept"), r: reject, f: flag, g: () => again(), u: undo, b: bringBack, z: zoom, m: outline, " ": flicker,
  arrowright: () => go(at + 1), arrowdown: () => go(at + 1), arrowleft: () => go(at - 1), arrowup: () => go(at - 1) };
cf.keys(element, (event) => {
  const on = document.activeElement, key = event.key.toLowerCase();
  if (on && on.type === "range" && /^arrow/.test(key)) return false;
  if (on && on.tagName === "BUTTON" && key === " ") on.blur();
  if (!DO[key] || event.repeat && !/^arrow/.test(key)) return false;
  DO[key]();
  return true;
});
for (const [button, act] of [["accept", DO.a], ["reject", reject], ["flag", flag], ["again", DO.g], ["undo", undo], ["back", bringBack], ["flicker", flicker], ["zoom", zoom], ["outline", outline], ["prev", DO.arrowleft], ["next", DO.arrowright]]) $(button).addEventListener("click", act);
$("filter").addEventListener("change", () => { at = 0; filter(); });
$("find").addEventListener("input", () => { at = 0; filter(); });
$("list").addEventListener("click", (e) => { const li = e.target.closest("li"); if (li) go(Number(li.dataset.i)); });
cf.onName(() => load());

// --- regenerate and top up: long work that runs on the server ---
async function follow(job) {
  const ended = job && await work.follow(job);
  if (!ended || ended.state === "failed") return;
  if (ended.kind === "regenerate" && ended.state === "done") {
    $("filter").value = "all";
    await load(ended.result);
    work.say("Made again; the old one is among the rejected.");
  } else {
    await load();
    if (ended.state === "done") work.say(`${ended.result} cases, as wanted.`);
  }
}
async function again() {
  if (!now || $("again").disabled || work.busy) return;
  const from = now.id, name = now.name, hazard = now.hazard, starting = await cf.ask(server, "open_inpainter");
  if (starting) { const ended = await work.follow(starting); if (!ended || ended.state !== "done") return; work.say(""); }
  const choices = (await cf.ask(server, "hazards")).hazards;
  $("hazards").replaceChildren(cf.el("option", { value: hazard }, `${name}: new seed`), ...choices.filter((h) => h.id !== hazard).map((h) => cf.el("option", { value: h.id }, h.name)));
  if (await ask(`Make “${name}” again in this scene`, "regenerate", [], true) === null) return;
  follow(await cf.ask(server, "regenerate", { id: from, hazard: $("hazards").value }));
}
$("topup-form").addEventListener("submit", async (e) => {
  e.preventDefault();
  if (!work.busy) follow(await cf.ask(server, "top_up", { n: Number($("topup").value) }).catch(() => null));
});
load().then(() => cf.ask(server, "jobs")).then((open) => follow(open.find((j) => j.kind === "regenerate" || j.kind === "top up"))).catch(() => {});
