// The list of cases: filters, cards, and the way into a case. The address keeps the state.
"use strict";

const PHONE = matchMedia("(max-width: 640px)").matches;
const PAGE = PHONE ? 8 : 60;
let index = null;
let chosen = [];
let shown = 0;
const state = { arm: "hazard" };
const waiting = new Map();

/** Called by data/index.js. */
function cfgenIndex(data) {
  index = data;
  buildFilters();
  readAddress();
  window.addEventListener("hashchange", readAddress);
}

/** Called by data/<case>.js. */
function cfgenCase(data) {
  waiting.get(data.id)?.(data);
  waiting.delete(data.id);
}

function load(id) {
  return new Promise((resolve, reject) => {
    waiting.set(id, resolve);
    const script = make("script", { src: `data/${encodeURIComponent(id)}.js` });
    script.onerror = () => reject(new Error(`data/${id}.js is missing; run cfgen report again`));
    script.onload = () => script.remove();
    document.head.append(script);
  });
}

// --- plots with a choice above them ---------------------------------------------------------------------

for (const figure of document.querySelectorAll("figure:has(.choice)")) {
  const buttons = [...figure.querySelectorAll("button")];
  const show = (name) => {
    for (const pane of figure.querySelectorAll(".pane")) pane.hidden = pane.id !== name;
    for (const button of buttons) button.setAttribute("aria-pressed", button.dataset.show === name);
  };
  for (const button of buttons) button.addEventListener("click", () => show(button.dataset.show));
  show(figure.querySelector(".pane:not([hidden])").id);
}

// --- sections: a phone or a tablet shows their titles, and opens the one that is asked for ----------------------------

const folds = [...document.querySelectorAll("details.fold")];
const unfold = (id) => { const fold = document.getElementById(id)?.querySelector("details.fold"); if (fold) fold.open = true; };
if (matchMedia("(max-width: 900px)").matches) for (const fold of folds) fold.open = false;
for (const link of document.querySelectorAll('nav a[href^="#"]')) link.addEventListener("click", () => unfold(link.hash.slice(1)));
unfold(location.hash.slice(1));

/** A table is a stop of the Tab key only while it scrolls. */
function stops() {
  for (const area of document.querySelectorAll(".scroll")) area.tabIndex = area.scrollWidth > area.clientWidth ? 0 : -1;
}
window.addEventListener("resize", stops);
document.addEventListener("toggle", stops, true);
stops();

// A modal dialog does not flow over pages: while printing it is an ordinary one.
let reopen = false;
window.addEventListener("beforeprint", () => {
  for (const image of document.images) image.loading = "eager";
  for (const fold of folds) fold.open = true;
  const dialog = document.querySelector("dialog");
  reopen = dialog.open;
  if (reopen) {
    dialog.close();
    dialog.show();
  }
});
window.addEventListener("afterprint", () => {
  if (!reopen) return;
  const dialog = document.querySelector("dialog");
  dialog.close();
  dialog.showModal();
});

// --- filters --------------------------------------------------------------------------------------------

const different = (a, b) => Array.isArray(a) && Array.isArray(b) && a.some((v, i) => v !== null && b[i] !== null && v !== b[i]);
const outcomes = (entry, planner) => index.judges.map((judge) => entry.scores[planner]?.[judge]);

const DISAGREE = {
  "judges differ": (entry, planner) => outcomes(entry, planner).some((a, i, all) => all.slice(i + 1).some((b) => different(a, b))),
  "people differ from the judge": (entry, planner) => different(entry.people[planner], entry.scores[planner]?.[filter("judge")]),
  "planners differ": (entry) => index.planners.some((a, i) => index.planners.slice(i + 1).some((b) =>
    different(entry.scores[a]?.[filter("judge")], entry.scores[b]?.[filter("judge")]))),
};
const ORDER = {
  "case id": (a, b) => (a.id < b.id ? -1 : 1),
  hazard: (a, b) => a.hazard.localeCompare(b.hazard),
  "distance, near first": (a, b) => a.distance - b.distance,
  "deceleration, hard first": (a, b) => b.decel - a.decel,
  "speed, fast first": (a, b) => b.speed - a.speed,
};

function buildFilters() {
  const unique = (of) => [...new Set(index.cases.map(of))].sort();
  const any = ["any", ""];
  const plain = (values) => values.map((v) => [v, v]);
  const filters = [
    ["planner", plain(index.planners), index.planners[0]],
    ["judge", plain(index.judges), index.judge],
    ["score of", plain(index.scores), "overall"],
    ["score", [any, ...plain(["2", "1", "0"]), ["excluded (unknown)", "unknown"], ["judge failed", "failed"], ["planner failed", "planner_failed"], ["fault", "fault"], ["missing", "missing"]], ""],
    ["hazard", [any, ...plain(unique((c) => c.hazard))], ""],
    ["cluster", [any, ...plain(unique((c) => c.cluster))], ""],
    ["zone", [any, ...plain(unique((c) => c.zone))], ""],
    ["disagreement", [any, ...plain(Object.keys(DISAGREE))], ""],
    ["order", plain(Object.keys(ORDER)), "case id"],
  ];
  const form = document.querySelector(".filters");
  for (const [name, options, first] of filters) {
    const select = make("select", { name, "data-first": first ?? "", onchange: refilter }, ...options.map(([label, value]) => make("option", { value, selected: value === first }, label)));
    form.append(make("label", {}, name, select));
  }
  form.append(make("label", {}, "search", make("input", { type: "search", name: "search", "data-first": "", placeholder: "id or words", oninput: refilter })));
  form.addEventListener("submit", (event) => event.preventDefault());
}

/** Values of the filters, read once for a whole list. */
let values = {};
const filter = (name) => values[name] ?? "";

function fits(entry) {
  const planner = filter("planner"), outcome = entry.scores[planner]?.[filter("judge")] ?? "missing";
  const wanted = filter("score"), place = index.scores.indexOf(filter("score of"));
  const score = Array.isArray(outcome) ? String(outcome[place]) : outcome;
  return (!wanted || score === wanted)
    && ["hazard", "cluster", "zone"].every((name) => !filter(name) || entry[name] === filter(name))
    && (!filter("disagreement") || DISAGREE[filter("disagreement")](entry, planner))
    && said(entry, filter("search").toLowerCase());
}

function said(entry, sought) {
  if (!sought) return true;
  const text = `${entry.id} ${entry.hazard} ${entry.cluster} ${entry.zone}`.toLowerCase();
  return sought.split(/\s+/).every((word) => text.includes(word));
}

// --- address --------------------------------------------------------------------------------------------

function refilter() {
  list();
  writeAddress();
}

/** Filters that are not at their first value, and the open case. */
function writeAddress() {
  const form = document.querySelector(".filters"), dialog = document.querySelector("dialog");
  const kept = [...form.elements].filter((e) => e.name && e.value !== e.dataset.first).map((e) => [e.name, e.value]);
  if (dialog.open) kept.push(["case", dialog.dataset.id]);
  history.replaceState(null, "", `#${new URLSearchParams(kept)}`);
}

function readAddress() {
  const words = new URLSearchParams(location.hash.slice(1));
  for (const element of document.querySelector(".filters").elements) {
    if (words.has(element.name)) element.value = words.get(element.name);
  }
  list();
  if (words.has("case")) open(words.get("case"));
}

// --- cards ----------------------------------------------------------------------------------------------

function list() {
  values = Object.fromEntries(new FormData(document.querySelector(".filters")));
  chosen = index.cases.filter(fits).sort(ORDER[filter("order")]);
  shown = 0;
  document.querySelector(".cards").replaceChildren();
  document.querySelector("#cases > .count").textContent = `${chosen.length} of ${index.cases.length} cases` +
    (index.cases.length < index.built ? ` shown here; the figures rest on all ${index.built} (cfgen report --pages all)` : "");
  more();
}

function more() {
  const cards = document.querySelector(".cards");
  cards.append(...chosen.slice(shown, shown + PAGE).map((entry, i) => card(entry, shown + i >= 12)));
  shown = Math.min(chosen.length, shown + PAGE);
  document.querySelector(".more")?.remove();
  if (shown < chosen.length) {
    cards.after(make("button", { class: "more", type: "button", onclick: more }, `show more (${chosen.length - shown} left)`));
  }
}

function card(entry, lazy) {
  const outcome = entry.scores[filter("planner")]?.[filter("judge")];
  return make("button", { class: "card", type: "button", onclick: () => open(entry.id) },
    make("img", { src: `frames/${entry.id}-thumb.webp`, alt: "", loading: lazy ? "lazy" : "eager" }),
    make("span", { class: "name" }, entry.hazard),
    make("span", { class: "where" }, `${entry.distance} m · ${entry.zone} · ${entry.speed} km/h`),
    make("span", { class: "marks" }, ...(outcome ? marks(outcome, index.scores) : [])));
}

async function open(id) {
  const dialog = document.querySelector("dialog");
  state.planner = filter("planner");
  const step = (by) => {
    const at = chosen.findIndex((entry) => entry.id === dialog.dataset.id);
    const next = chosen[(at + by + chosen.length) % chosen.length];
    if (next) open(next.id);
  };
  dialog.dataset.id = id;
  dialog.onkeydown = (event) => {
    if (/^(INPUT|SELECT)$/.test(event.target.tagName)) return;
    if (event.key === "ArrowRight") step(1);
    if (event.key === "ArrowLeft") step(-1);
  };
  try {
    const data = await load(id);
    showCase(dialog, data, index, state, step);
  } catch (error) {
    dialog.replaceChildren(make("div", { class: "inside" }, make("p", {}, error.message), make("button", { type: "button", onclick: () => dialog.close() }, "close")));
  }
  if (!dialog.open) dialog.showModal();
  dialog.onclose = writeAddress;
  dialog.scrollTop = 0;
  writeAddress();
}
