const box = element.querySelector("[data-name]");
box.value = cf.name();
box.addEventListener("change", () => { cf.setName(box.value); });
cf.ask(server, "who").then((w) => {
  element.querySelector("[data-bench]").textContent = w.bench;
  if (w.user) { cf.setName(w.user); box.value = w.user; box.disabled = true; }
}).catch(() => {});
