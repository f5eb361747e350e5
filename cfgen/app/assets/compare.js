const $ = (what) => element.querySelector(`[data-${what}]`);
const view = cf.viewer($("view")), drawn = cf.plots($("plots"));
let data = null, shown = [], first = 0, at = 0, asked = 0;
const marks = cf.marks;
// a rate and its interval are one column
function joined(columns, rows) {
  const spans = columns.map((c) => / 95% interval$/.test(c));
  const cells = (r) => r.map((c, i) => (spans[i + 1] ? `${c} (${r[i + 1]})` : c)).filter((_, i) => !spans[i]);
  return [columns.filter((_, i) => !spans[i]), rows.map(cells)];
}

async function fetched(from) {
  data = await cf.ask("overview", { planner: $("planner").value, which: $("which").value, find: $("find").value, from }).catch((e) => { $("note").textContent = e.message; return null; });
  $("answers").hidden = !data;
  if (data) { first = data.from; shown = data.answers; list(); }
  return data;
}
async function load() {
  if (!await fetched(0)) return;
  const [columns, rows] = joined(data.columns, data.rows);
  $("board").replaceChildren(cf.el("thead", {}, cf.el("tr", {}, ...columns.map((c) => cf.el("th", { scope: "col" }, c)))), cf.el("tbody", {}, ...rows.map((r) => cf.el("tr", {}, ...r.map((c) => cf.el("td", {}, c))))));
  $("note").textContent = data.note;
  const kept = $("planner").value;
  $("planner").replaceChildren(cf.el("option", { value: "" }, "all"), ...data.planners.map((p) => cf.el("option", { value: p }, p)));
  $("planner").value = kept;
  open(0);
}
function list() {
  const w = $("which").value;
  $("list").replaceChildren(...shown.map((a, i) => cf.el("li", { "data-i": first + i, id: `answer-${first + i}`, role: "option", "aria-selected": "false" }, cf.el("span", {}, a.name, cf.el("small", {}, `${a.planner}${a.status === "scored" ? "" : " · " + a.status.replace("_", " ")}`)),
    cf.el("em", {}, cf.el("span", { title: "judge" }, ...marks(a.judge)), a.people.some((s) => s !== null) ? cf.el("span", { title: "people", class: "people" }, "people ", ...marks(a.people)) : null))));
  if (!shown.length) $("list").append(cf.el("li", { class: "none", role: "option", "aria-disabled": true, "aria-selected": false }, w === "gap" ? "Nobody has rated anything differently from the judge." : "No such answer."));
}
async function open(i) {
  if (!data || !data.total) return;
  at = Math.max(0, Math.min(data.total - 1, i));
  const turn = ++asked;
  if (at < first || at >= first + shown.length) { await fetched(at); if (turn !== asked || !data) return; }
  const a = shown[at - first];
  for (const li of $("list").querySelectorAll("[data-i]")) { const on = Number(li.dataset.i) === at; li.toggleAttribute("aria-current", on); li.setAttribute("aria-selected", on); }
  const here = $("list").querySelector(`[data-i="${at}"]`);
  $("list").setAttribute("aria-activedescendant", here.id);
  if (here.offsetTop < $("list").scrollTop || here.offsetTop > $("list").scrollTop + $("list").clientHeight - 60) $("list").scrollTop = here.offsetTop - $("list").clientHeight / 2;
  const d = await cf.ask("answer", { id: a.id, planner: a.planner, judge: data.judge }).catch(() => null);
  if (!d || turn !== asked) return;
  $("detail").hidden = false;
  $("title").textContent = d.name; $("who").textContent = `${d.planner}, judged by ${data.judge} · ${at + 1} of ${data.total}`;
  view.show(d);
  $("judged").replaceChildren(...marks(d.scores)); $("explanation").textContent = d.explanation;
  $("ratings").replaceChildren(...d.ratings.map((r) => cf.el("li", {}, cf.el("b", {}, r.who), " ", ...marks(cf.DIMENSIONS.map((k) => r.scores[k] ?? null)), r.note ? ` ${r.note}` : "")));
  if (!d.ratings.length) $("ratings").append(cf.el("li", { class: "none" }, "nobody has rated this yet"));
  $("before").replaceChildren(...cf.words(d.words[0])); $("after").replaceChildren(...cf.words(d.words[1]));
  drawn.show(d);
}
cf.keys(element, (event) => {
  if (document.activeElement && document.activeElement.type === "range") return false;
  const act = { ArrowRight: () => open(at + 1), ArrowDown: () => open(at + 1), ArrowLeft: () => open(at - 1), ArrowUp: () => open(at - 1), " ": () => view.flicker(!view.flickering), z: () => view.zoom(!view.zoomed), Z: () => view.zoom(!view.zoomed) }[event.key];
  if (!act || !data) return false;
  act();
  return true;
}, [["← →", "previous, next answer"], ["↑ ↓", "the same"], ["space", "before and after, by turns"], ["Z", "zoom to the edit"], ["?", "this list"]]);
$("list").addEventListener("click", (e) => { const li = e.target.closest("li"); if (li) open(Number(li.dataset.i)); });
let typing = null;
const again = () => fetched(0).then(() => open(0));
$("planner").addEventListener("change", again); $("which").addEventListener("change", again); $("find").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(again, 150); });
$("reload").addEventListener("click", load);
cf.onShown(element, load);
