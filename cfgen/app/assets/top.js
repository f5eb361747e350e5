const $ = (what) => element.querySelector(`[data-${what}]`);
// a name, once given, is no field any more: what is typed later is a score or a decision
function known(name) {
  $("name").value = name;
  $("name").disabled = Boolean(name);
  $("set").hidden = Boolean(name); $("leave").hidden = !name;
  if (name && element.contains(document.activeElement)) document.activeElement.blur();
}
$("who").addEventListener("submit", async (e) => { e.preventDefault(); const name = await cf.setName($("name").value); if (name) known(name); });
$("name").addEventListener("change", () => { if ($("name").value.trim()) $("who").requestSubmit(); });
$("leave").addEventListener("click", cf.leave);
cf.me().then((told) => {
  if (!told) return;
  $("bench").textContent = told.bench;
  known(told.name);
});
