const $ = (what) => element.querySelector(`[data-${what}]`);
const view = cf.viewer($("view"));
let data = null, shown = [], at = 0, asked = 0;
const marks = cf.marks;
// a rate and its interval are one column
function joined(columns, rows) {
  const spans = columns.map((c) => / 95% interval$/.test(c));
  const cells = (r) => r.map((c, i) => (spans[i + 1] ? `${c} (${r[i + 1]})` : c)).filter((_, i) => !spans[i]);
  return [columns.filter((_, i) => !spans[i]), rows.map(cells)];
}

async function load() {
  data = await cf.ask(server, "overview").catch((e) => { $("note").textContent = e.message; return null; });
  $("answers").hidden = !data;
  if (!data) return;
  const [columns, rows] = joined(data.columns, data.rows);
  $("board").replaceChildren(cf.el("thead", {}, cf.el("tr", {}, ...columns.map((c) => cf.el("th", { scope: "col" }, c)))), cf.el("tbody", {}, ...rows.map((r) => cf.el("tr", {}, ...r.map((c) => cf.el("td", {}, c))))));
  $("note").textContent = data.note;
  const kept = $("planner").value;
  $("planner").replaceChildren(cf.el("option", { value: "" }, "all"), ...[...new Set(data.answers.map((a) => a.planner))].map((p) => cf.el("option", { value: p }, p)));
  $("planner").value = kept;
  list();
  open(0);
}
function list() {
  const p = $("planner").value, w = $("which").value, f = $("find").value.trim().toLowerCase();
  shown = data.answers.filter((a) => (!p || a.planner === p) && (!f || `${a.name} ${a.id}`.toLowerCase().includes(f)) && (w === "all" || (w === "gap" && a.gap > 0) || (w === "miss" && a.judge[2] !== null && a.judge[2] < 2) || (w === "none" && a.status !== "scored")));
  $("list").replaceChildren(...shown.map((a, i) => cf.el("li", { "data-i": i, id: `answer-${i}`, role: "option", "aria-selected": "false" }, cf.el("span", {}, a.name, cf.el("small", {}, `${a.planner}${a.status === "scored" ? "" : " · " + a.status.replace("_", " ")}`)),
    cf.el("em", {}, cf.el("span", { title: "judge" }, ...marks(a.judge)), a.people.some((s) => s !== null) ? cf.el("span", { title: "people", class: "people" }, "people ", ...marks(a.people)) : null))));
  if (!shown.length) $("list").append(cf.el("li", { class: "none" }, w === "gap" ? "Nobody has rated anything differently from the judge." : "No such answer."));
}
async function open(i) {
  if (!shown.length) return;
  at = Math.max(0, Math.min(shown.length - 1, i));
  const a = shown[at], turn = ++asked;
  for (const [i, li] of [...$("list").children].entries()) { li.toggleAttribute("aria-current", i === at); li.setAttribute("aria-selected", i === at); }
  const here = $("list").children[at];
  $("list").setAttribute("aria-activedescendant", here.id);
  if (here.offsetTop < $("list").scrollTop || here.offsetTop > $("list").scrollTop + $("list").clientHeight - 60) $("list").scrollTop = here.offsetTop - $("list").clientHeight / 2;
  const d = await cf.ask(server, "answer", { id: a.id, planner: a.planner, judge: data.judge }).catch(() => null);
  if (!d || turn !== asked) return;
  $("detail").hidden = false;
  $("title").textContent = d.name; $("who").textContent = `${d.planner}, judged by ${data.judge} · ${at + 1} of ${shown.length}`;
  view.show(d);
  $("judged").replaceChildren(...marks(d.scores)); $("explanation").textContent = d.explanation;
  $("ratings").replaceChildren(...d.ratings.map((r) => cf.el("li", {}, cf.el("b", {}, r.who), " ", ...marks(cf.DIMENSIONS.map((k) => r.scores[k] ?? null)), r.note ? ` ${r.note}` : "")));
  if (!d.ratings.length) $("ratings").append(cf.el("li", { class: "none" }, "nobody has rated this yet"));
  $("before").textContent = d.words[0]; $("after").textContent = d.words[1];
  $("plots").hidden = !d.bev;
  if (d.bev) { $("bev").src = d.bev; $("speed").src = d.speed; $("delta").textContent = d.delta; }
}
cf.keys(element, (event) => {
  if (document.activeElement && document.activeElement.type === "range") return false;
  const act = { ArrowRight: () => open(at + 1), ArrowDown: () => open(at + 1), ArrowLeft: () => open(at - 1), ArrowUp: () => open(at - 1), " ": () => view.flicker(!view.flickering) }[event.key];
  if (!act || !data) return false;
  act();
  return true;
});
$("list").addEventListener("click", (e) => { const li = e.target.closest("li"); if (li) open(Number(li.dataset.i)); });
$("planner").addEventListener("change", list); $("which").addEventListener("change", list); $("find").addEventListener("input", list);
$("reload").addEventListener("click", load);
cf.onShown(element, load);
