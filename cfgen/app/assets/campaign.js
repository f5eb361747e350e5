const $ = (what) => element.querySelector(`[data-${what}]`);
const view = cf.viewer($("view")), drawn = cf.plots($("plots"));
let data = null, at = -1, asked = 0;
const number = (v, digits = 2) => (v === null || v === undefined ? "–" : v.toFixed(digits));
const within = (v, i) => (v === null ? "undefined" : number(v) + (i ? ` (${number(i[0])} to ${number(i[1])})` : ""));
const fill = (what, head, rows) => $(what).replaceChildren(cf.el("thead", {}, cf.el("tr", {}, ...head.map((h) => cf.el("th", { scope: "col" }, h)))), cf.el("tbody", {}, ...rows.map((r) => cf.el("tr", {}, ...r.map((c) => cf.el("td", {}, ...(Array.isArray(c) ? c : [String(c)])))))));

async function load() {
  const told = await cf.ask("campaign").catch(() => null);
  if (!told) return;
  show(told);
  await open(at >= 0 ? at : Math.max(0, data.disputed.findIndex((d) => !d.final)));
}
function show(told) {
  data = told;
  $("title").textContent = data.name; $("about").textContent = `${data.progress.length} of ${data.seats} seats taken · ${Math.round(100 * data.overlap)}% rated by all${data.out ? ` · ${data.out} of the answers are out with their cases: neither rated nor counted until these are back` : ""}`;
  fill("progress", ["rater", "seat", "done", "seconds each", "pauses, min", "changed later"], data.progress.map((p) => [p.rater, p.seat, `${p.done} of ${p.of}`, number(p.seconds, 0), number(p.paused, 0), p.changed]));
  fill("agreement", ["score", "ordinal α", "AC1", "rated by several"], data.agreement.map((a) => [a.score, within(a.alpha, a.alpha_interval), within(a.ac1, a.ac1_interval), a.n]));
  fill("pairs", ["score", "raters", "κ²", "N"], data.pairs.map((p) => [p.score, p.raters.join(" ~ "), within(p.kappa, p.interval), p.n]));
  const gold = data.gold.filter((g) => g.kind === "gold"), same = (g) => String(g.given) === String(g.expected);
  $("right").textContent = gold.length ? [...new Set(gold.map((g) => g.rater))].map((r) => { const own = gold.filter((g) => g.rater === r); return `${r}: ${own.filter(same).length} of ${own.length} right`; }).join(" · ") : "none rated yet";
  fill("gold", ["rater", "answer", "right", "given"], data.gold.map((g) => [g.rater + (g.kind === "training" ? " (training)" : ""), g.why, cf.marks(g.expected), cf.marks(g.given)]));
  fill("drift", ["rater", "third", ...cf.DIMENSIONS.map((d) => `mean ${d}`), "seconds", "known right", "items", "saved anew"], data.drift.map((d) => [d.rater, d.third, ...d.means.map((m) => number(m)), number(d.seconds, 0), `${d.gold[0]} of ${d.gold[1]}`, d.n, d.again]));
  $("list").replaceChildren(...data.disputed.map((d, i) => cf.el("li", { "data-i": i, id: `dispute-${i}`, role: "option", "aria-selected": "false" }, cf.el("span", {}, d.label, cf.el("small", {}, `${d.item} · ${d.final ? "decided" : `${d.apart} apart`}`)), cf.el("em", {}, ...Object.entries(d.given).map(([r, g]) => cf.el("span", {}, `${r} `, ...cf.marks(g)))))));
  if (!data.disputed.length) $("list").append(cf.el("li", { class: "none", role: "option", "aria-disabled": true, "aria-selected": false }, "Nothing that several have rated is disputed."));
  if (at >= data.disputed.length) at = -1;
  $("detail").hidden = at < 0; $("fault").textContent = data.disputed.length ? "" : "Answers on which raters differ are looked at and decided here.";
}
async function open(i) {
  if (!data || !data.disputed.length) return;
  at = Math.max(0, Math.min(data.disputed.length - 1, i));
  const row = data.disputed[at], turn = ++asked, d = await cf.ask("dispute", { item: row.item }).catch((e) => ({ fault: e.message }));
  if (turn !== asked) return;
  for (const [i, li] of [...$("list").children].entries()) { li.toggleAttribute("aria-current", i === at); li.setAttribute("aria-selected", i === at); }
  $("list").setAttribute("aria-activedescendant", `dispute-${at}`);
  $("fault").textContent = d.fault ? `${d.fault}. Choose another, or press “read again”.` : "";
  $("detail").hidden = Boolean(d.fault);
  if (d.fault) return;
  view.show({ ...d, whole: true });
  drawn.show(d);
  $("before").replaceChildren(...cf.words(d.words[0])); $("after").replaceChildren(...cf.words(d.words[1]));
  $("said").replaceChildren(...d.said.map((s) => cf.el("li", {}, cf.el("b", {}, s.who), " ", ...cf.marks(s.scores), s.note ? ` ${s.note}` : "")));
  $("choices").replaceChildren(...cf.DIMENSIONS.map((k, n) => cf.el("label", { class: "cf-filter" }, k, cf.el("select", { name: k }, ...["", "0", "1", "2", "X"].map((v) => cf.el("option", { value: v, selected: row.final ? String(row.final[n] ?? "X") === v : v === "" }, v || "…"))))));
}
$("final").addEventListener("submit", async (e) => {
  e.preventDefault();
  const given = Object.fromEntries([...$("choices").querySelectorAll("select")].map((s) => [s.name, s.value]));
  if (Object.values(given).includes("")) { cf.toast("Give all three scores first.", true); return; }
  const scores = Object.fromEntries(Object.entries(given).map(([k, v]) => [k, v === "X" ? null : Number(v)]));
  const last = { item: data.disputed[at].item, scores, note: $("note").value };
  let told = await cf.ask("adjudicate", last).catch(() => null);
  if (told && told.ask) told = await cf.sure($("sure"), told.ask) ? await cf.ask("adjudicate", { ...last, sure: true }).catch(() => null) : null;
  if (!told) return;
  $("note").value = "";
  cf.toast("Decided. It counts in place of the raters' majority.");
  show(told);
  const left = told.disputed.findIndex((d) => !d.final);
  if (left >= 0) open(left);
});
cf.keys(element, (event) => {
  const on = document.activeElement, act = { arrowright: () => open(at + 1), arrowdown: () => open(at + 1), arrowleft: () => open(at - 1), arrowup: () => open(at - 1), " ": () => view.flicker(!view.flickering), z: () => view.zoom(!view.zoomed) }[event.key.toLowerCase()];
  if (!act || (on && (on.type === "range" || (on.tagName === "BUTTON" && event.key === " ")))) return false;
  act();
  return true;
}, [["← →", "previous, next disputed answer"], ["space", "before and after, by turns"], ["Z", "zoom"], ["?", "this list"]]);
$("list").addEventListener("click", (e) => { const li = e.target.closest("li[data-i]"); if (li) open(Number(li.dataset.i)); });
$("reload").addEventListener("click", load);
cf.onShown(element, load);
