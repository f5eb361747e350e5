"use strict";
// Shared by every room. Whatever comes from files or people enters the page as text, never as markup.
window.cf = (() => {
  const listeners = [];
  const stored = (key, value) => {
    try { if (value === undefined) return localStorage.getItem("cfgen." + key) || ""; localStorage.setItem("cfgen." + key, value); } catch { /* private window */ }
    return "";
  };
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms)), PATIENCE_MS = 60000;
  let name = "", session = null, toastTimer;
  function toast(words, bad) {
    const box = document.querySelector(".cf-toast");
    if (!box) return;
    box.textContent = words;
    box.className = "cf-toast shown" + (bad ? " bad" : "");
    clearTimeout(toastTimer);
    toastTimer = setTimeout(() => box.classList.remove("shown"), bad ? 7000 : 2200);
  }
  // null where the server is gone, or never answers
  function post(where, fields, token) {
    const headers = { "Content-Type": "application/json", ...(token ? { "X-Cfgen-Token": token } : {}) };
    return Promise.race([fetch(where, { method: "POST", headers, body: JSON.stringify(fields), credentials: "same-origin" }), wait(PATIENCE_MS)]).catch(() => null);
  }
  // who sits here, with the token of this page; begun once, and again after the server was
  function begin(wish) {
    session = post("session", wish ? { name: wish } : {}).then(async (reply) => {
      if (reply && reply.status === 401) { location.reload(); await wait(PATIENCE_MS); }
      const told = reply && reply.ok ? await reply.json() : null;
      if (!told) session = null;
      else name = told.name;
      return told;
    });
    return session;
  }
  const me = () => session || begin(stored("name"));
  async function ask(what, fields = {}, again = true) {
    const here = await me();
    const reply = here && await post("call", { ...fields, do: what }, here.token);
    if (reply && reply.status === 401 && again) { await begin(stored("name")); return ask(what, fields, false); }
    const answer = reply && (reply.ok ? await reply.json().catch(() => null) : { error: `refused: ${(await reply.text()).slice(0, 200)}` });
    if (!answer) { if (!here) session = null; toast("The server did not answer. Is cfgen app still running?", true); throw new Error("no answer"); }
    if (answer.error) { toast(answer.error, true); if (answer.error.startsWith("your name")) askName(); throw new Error(answer.error); }
    return answer.ok;
  }
  function askName() { const box = document.querySelector(".cf-top [data-name]"); if (box && !box.disabled) box.focus(); }
  function el(tag, attributes = {}, ...children) {
    const node = tag.startsWith("svg:") ? document.createElementNS("http://www.w3.org/2000/svg", tag.slice(4)) : document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (value !== false && value !== undefined && value !== null) node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children.filter((c) => c !== null && c !== undefined));
    return node;
  }
  // keys reach a room only while it is on screen and nobody is typing
  function keys(element, handle, help = []) {
    const box = el("dialog", { class: "cf-help", "aria-label": "Keys" }, el("h3", {}, "Keys of this room"), el("dl", {}, ...help.flatMap(([k, what]) => [el("dt", {}, ...k.split(" ").map((one) => el("kbd", {}, one))), el("dd", {}, what)])),
      el("form", { method: "dialog" }, el("button", {}, "close ", el("kbd", {}, "Esc"))));
    element.querySelector(".cf-room").append(box);
    document.addEventListener("keydown", (event) => {
      if (!element.offsetParent && element.getClientRects().length === 0) return;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const at = document.activeElement;
      if (at && (/^(TEXTAREA|SELECT)$/.test(at.tagName) || (at.tagName === "INPUT" && !/^(range|checkbox|radio|button)$/.test(at.type)))) return;
      if (at && at.getAttribute("role") === "tab" && /^Arrow/.test(event.key)) return;
      if (document.querySelector("dialog[open]")) return;
      if (event.key === "?") { box.showModal(); event.preventDefault(); return; }
      if (handle(event) === true) event.preventDefault();
    });
  }
  // whether to keep what the rubric excludes: a dialog with a place for the reason
  function sure(box, why) {
    box.querySelector("p").textContent = why;
    box.returnValue = "";
    box.showModal();
    return new Promise((resolve) => box.addEventListener("close", () => resolve(box.returnValue === "keep"), { once: true }));
  }
  // a room loads when it is first looked at
  function onShown(element, start) {
    const watch = new IntersectionObserver((seen) => { if (seen.some((s) => s.isIntersecting)) { watch.disconnect(); start(); } });
    watch.observe(element);
  }
  // after a click on a tab the arrows belong to the room; reached by keyboard, to the tabs
  document.addEventListener("click", (event) => { const tab = event.target.closest && event.target.closest("[role=tab]"); if (tab && event.detail) tab.blur(); });
  const rows = (pairs) => pairs.flatMap(([k, v]) => [el("dt", {}, k), el("dd", {}, String(v))]);
  const when = (at) => new Date(at).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  // a name is given once; only leaving makes room for another
  async function setName(value) {
    const told = await begin(value.trim());
    if (!told) { toast("The server did not answer. Is cfgen app still running?", true); return ""; }
    if (told.error) { toast(told.error, true); return ""; }
    stored("name", name);
    listeners.forEach((f) => f());
    return name;
  }
  async function leave() {
    const here = await session;
    if (here) await post("leave", {}, here.token);
    stored("name", "");
    location.reload();
  }

  const hidden = (words) => el("span", { class: "cf-hidden" }, words);
  const DIMENSIONS = ["reasoning", "waypoints", "overall"];
  // three scores as marks, with their names for those who do not see colours or do not see
  const marks = (scores) => DIMENSIONS.map((d, i) => { const s = scores[i] ?? null; return el("b", { class: "cf-mark s" + (s === null ? "n" : s), title: d }, hidden(`${d} `), s === null ? "–" : String(s)); });
  // gates of an edit: passed or not, which, what was found, what is allowed
  const gates = (list) => list.map((g) => el("tr", { class: g.passed ? "" : "bad" }, mark(g.passed), el("td", {}, g.gate.replaceAll("_", " "), el("small", {}, g.passed ? g.bound : g.reason || g.bound)), el("td", {}, g.value === null ? "–" : String(Math.round(100 * g.value) / 100))));
  const mark = (passed) => el("td", {}, el("span", { "aria-hidden": "true" }, passed ? "✓" : "✕"), hidden(passed ? "passed" : "failed"));

  // Long work on the server: words, bar and a way to stop it, until it has ended. The words alone are read out.
  function jobs(root) {
    const words = el("span", { role: "status" }), seconds = el("span", { class: "seconds", "aria-hidden": "true" });
    const bar = el("progress", { max: 1, "aria-label": "how far it is" }), stop = el("button", { type: "button", "data-stop": true }, "stop");
    root.classList.add("cf-job");
    root.replaceChildren(el("div", {}, words, " ", seconds), bar, stop);
    root.hidden = true;
    let now = null;
    stop.addEventListener("click", () => { if (now) ask("cancel", { job: now.id }).catch(() => {}); });
    const open = () => now.state === "running" || now.state === "waiting";
    function draw() {
      if (words.textContent !== now.words) words.textContent = now.words;
      seconds.textContent = now.seconds >= 1 ? `${now.seconds.toFixed(0)} s` : "";
      if (now.share === null) bar.removeAttribute("value"); else bar.value = now.share;
      bar.hidden = stop.hidden = !open();
      root.classList.toggle("bad", now.state === "failed");
      root.hidden = false;
    }
    return {
      // resolves to the ended job, or null where the server has forgotten it
      async follow(job) {
        now = job;
        for (draw(); open(); draw()) {
          await wait(now.seconds < 3 ? 150 : 500);
          now = await ask("job", { job: job.id }).catch(() => null);
          if (!now) { root.hidden = true; return null; }
        }
        if (now.state === "failed") toast(now.words, true);
        if (now.state === "cancelled") toast("Stopped. What was finished is kept.");
        return now;
      },
      get busy() { return Boolean(now) && open(); },
      say(said) { words.textContent = said; seconds.textContent = ""; bar.hidden = stop.hidden = true; root.classList.remove("bad"); root.hidden = !said; },
    };
  }

  // Before and after in one frame: slider, flicker, outline, zoom.
  function viewer(root, free = false) {
    root.classList.add("cf-view");
    const under = el("img", { alt: "original frame", draggable: "false" });
    const over = el("img", { alt: "frame with the edit", class: "over", draggable: "false" });
    const outline = el("svg:svg", { class: "outline", "aria-hidden": "true" });
    const edge = el("div", { class: "edge" });
    const stage = el("div", { class: "stage" }, under, over, outline);
    const tag = el("div", { class: "tag" });
    const range = el("input", { type: "range", min: 0, max: 100, value: 50, class: "cut", "aria-label": "Before and after: left of the line is the original" });
    root.replaceChildren(el("div", { class: "frame" }, stage, edge, tag), range);
    const frame = root.firstChild;
    let box = null, size = [1, 1], zoom = false, showOutline = false, timer = null, shownOver = true, whole = false, near = 2.5, eye = [0.5, 0.5];
    function cut(percent) {
      range.value = percent;
      root.style.setProperty("--cut", percent + "%");
      place();
    }
    // left of the edit, so that it shows; zoomed in, all of it
    const home = () => cut(zoom || whole ? 0 : box ? Math.max(3, 100 * box[0] / size[0] - 5) : 50);
    function place() {
      const w = frame.clientWidth || 1, h = frame.clientHeight || 1;
      let k = 1, x = 0, y = 0;
      if (zoom && box) {
        const [x0, y0, x1, y1] = box, side = Math.max(x1 - x0, (y1 - y0) * w / h, 24) * 2.2;
        k = Math.min(12, Math.max(1, size[0] / side));
        x = Math.min(0, Math.max(w - k * w, w / 2 - k * w * (x0 + x1) / 2 / size[0]));
        y = Math.min(0, Math.max(h - k * h, h / 2 - k * h * (y0 + y1) / 2 / size[1]));
      }
      if (zoom && !box) { // nearer to where the pointer was: nothing here says where to look
        k = near;
        x = Math.min(0, Math.max(w - k * w, w / 2 - k * w * eye[0]));
        y = Math.min(0, Math.max(h - k * h, h / 2 - k * h * eye[1]));
      }
      stage.style.transform = `translate(${x}px, ${y}px) scale(${k})`;
      stage.classList.toggle("near", k > 2);
      outline.style.setProperty("--k", k);
      const at = (w * range.value / 100 - x) / k;
      over.style.clipPath = timer || !shownOver ? "none" : `inset(0 0 0 ${at}px)`;
      over.style.visibility = shownOver ? "visible" : "hidden";
      edge.hidden = Boolean(timer) || !shownOver;
      outline.style.display = showOutline ? "" : "none";
    }
    function label() { tag.textContent = timer ? (shownOver ? "after" : "before") : ""; tag.hidden = !timer; }
    function flicker(on) {
      clearInterval(timer);
      timer = null; shownOver = true;
      if (on) timer = setInterval(() => { shownOver = !shownOver; label(); place(); }, 550);
      label(); place();
    }
    range.addEventListener("input", () => cut(Number(range.value)));
    let dragging = false;
    const move = (e) => { const r = frame.getBoundingClientRect(); cut(Math.max(0, Math.min(100, 100 * (e.clientX - r.left) / r.width))); };
    frame.addEventListener("pointerdown", (e) => { dragging = true; frame.setPointerCapture(e.pointerId); move(e); });
    frame.addEventListener("pointermove", (e) => { if (dragging) move(e); });
    frame.addEventListener("pointerup", () => { dragging = false; });
    const under_pointer = (e) => { const r = frame.getBoundingClientRect(), s = stage.getBoundingClientRect(); return [(e.clientX - s.left) / Math.max(s.width, r.width), (e.clientY - s.top) / Math.max(s.height, r.height)]; };
    if (free) {
      frame.addEventListener("wheel", (e) => {
        e.preventDefault();
        const [x, y] = under_pointer(e), was = zoom ? near : 1, next = Math.min(10, Math.max(1, was * (e.deltaY < 0 ? 1.25 : 0.8))), share = 1 - was / next;
        eye = zoom ? [eye[0] + (x - eye[0]) * share, eye[1] + (y - eye[1]) * share] : [x, y];
        near = next; zoom = next > 1.01; if (!zoom) near = 2.5;
        place();
      }, { passive: false });
      frame.addEventListener("dblclick", (e) => { eye = under_pointer(e); zoom = !zoom; place(); });
      frame.addEventListener("pointermove", (e) => { if (!zoom) eye = under_pointer(e); });
    }
    label();
    new ResizeObserver(place).observe(frame);
    return {
      show(item) {
        under.src = item.original; over.src = item.augmented;
        size = item.size || size; box = item.box || null; whole = Boolean(item.whole);
        const fit = () => { frame.style.aspectRatio = size.join(" / "); root.style.setProperty("--aspect", size[0] / size[1]); };
        if (item.size) fit();
        else under.onload = () => { size = [under.naturalWidth, under.naturalHeight]; fit(); place(); };
        outline.setAttribute("viewBox", `0 0 ${size[0]} ${size[1]}`);
        outline.replaceChildren(...(item.outline || []).map((p) => el("svg:polygon", { points: p.map((q) => q.join(",")).join(" ") })));
        home();
      },
      flicker, get flickering() { return Boolean(timer); },
      zoom(on) { zoom = on; home(); },
      get zoomed() { return zoom; },
      outline(on) { showOutline = on; place(); }, get outlined() { return showOutline; },
    };
  }
  return { ask, sure, el, hidden, DIMENSIONS, marks, gates, jobs, keys, rows, when, toast, viewer, stored, me, leave, name: () => name, setName, onName: (f) => listeners.push(f), onShown, changed: () => listeners.forEach((f) => f()) };
})();
