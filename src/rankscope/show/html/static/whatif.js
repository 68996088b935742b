"use strict";
// The what-if mode: a list to rearrange, the metrics that move with it, and what each position adds.
(function (rankscope) {
  const whatif = (rankscope.whatif = rankscope.whatif || {});
  const ORDERS = [["best", "Best order"], ["worst", "Worst order"], ["reverse", "Reverse"], ["shuffle", "Shuffle"]];

  const BELOW = 8; // documents below the list that are offered by name
  const MANY = 12; // documents to put in: more can be searched

  let last = ""; // the metric that was looked at: the next list starts with it

  /** A number from a field, within its ends; the old one where nothing sensible was typed. */
  function numberIn(field, old) {
    const value = Number(field.value);
    const fine = field.value.trim() !== "" && Number.isFinite(value);
    const kept = fine ? Math.min(Math.max(value, Number(field.min)), Number(field.max)) : old;
    field.value = String(kept);
    return kept;
  }

  /** A field with its name in front. */
  const labelled = (name, field) => whatif.make("label", {}, whatif.make("span", {}, name), field);

  /**
   * Put a list that can be rearranged into an element (whatever was in it goes).
   *
   * list: {docs: [{id, text, grade}] by rank, judged: [[grade, count], ...], beyond: [[rank, grade], ...], size,
   * others: [{id, text, grade}] judged and not retrieved (may be left out), k, level, topGrade, p, maxGrade, metric: the
   * spelling of the one to take apart first, value: what the page has for that}. It starts as `arranged` says, and tells `changed` how
   * it is arranged from then on.
   */
  whatif.mount = function (element, list, { arranged = "", changed = () => {} } = {}) {
    const make = whatif.make;
    const start = whatif.begin(list);
    const grades = whatif.gradesOf(list, list.topGrade);
    const longest = Math.max(start.size, list.k || 1, 1);
    const o = { k: Math.min(list.k || 10, longest), level: list.level ?? 1, p: list.p ?? 0.8 };
    let state = whatif.decode(start, arranged);
    let shuffles = 0;
    let preview = null;

    // ERR's scale: as high as any grade there is or can be given here, and never below 4
    o.maxGrade = list.maxGrade ?? Math.max(4, ...grades, whatif.topGrade(whatif.asList(start)));
    let chosen = last || (whatif.values(whatif.asList(start), o).find((found) => found.spelling === list.metric) || { key: "nDCG" }).key;
    const measured = (of) => ({ list: whatif.asList(of), values: whatif.values(whatif.asList(of), o) });

    const place = { class: "whatif-list", "aria-label": "The list: drag a document to another rank" };
    const ol = make("ol", place);
    const other = whatif.other(list, whatif.values(whatif.asList(start), o));
    const right = make("div", { class: "whatif-right" });
    const apart = make("div", { class: "whatif-below-both" });
    const said = make("p", { class: "whatif-said", role: "status", "aria-live": "polite" });
    const more = make("p", { class: "quiet" });
    const tray = make("div", { class: "whatif-tray" });
    const lower = make("ol", { class: "whatif-lower", "aria-label": "Documents below the list: drag one into it" });
    const rows = whatif.rows(ol, grades, { move, grade, remove, preview: held });

    // -- what one can do ----------------------------------------------------------------------------------------

    /** Take a new state, and say what it did to the metrics. */
    function change(next, what, tops) {
      const before = measured(state);
      state = next;
      preview = null;
      draw(tops);
      say(what, before, measured(state));
    }

    /** What a change does to the metric that is looked at, and which ones stand still. */
    function say(what, before, after) {
      const lead = after.values.findIndex((found) => found.key === chosen);
      const [was, now] = [before.values[lead].value, after.values[lead].value];
      const moved = whatif.same(was, now) ? `stays ${whatif.shown(now)}` : `${whatif.shown(was)} → ${whatif.shown(now)}`;
      const stood = whatif.stood(before, after, o);
      said.replaceChildren(make("strong", {}, `${what}: ${whatif.fullName(after.values[lead], o.k)} ${moved}.`), stood ? ` ${stood}` : "");
    }

    const nameOf = (key) => whatif.idOf(state.docs.find((doc) => doc.key === key), 40);

    function move(key, rank, tops) {
      const to = Math.min(Math.max(rank, 1), state.docs.length);
      if (state.docs[to - 1].key !== key) change(whatif.moved(state, key, to), `${nameOf(key)} moved to rank ${to}`, tops);
    }

    function grade(key, value) {
      const name = value === null ? "is unjudged" : `has grade ${whatif.gradeText(value)}`;
      change(whatif.graded(state, key, value), `${nameOf(key)} ${name}`);
    }

    function remove(key) {
      const at = state.docs.findIndex((doc) => doc.key === key);
      change(whatif.without(state, key), `${nameOf(key)} is out of the list`);
      const next = ol.children[Math.min(at, ol.children.length - 1)];
      (next ? next.querySelector(".whatif-handle") : tray.querySelector("select")).focus();
    }

    function include(candidate, rank) {
      const next = whatif.including(state, candidate, rank);
      const doc = next.docs[rank - 1];
      change(next, `${whatif.idOf(doc, 40)} is in at rank ${rank}`);
      tray.querySelector("button").focus();
    }

    /** The documents below that are known: dragged into the list, or moved to its end by a button. */
    function fillLower() {
      const below = whatif.candidates(state).filter((one) => one.rank).sort((a, b) => a.rank - b.rank).slice(0, BELOW);
      lower.replaceChildren(...below.map((one) =>
        make(
          "li", { class: "whatif-under", draggable: "true", ondragstart: (event) => { event.dataTransfer.setData("text/plain", one.value); event.dataTransfer.effectAllowed = "move"; } },
          make("span", { class: "whatif-grip", "aria-hidden": "true" }, "⠿"), make("bdi", {}, one.label),
          make("button", { type: "button", "aria-label": `Move ${one.label} up to the end of the list`, onclick: () => include(one.value, state.docs.length + 1) }, "↑"),
        ),
      ));
    }

    /** The rank at which something dropped here would stand. */
    const rankAt = (y) => [...ol.children].filter((row) => row.getBoundingClientRect().top + row.offsetHeight / 2 < y).length + 1;
    const dropped = (event) => {
      const value = event.dataTransfer.getData("text/plain");
      event.preventDefault();
      if (whatif.candidates(state).some((one) => one.value === value && one.rank)) include(value, rankAt(event.clientY));
    };
    ol.addEventListener("dragover", (event) => event.preventDefault());
    ol.addEventListener("drop", dropped);

    function order(how, name) {
      if (how === "shuffle") shuffles += 1;
      change(whatif.ordered(state, how, shuffles), name);
    }

    function reset() {
      shuffles = 0;
      change(start, "As at the start");
    }

    function choose(key) {
      chosen = last = key;
      draw();
      right.querySelector(`button[data-metric="${key}"]`).focus();
    }

    /** While a document is held over a rank: the metrics of the list as it would be. */
    function held(key, rank) {
      if (key === null && !preview) return;
      preview = key === null ? null : whatif.moved(state, key, rank);
      if (preview) say(`${nameOf(key)} at rank ${rank}`, measured(state), measured(preview));
      else said.textContent = "";
      rows.fill(look(preview || state), (preview || state).docs);
      fill();
    }

    // -- showing ------------------------------------------------------------------------------------------------

    function draw(tops) {
      if (chosen.endsWith("@k") && state.size <= o.k && start.size <= o.k) chosen = chosen.slice(0, -2); // it has no row of its own
      rows.show(state, look(state), tops);
      changed(whatif.encode(state, start));
      fill();
      fillTray();
      fillLower();
      const below = state.size - state.docs.length;
      more.textContent = below > 0 ? `${rankscope.counted(below, "more document")} below${state.beyond.length ? `, ${state.beyond.length} of them with a grade above 0` : ""}.` : "";
    }

    /** What the rows say of a state. */
    function look(of) {
      const found = measured(of).values.find((one) => one.key === chosen);
      const adds = found.rows.slice(0, of.docs.length).map((row) => row.adds);
      return { adds, most: Math.max(0, ...adds), k: o.k, top: Math.max(1, ...grades) };
    }

    function fill() {
      const seen = preview || state;
      const now = measured(seen);
      right.replaceChildren(whatif.metricsTable(now, measured(start), o, chosen, choose));
      apart.replaceChildren(whatif.takenApart(now.values.find((found) => found.key === chosen), seen.docs, now.list, o));
    }

    function fillTray() {
      const candidates = whatif.candidates(state);
      const optionsOf = (found) => found.map((one) => make("option", { value: one.value }, one.label));
      const what = make("select", { "aria-label": "A document that is not in the list" }, ...optionsOf(candidates));
      const rank = make("input", { type: "number", min: "1", max: String(state.docs.length + 1), value: "1", inputmode: "numeric", "aria-label": "Rank to put it at" });
      const button = make("button", { type: "button", onclick: () => include(what.value, Math.round(numberIn(rank, 1))) }, "Insert");
      const find = make("input", { type: "search", placeholder: "Find by id", "aria-label": "Find a document that is not in the list, by its id or grade", autocomplete: "off", spellcheck: "false" });
      find.addEventListener("input", () => {
        const asked = find.value.trim().toLowerCase();
        const found = candidates.filter((one) => one.label.toLowerCase().includes(asked));
        what.replaceChildren(...(found.length ? optionsOf(found) : [make("option", { value: "" }, "No document matches")]));
        button.disabled = !found.length;
      });
      find.addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        event.preventDefault(); // else the button, which has the focus then, is pressed once more
        button.click();
      });
      tray.replaceChildren(...(candidates.length > MANY ? [find] : []), what, make("span", {}, " at rank "), rank, button);
    }

    function options() {
      const k = make("input", { type: "number", min: "1", max: String(longest), value: String(o.k), inputmode: "numeric" });
      const levels = [...new Set([o.level, ...grades.filter((g) => g > 0)])].sort((a, b) => a - b);
      const level = make("select", {}, ...levels.map((g) => make("option", { selected: g === o.level }, whatif.gradeText(g))));
      const p = make("input", { type: "number", min: "0", max: "1", step: "0.05", value: String(o.p), inputmode: "decimal" });
      k.addEventListener("change", () => { o.k = Math.round(numberIn(k, o.k)); k.value = String(o.k); draw(); });
      level.addEventListener("change", () => { o.level = levels[level.selectedIndex]; draw(); });
      p.addEventListener("change", () => { o.p = numberIn(p, o.p); draw(); });
      return make("div", { class: "whatif-options" }, labelled("cutoff k", k), labelled("relevant from grade", level), labelled("RBP’s p", p));
    }

    const buttons = [make("button", { type: "button", onclick: reset }, "Reset"), ...ORDERS.map(([how, name]) => make("button", { type: "button", onclick: () => order(how, name) }, name))];
    const left = make("div", { class: "whatif-left" }, ol, more, lower, tray);
    element.replaceChildren(
      make("div", { class: "whatif" },
        make("div", { class: "whatif-tools" }, make("div", { class: "whatif-orders", role: "group", "aria-label": "Rearrange the list" }, ...buttons), options()),
        other ? make("p", { class: "whatif-other quiet" }, other) : null,
        make("div", { class: "whatif-both" }, left, make("div", { class: "whatif-side" }, said, right)),
        apart,
      ),
    );
    said.textContent = "Drag a document, or use the arrow keys on its handle; change a grade; click a metric to break it down.";
    draw();
  };
})((window.rankscope = window.rankscope || {}));
