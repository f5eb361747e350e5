const $ = (what) => element.querySelector(`[data-${what}]`);
const view = cf.viewer($("view"));
async function start() {
  const a = await cf.ask("try_choices");
  $("case").replaceChildren(...a.cases.map((c) => cf.el("option", { value: c.id }, `${c.name} (${c.id})`)));
  $("baseline").replaceChildren(...a.baselines.map((b) => cf.el("option", { value: b }, b)));
  if (a.cases.length) pick();
}
async function pick() { view.show(await cf.ask("item", { id: $("case").value })); $("result").hidden = true; }
async function go() {
  $("go").disabled = true;
  $("result").hidden = true; // a verdict on another answer says nothing about this one
  const r = await cf.ask("try", { id: $("case").value, text: $("text").value, original: $("original").value, baseline: $("baseline").value }).catch(() => null);
  $("go").disabled = false;
  if (!r) return;
  $("result").hidden = false;
  $("verdict").textContent = r.status === "scored" ? "Verdict" : `Verdict: ${r.status}`;
  $("marks").replaceChildren(...cf.marks(cf.DIMENSIONS.map((d) => r.scores[d] ?? null)), " reasoning, waypoints, overall");
  $("why").textContent = r.explanation;
  $("faults").textContent = r.faults.length ? `The parser had to tolerate: ${r.faults.join("; ")}` : "";
  $("panel").src = r.panel;
}
$("go").addEventListener("click", go);
$("example").addEventListener("click", async () => { $("text").value = (await cf.ask("try_example", { id: $("case").value })).text; });
$("case").addEventListener("change", pick);
$("file").addEventListener("change", async () => { const f = $("file").files[0]; if (!f) return; if (f.size > 200000) cf.toast("That file is larger than an answer can be (200 kB).", true); else $("text").value = await f.text(); });
cf.onShown(element, () => start().catch(() => {}));
