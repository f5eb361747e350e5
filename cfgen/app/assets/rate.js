const $ = (what) => element.querySelector(`[data-${what}]`);
const view = cf.viewer($("view"));
const DIMENSIONS = cf.DIMENSIONS;
let tokens = [], done = [], at = 0, row = 0, scores = {}, asked = 0;

function form(rubric, unknown) {
  $("form").replaceChildren(...DIMENSIONS.map((d, i) => cf.el("fieldset", { "data-row": i },
    cf.el("legend", {}, d),
    ...[0, 1, 2, null].map((s) => cf.el("label", {},
      cf.el("input", { type: "radio", name: d, value: s === null ? "?" : s, onchange: () => { row = i; set(i, s); } }),
      cf.el("b", {}, s === null ? "?" : String(s)), cf.el("span", {}, s === null ? unknown : rubric[d][s]))))),
    cf.el("label", { class: "cf-filter" }, "Note (optional)", cf.el("textarea", { rows: 2, maxlength: 2000, "data-note": true })));
}
function mark() {
  element.querySelectorAll("fieldset").forEach((f, i) => f.classList.toggle("current", i === row));
  for (const d of DIMENSIONS) element.querySelectorAll(`input[name=${d}]`).forEach((r) => { r.checked = d in scores && r.value === (scores[d] === null ? "?" : String(scores[d])); });
  $("save").disabled = DIMENSIONS.some((d) => !(d in scores));
}
function set(i, score) { scores[DIMENSIONS[i]] = score; row = Math.min(2, i + 1); mark(); }
function count() {
  const n = done.filter(Boolean).length;
  $("progress").textContent = tokens.length ? `${n} of ${tokens.length} rated · this is number ${at + 1}` : "";
  $("bar").max = Math.max(tokens.length, 1); $("bar").value = n;
}
async function start() {
  $("bar").hidden = !cf.name();
  if (!cf.name()) { $("intro").textContent = "Type your name at the top of the page to begin. Each rater gets the answers in an order of their own."; return; }
  const p = await cf.ask(server, "rate_progress").catch(() => null);
  if (!p) return;
  tokens = p.tokens; done = p.done; at = p.at;
  $("question").hidden = $("scores").hidden = true;
  form(p.rubric, p.unknown);
  if (!tokens.length) { $("intro").textContent = "No planner has answered here yet. Run: cfgen score BENCH --planner …, then come back."; return; }
  $("intro").textContent = "At most one thing was added to the second frame. Did the planner notice it, say so, and act on it? Where you see nothing new, choose ? in all three. Whose answer this is stays hidden.";
  await go(at);
  agreement();
}
async function go(index) {
  if (!tokens.length) return;
  at = Math.max(0, Math.min(tokens.length - 1, index));
  const turn = ++asked, q = await cf.ask(server, "rate_question", { token: tokens[at] }).catch(() => null);
  if (turn !== asked || !q) return;
  $("question").hidden = $("scores").hidden = false;
  view.show(q);
  $("bev").src = q.bev; $("speed").src = q.speed; $("delta").textContent = q.delta;
  $("before").textContent = q.words[0] || "(no words)"; $("after").textContent = q.words[1] || "(no words)";
  scores = q.mine ? { ...q.mine.scores } : {};
  $("note").value = q.mine ? q.mine.note : "";
  row = 0; mark(); count();
}
async function save() {
  if ($("scores").hidden) return;
  if ($("save").disabled) { cf.toast("Give all three scores first.", true); return; }
  const p = await cf.ask(server, "rate", { token: tokens[at], scores, note: $("note").value }).catch(() => null);
  if (!p) return;
  done = p.done;
  const next = done.findIndex((d, i) => !d && i > at);
  if (!done.includes(false)) { cf.toast("All rated. Thank you."); count(); agreement(); return; }
  go(next >= 0 ? next : done.indexOf(false));
}
async function agreement() {
  const place = $("agreement");
  if (!done.length || done.includes(false)) { place.replaceChildren(cf.el("p", { class: "cf-note" }, "How you agree with the judge and with others shows after the last one.")); return; }
  const rows = await cf.ask(server, "rate_agreement").catch(() => []);
  const f = (v) => (v === null ? cf.el("abbr", { title: "undefined: too few answers, or one score throughout" }, "undef.") : v.toFixed(2));
  const table = (other) => cf.el("table", {}, cf.el("caption", {}, `You and ${other}`),
    cf.el("tr", {}, ...["score", "same", "κ", "κ²", "N"].map((h) => cf.el("th", { scope: "col" }, h))),
    ...rows.filter((r) => r.other === other).map((r) => cf.el("tr", {}, ...[r.score, r.same === null ? "–" : `${Math.round(100 * r.same)}%`, f(r.kappa), f(r.quadratic), String(r.n)].map((c) => cf.el("td", {}, c)))));
  place.replaceChildren(cf.el("h3", {}, "Agreement"), cf.el("div", { class: "cf-scroll" }, ...[...new Set(rows.map((r) => r.other))].map(table)));
}
const flicker = () => { view.flicker(!view.flickering); $("flicker").setAttribute("aria-pressed", view.flickering); };
const DO = { 0: () => set(row, 0), 1: () => set(row, 1), 2: () => set(row, 2), "?": () => set(row, null), u: () => set(row, null), enter: save, " ": flicker,
  arrowright: () => go(at + 1), arrowleft: () => go(at - 1), arrowdown: () => { row = Math.min(2, row + 1); mark(); }, arrowup: () => { row = Math.max(0, row - 1); mark(); } };
cf.keys(element, (event) => {
  const key = event.key.toLowerCase(), on = document.activeElement;
  if (on && on.type === "range" && /^arrow/.test(key)) return false;
  if (on && on.tagName === "BUTTON" && (key === " " || key === "enter")) on.blur();
  if (!DO[key]) return false;
  DO[key]();
  return true;
});
$("prev").addEventListener("click", DO.arrowleft); $("next").addEventListener("click", DO.arrowright);
$("save").addEventListener("click", save); $("flicker").addEventListener("click", flicker);
$("form").addEventListener("submit", (e) => e.preventDefault());
let begun = false;
cf.onShown(element, () => { begun = true; start(); });
cf.onName(() => { if (begun) start(); });
