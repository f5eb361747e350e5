// One case: frames under a slider, plots, answers, verdicts, provenance.
"use strict";

const ARM_NAMES = { hazard: "hazard", rerun: "rerun (same frame)", null: "null edit", nuisance: "harmless object" };

/** A mark for each score, or one word for why there are none. */
function marks(outcome, names) {
  if (typeof outcome === "string") return [make("span", { class: "mark" }, outcome.replace("_", " "))];
  return outcome.map((score, i) =>
    make("span", { class: `mark s${score}`, title: names[i] }, score === null ? "-" : String(score)));
}

function section(title, ...children) {
  return make("div", {}, make("h3", {}, title), ...children);
}

function slider(before, after, name, start) {
  const range = make("input", { class: "cut", type: "range", min: 0, max: 100, step: "any", value: start, "aria-label": "Original to the left, modified to the right" });
  const box = make("div", { class: "slider", style: `--cut: ${start}%` },
    make("img", { src: before, alt: "original frame", draggable: "false" }),
    make("img", { class: "over", src: after, alt: `${name} frame`, draggable: "false" }),
    make("div", { class: "edge" }), make("i", { class: "left" }, "original"), make("i", { class: "right" }, name));
  const set = (percent) => {
    range.value = percent;
    box.style.setProperty("--cut", `${percent}%`);
  };
  const drag = (event) => {
    if (event.type === "pointermove" && !event.buttons) return;
    const frame = box.getBoundingClientRect();
    set(Math.min(100, Math.max(0, (100 * (event.clientX - frame.left)) / frame.width)));
  };
  box.addEventListener("pointerdown", (event) => { box.setPointerCapture(event.pointerId); drag(event); });
  box.addEventListener("pointermove", drag);
  range.addEventListener("input", () => set(range.value));
  return make("div", {}, box, range);
}

function picker(label, values, chosen, choose, name = (v) => v) {
  if (values.length < 2) return null;
  const select = make("select", { onchange: () => choose(select.value) },
    ...values.map((v) => make("option", { value: v, selected: String(v) === String(chosen) }, name(v))));
  return make("label", {}, `${label} `, select);
}

function deltaTable(rows) {
  const sign = (v, digits) => (v > 0 ? "+" : "") + v.toFixed(digits);
  return make("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": "What changed, second by second" }, make("table", {},
    make("thead", {}, make("tr", {}, ...["t (s)", "dx (m)", "dy (m)", "dspeed (km/h)"].map((h) => make("th", {}, h)))),
    make("tbody", {}, ...rows.map(([t, dx, dy, dv]) =>
      make("tr", {}, make("td", {}, String(t)), make("td", {}, sign(dx, 2)), make("td", {}, sign(dy, 2)), make("td", {}, sign(dv, 1)))))));
}

function legend(place) {
  const entry = (color, text) => make("span", { style: `color: ${color}; font-weight: 600; margin-right: 1rem` }, text);
  return make("p", { class: "note" }, entry(TEAL, "original"), entry(ORANGE_INK, "modified"),
    place ? entry(PLACE, place.name) : null, "large dots: seconds; ring: the end");
}

/** What stands in the way at t0: the arm's own object, else where the hazard would be. No judge and no rater saw it. */
function placeOf(answer, arm) {
  const found = answer && answer.place;
  if (!found) return null;
  const name = !answer.placed ? "dashed: where the hazard would be" : arm === "nuisance" ? "outline: the harmless object" : "outline: the hazard";
  return { points: found, name, there: answer.placed };
}

function motion(original, modified, arm) {
  const place = placeOf(modified, arm);
  const plans = [[original, TEAL], [modified, ORANGE]].filter(([answer]) => answer && answer.path)
    .map(([answer, color]) => ({ color, points: answer.path, speeds: answer.speeds }));
  if (!plans.length) return section("Motion", make("p", { class: "note" }, "No plan to draw."));
  const numbers = make("div", {}, speedPlot(plans), modified && modified.deltas ? deltaTable(modified.deltas) : null);
  if (modified && modified.encounter) {
    numbers.append(make("p", { class: "note" }, Object.entries(modified.encounter).map(([k, v]) => `${k}: ${v}`).join(" · ")));
  }
  return section("Motion", legend(place), make("div", { class: "two" }, bevPlot(plans, place), numbers));
}

function answer(title, one, modified) {
  if (!one) return make("div", {}, make("h3", {}, title), make("p", { class: "note" }, "Not asked."));
  const action = [one.trace.longitudinal, one.trace.lateral].filter(Boolean).join(", ");
  return make("div", {}, make("h3", {}, title),
    one.status === "failed" ? make("p", { class: "flag" }, `Failed: ${one.reason}`) : null,
    action ? make("p", {}, make("b", {}, "Action: "), action) : null,
    make("pre", { class: modified ? "answer modified" : "answer", tabindex: 0 }, one.text.replace(/(<wp>[^<]*<\/wp>[\s,]*)+/g, "[waypoints] ") || "(no words)"),
    one.faults && one.faults.length ? make("p", { class: "note" }, `Tolerated: ${one.faults.join("; ")}`) : null);
}

function verdict(judge, found, names) {
  const votes = found.votes.map((vote) =>
    make("div", {}, make("p", {}, make("b", {}, vote.model), " ", ...marks(vote.outcome, names), " ", vote.explanation),
      vote.raw ? make("pre", { class: "answer", tabindex: 0 }, vote.raw) : null));
  return make("div", { class: "verdict" },
    make("p", {}, make("b", {}, judge), " ", ...marks(found.outcome, names), found.element ? ` sees: ${found.element}` : ""),
    make("p", {}, found.explanation),
    ...found.flags.map((flag) => make("p", { class: "flag" }, flag)),
    votes.length ? make("details", {}, make("summary", {}, `${votes.length} ${votes.length === 1 ? "vote" : "votes"}`), ...votes) : null);
}

function verdicts(data, one, index) {
  const found = Object.entries(one ? one.verdicts : {}).map(([judge, v]) => verdict(judge, v, index.scores));
  const people = data.ratings.filter((r) => r.planner === one.planner).map((r) =>
    make("p", {}, make("b", {}, r.rater), " (person) ", ...marks(index.scores.map((d) => r.scores[d] ?? null), index.scores), " ", r.note));
  if (!found.length && !people.length) return section("Verdicts", make("p", { class: "note" }, "None."));
  return section(`Verdicts: ${index.scores.join(", ")}`, ...found, ...people);
}

function provenance(data) {
  const rows = data.provenance.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]);
  return make("details", {}, make("summary", {}, "Provenance and gates"), make("dl", {}, ...rows));
}

/** Fill the dialog; `state` keeps planner, arm and repeat while stepping through cases. */
function showCase(dialog, data, index, state, step) {
  const redraw = (change) => { Object.assign(state, change); showCase(dialog, data, index, state, step); };
  const planner = index.planners.includes(state.planner) ? state.planner : index.planners[0];
  const answers = data.answers[planner] || { original: [] };
  const arms = Object.keys(answers).filter((arm) => arm !== "original");
  const arm = arms.includes(state.arm) ? state.arm : arms[0] || "hazard";
  const repeats = (answers[arm] || []).map((one) => one.repeat);
  const one = (answers[arm] || []).find((a) => String(a.repeat) === state.repeat) || (answers[arm] || [])[0];
  const original = answers.original.find((a) => one && a.repeat === one.repeat) || answers.original[0];
  const view = data.views[arm] || (arm === "rerun" ? data.views.original : data.views.hazard);
  dialog.replaceChildren(
    make("div", { class: "bar" }, make("h2", {}, data.hazard),
      make("button", { type: "button", onclick: () => step(-1), "aria-label": "Previous case" }, "‹ previous"),
      make("button", { type: "button", onclick: () => step(1), "aria-label": "Next case" }, "next ›"),
      make("button", { type: "button", onclick: () => dialog.close() }, "close")),
    make("div", { class: "inside" },
      slider(data.views.original, view, arm === "rerun" ? "same frame again" : "modified", data.cut),
      make("p", { class: "note" }, `${data.cluster} · ${data.zone} · ${data.distance} m ahead · ${data.speed} km/h · ${data.decel} m/s² to stop short`),
      make("div", { class: "choose" },
        picker("planner", index.planners, planner, (v) => redraw({ planner: v })),
        picker("arm", arms, arm, (v) => redraw({ arm: v }), (v) => ARM_NAMES[v] || v),
        picker("repeat", repeats, one && one.repeat, (v) => redraw({ repeat: v }))),
      index.planners.length ? motion(original, one, arm) : null,
      one ? verdicts(data, { ...one, planner }, index) : null,
      make("div", { class: "two" }, answer("Answer to the original", original, false), answer("Answer to the modified", one, true)),
      provenance(data)));
}
