const $ = (what) => element.querySelector(`[data-${what}]`);
const view = cf.viewer($("view"), true), drawn = cf.plots($("plots"));
let DIMENSIONS = cf.DIMENSIONS, VALUES = [0, 1, 2, null], ONE = false;
let tokens = [], done = [], at = 0, row = 0, scores = {}, asked = 0, now = null, out = 0, training = 0;
// seconds looked at: a minute without a key, a click or a move, or another window in front, is a pause
const clock = { since: 0, last: 0, seen: 0, paused: 0 };
function begin() { clock.since = clock.last = performance.now(); clock.seen = clock.paused = 0; }
function touch() {
  const t = performance.now(), gap = (t - clock.last) / 1000;
  if (gap > 60 || document.hidden) clock.paused += gap; else clock.seen += gap;
  clock.last = t;
}
for (const kind of ["keydown", "pointermove", "pointerdown", "visibilitychange", "scroll"]) document.addEventListener(kind, touch, { passive: true, capture: true });

function form(rubric, unknown, questions = {}) {
  $("form").replaceChildren(...DIMENSIONS.map((d, i) => cf.el("fieldset", { "data-row": i },
    cf.el("legend", {}, d), ...(questions[d] ? [cf.el("p", { class: "cf-note" }, questions[d])] : []),
    ...VALUES.map((s) => cf.el("label", {},
      cf.el("input", { type: "radio", name: d, value: s === null ? "X" : s, onchange: () => { row = i; set(i, s); } }),
      cf.el("b", {}, s === null ? "X" : String(s)), cf.el("span", {}, s === null ? unknown : rubric[d][s]))))),
    cf.el("label", { class: "cf-filter" }, "Note (optional)", cf.el("textarea", { rows: 1, maxlength: 2000, "data-note": true })));
}
function mark() {
  element.querySelectorAll("fieldset").forEach((f, i) => f.classList.toggle("current", i === row));
  for (const d of DIMENSIONS) element.querySelectorAll(`input[name=${d}]`).forEach((r) => { r.checked = d in scores && r.value === (scores[d] === null ? "X" : String(scores[d])); });
  $("save").disabled = DIMENSIONS.some((d) => !(d in scores));
}
function set(i, score) { if (!VALUES.includes(score)) return; scores[DIMENSIONS[i]] = score; row = Math.min(DIMENSIONS.length - 1, i + 1); mark(); }
function count() {
  const n = done.filter(Boolean).length;
  $("progress").textContent = tokens.length ? `${n} of ${tokens.length} rated · this is number ${at + 1}${now && now.training ? ", for training" : ""}${out ? ` · ${out} fell away: cases taken out` : ""}` : "";
  $("bar").max = Math.max(tokens.length, 1); $("bar").value = n;
}
async function start() {
  await cf.me(); // who it is, before asking for a name
  $("bar").hidden = !cf.name();
  if (!cf.name()) { $("intro").textContent = "Type your name at the top of the page to begin. Each rater gets the answers in an order of their own."; return; }
  const p = await cf.ask("rate_progress").catch(() => null);
  if (!p) return;
  tokens = p.tokens; done = p.done; at = p.at; out = p.out || 0; training = p.training || 0;
  for (const part of ["question", "scores", "words", "plots"]) $(part).hidden = true;
  DIMENSIONS = p.dimensions || cf.DIMENSIONS; VALUES = p.values || [0, 1, 2, null]; ONE = !!p.dimensions;
  $("before").parentElement.hidden = $("flicker").hidden = ONE;
  form(p.rubric, p.unknown, p.questions);
  if (!tokens.length) { $("intro").textContent = "No planner has answered here yet. Run: cfgen score BENCH --planner …, then come back."; return; }
  $("intro").textContent = p.intro || "At most one thing was added to the second frame. Did the planner notice it, say so, and act on it? Where you see nothing new, choose X in all three. Whose answer this is stays hidden.";
  await go(at);
  agreement();
}
async function go(index) {
  if (!tokens.length) return;
  const wanted = Math.max(0, Math.min(tokens.length - 1, index));
  if (wanted >= training && done.slice(0, training).includes(false)) { cf.toast(`The training comes first: ${done.slice(0, training).filter((d) => !d).length} of ${training} to go.`, true); return; }
  const turn = ++asked, q = await cf.ask("rate_question", { token: tokens[wanted] }).catch(() => null);
  if (turn !== asked || !q) return;
  if (q.gone) return fellAway(q);
  at = wanted; now = q;
  for (const part of ["question", "scores", "words"]) $(part).hidden = false;
  $("intro").hidden = true;
  view.show({ ...q, whole: true });
  strip(q);
  drawn.show(q);
  $("before").replaceChildren(...cf.words(q.words[0])); $("after").replaceChildren(...cf.words(q.words[1]));
  scores = q.mine ? { ...q.mine.scores } : {};
  $("note").value = q.mine ? q.mine.note : "";
  row = 0; mark(); count(); begin();
}
const strip = (q) => $("strip").replaceChildren(...q.strip.map((f, i) => cf.el("button", { title: `frame at ${f.t} s`, "aria-label": `Show the frame at ${f.t.toFixed(1)} seconds`, onclick: () => view.show({ ...q, original: f.original, augmented: f.path, whole: true }) },
  cf.el("img", { src: f.path + "?small", alt: "", loading: "lazy" }), `${i === q.strip.length - 1 ? 0 : f.t.toFixed(1)} s`)));
// its case was taken out meanwhile: on with what is left
function fellAway(p) { tokens = p.tokens; done = p.done; out = p.out; training = p.training; cf.toast(p.gone, true); return go(p.at); }
// in the training, what would have been right
async function explain(told) {
  $("told-why").textContent = `Right would be, since ${told.why}:`;
  $("told-marks").replaceChildren(...cf.DIMENSIONS.flatMap((d) => [cf.el("dt", {}, d), cf.el("dd", {}, told.scores[d] === null ? "X" : String(told.scores[d]), cf.el("small", {}, ` you: ${scores[d] === null ? "X" : scores[d]}`))]));
  $("told").showModal();
  return new Promise((resolve) => $("told").addEventListener("close", resolve, { once: true }));
}
async function save() {
  if ($("scores").hidden || document.querySelector("dialog[open]")) return;
  if ($("save").disabled) { cf.toast("Give every score first.", true); return; }
  touch();
  const given = { token: tokens[at], scores: { ...scores }, note: $("note").value, seconds: clock.seen, paused: clock.paused }, first = !now.mine;
  let p = await cf.ask("rate", given).catch(() => null);
  if (p && p.ask) p = await cf.sure($("sure"), p.ask) ? await cf.ask("rate", { ...given, sure: true }).catch(() => null) : null;
  if (!p) return;
  if (p.gone) return fellAway(p);
  done = p.done;
  if (p.feedback) await explain(p.feedback);
  const next = done.findIndex((d, i) => !d && i > at);
  if (!done.includes(false)) { cf.toast(first ? "All rated. Thank you." : "Saved."); await go(at); agreement(); return; }
  go(next >= 0 ? next : done.indexOf(false));
}
async function agreement() {
  const place = $("agreement");
  place.hidden = !done.length || done.includes(false); // seeing it earlier would colour the rest
  if (place.hidden) return;
  const rows = await cf.ask("rate_agreement").catch(() => []);
  const f = (v) => (v === null ? cf.el("abbr", { title: "undefined: too few answers, or one score throughout" }, "undef.") : v.toFixed(2));
  const table = (other) => cf.el("table", {}, cf.el("caption", {}, `You and ${other}`),
    cf.el("tr", {}, ...["score", "same", "κ", "κ²", "N"].map((h) => cf.el("th", { scope: "col" }, h))),
    ...rows.filter((r) => r.other === other).map((r) => cf.el("tr", {}, ...[r.score, r.same === null ? "–" : `${Math.round(100 * r.same)}%`, f(r.kappa), f(r.quadratic), String(r.n)].map((c) => cf.el("td", {}, c)))));
  place.replaceChildren(cf.el("h3", {}, "Agreement"), cf.el("div", { class: "cf-scroll" }, ...[...new Set(rows.map((r) => r.other))].map(table)));
}
const flicker = () => { view.flicker(!view.flickering); $("flicker").setAttribute("aria-pressed", view.flickering); };
const zoom = () => { view.zoom(!view.zoomed); $("zoom").setAttribute("aria-pressed", view.zoomed); };
const DO = { 0: () => set(row, 0), 1: () => set(row, 1), 2: () => set(row, 2), x: () => set(row, null), enter: save, " ": flicker, z: zoom,
  arrowright: () => go(at + 1), arrowleft: () => go(at - 1), arrowdown: () => { row = Math.min(DIMENSIONS.length - 1, row + 1); mark(); }, arrowup: () => { row = Math.max(0, row - 1); mark(); } };
cf.keys(element, (event) => {
  const key = event.key.toLowerCase(), on = document.activeElement;
  if (on && on.type === "range" && /^arrow/.test(key)) return false;
  if (on && on.tagName === "BUTTON" && (key === " " || key === "enter")) on.blur();
  if (!DO[key]) return false;
  DO[key]();
  return true;
}, [["0 1 2", "score the marked row, and mark the next"], ["X", "cannot tell, in the marked row"], ["↑ ↓", "mark another row"], ["Enter", "save, and on to the next"], ["space", "before and after, by turns"], ["Z", "zoom to where the pointer was; the wheel zooms too"], ["← →", "previous, next answer"], ["?", "this list"]]);
$("prev").addEventListener("click", DO.arrowleft); $("next").addEventListener("click", DO.arrowright);
$("save").addEventListener("click", save); $("flicker").addEventListener("click", flicker); $("zoom").addEventListener("click", zoom);
$("form").addEventListener("submit", (e) => e.preventDefault());
let begun = false;
cf.onShown(element, () => { begun = true; start(); });
cf.onName(() => { if (begun) start(); });
