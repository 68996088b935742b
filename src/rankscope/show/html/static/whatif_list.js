"use strict";
// The list one can rearrange: a row a document, moved by pointer, by keys or by buttons.
(function (rankscope) {
  const whatif = (rankscope.whatif = rankscope.whatif || {});

  /** An element with attributes and children; text goes in as text. */
  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "class") element.className = value;
      else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  const calm = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

  /** An id cut, so that one row stays one row. */
  whatif.idOf = (doc, room) => rankscope.cut(rankscope.name(doc.id), room);

  /** The grades to choose from: whole ones up to the top of the scale, and all that occur. */
  whatif.gradesOf = function (list, topGrade) {
    const top = Math.max(topGrade || 1, 1);
    const whole = top <= 10 ? Array.from({ length: Math.floor(top) + 1 }, (_, i) => i) : [0];
    const there = [...list.docs.map((doc) => doc.grade), ...list.judged.map(([grade]) => grade)];
    return [...new Set([...whole, top, ...there.filter((g) => g !== null && g !== undefined)])].sort((a, b) => a - b);
  };

  /**
   * A list in an element. `on` has what to do: move(key, rank), grade(key, grade), remove(key), and preview(key, rank)
   * while a document is held (null, null when it is let go). Returns {show(state, look)}.
   */
  whatif.rows = function (element, grades, on) {
    const rows = new Map(); // key -> row, kept so that focus and movement have something to hold on to
    let state = null;
    let held = null;

    function row(doc) {
      const id = whatif.idOf(doc, 60);
      const choices = [null, ...grades];
      const step = (by) => {
        const at = choices.indexOf(state.docs.find((one) => one.key === doc.key).grade) + by;
        if (at >= 0 && at < choices.length) on.grade(doc.key, choices[at]);
      };
      const part = {
        handle: make("button", { type: "button", class: "whatif-handle", onkeydown: (event) => keyed(event, doc.key) }, "⠿"),
        rank: make("span", { class: "whatif-rank" }),
        was: make("span", { class: "whatif-was" }),
        select: make(
          "select",
          { "aria-label": `Grade of ${id}`, onchange: (event) => on.grade(doc.key, choices[event.target.selectedIndex]) },
          ...choices.map((grade) => make("option", {}, whatif.gradeText(grade))),
        ),
        adds: make("span", { class: "whatif-adds" }),
        bar: make("span", { class: "whatif-bar", "aria-hidden": "true" }),
        up: make("button", { type: "button", "aria-label": `Move ${id} up`, onclick: () => on.move(doc.key, rankOf(doc.key) - 1) }, "↑"),
        down: make("button", { type: "button", "aria-label": `Move ${id} down`, onclick: () => on.move(doc.key, rankOf(doc.key) + 1) }, "↓"),
        lower: make("button", { type: "button", "aria-label": `Lower grade for ${id}`, onclick: () => step(-1) }, "−"),
        raise: make("button", { type: "button", "aria-label": `Higher grade for ${id}`, onclick: () => step(1) }, "+"),
      };
      const name = make("span", { class: "whatif-doc" }, make("bdi", { class: "whatif-id", title: whatif.idOf(doc, 600) }, id));
      if (doc.text) name.append(make("bdi", { class: "whatif-text" }, rankscope.cut(rankscope.plain(doc.text), 200)));
      part.line = make(
        "li",
        { class: "whatif-row", "data-key": doc.key },
        part.handle,
        part.rank,
        part.was,
        name,
        make("span", { class: "whatif-earns" }, part.bar, part.adds),
        make("span", { class: "whatif-grade", role: "group", "aria-label": `Grade of ${id}` }, part.lower, part.select, part.raise),
        make(
          "span",
          { class: "whatif-move" },
          part.up,
          part.down,
          make("button", { type: "button", "aria-label": `Take ${id} out of the list`, onclick: () => on.remove(doc.key) }, "×"),
        ),
      );
      part.line.addEventListener("pointerdown", (event) => take(event, doc.key));
      return part;
    }

    const rankOf = (key) => state.docs.findIndex((doc) => doc.key === key) + 1;

    function keyed(event, key) {
      const rank = rankOf(key);
      const to = { ArrowUp: rank - 1, ArrowDown: rank + 1, Home: 1, End: state.docs.length }[event.key];
      if (event.key === "Escape" && held) letGo(false);
      if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      on.move(key, to);
      rows.get(key).handle.focus();
    }

    // -- by pointer: a mouse may take a row anywhere, a finger at its handle (elsewhere it scrolls) ------------

    function take(event, key) {
      const part = rows.get(key);
      const onHandle = part.handle.contains(event.target);
      if (held || event.button !== 0 || (!onHandle && (event.pointerType !== "mouse" || event.target.closest("button, select")))) return;
      const boxes = state.docs.map((doc) => {
        const box = rows.get(doc.key).line.getBoundingClientRect();
        return { key: doc.key, top: box.top + window.scrollY, height: box.height };
      });
      const from = boxes.findIndex((box) => box.key === key);
      const room = boxes[from].height + (parseFloat(getComputedStyle(element).rowGap) || 0); // what it leaves and takes
      held = { room, key, part, boxes, from, to: from, y: event.pageY, pointer: event.pointerId, moving: false };
      if (!onHandle) event.preventDefault(); // no text is selected on the way
      part.line.setPointerCapture(event.pointerId);
      part.line.addEventListener("pointermove", drag);
      part.line.addEventListener("pointerup", drop);
      part.line.addEventListener("pointercancel", cancel);
      document.addEventListener("keydown", escape, true);
    }

    function drag(event) {
      if (event.pointerId !== held.pointer) return;
      const by = event.pageY - held.y;
      if (!held.moving && Math.abs(by) < 4) return;
      if (!held.moving) {
        held.moving = true;
        element.classList.add("whatif-dragging");
        held.part.line.classList.add("whatif-held");
      }
      const { boxes, from, room } = held;
      const middle = boxes[from].top + boxes[from].height / 2 + by;
      const to = boxes.filter((box, i) => i !== from && box.top + box.height / 2 < middle).length;
      held.part.line.style.transform = `translateY(${by}px)`;
      if (to === held.to) return;
      held.to = to;
      boxes.forEach((box, i) => {
        if (i === from) return;
        const shift = i > from && i <= to ? -room : i < from && i >= to ? room : 0;
        rows.get(box.key).line.style.transform = shift ? `translateY(${shift}px)` : "";
      });
      on.preview(held.key, to + 1);
    }

    const drop = (event) => event.pointerId === held.pointer && letGo(true);
    const cancel = (event) => event.pointerId === held.pointer && letGo(false);

    function escape(event) {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      letGo(false);
    }

    function letGo(done) {
      const was = held;
      held = null;
      const line = was.part.line;
      line.removeEventListener("pointermove", drag);
      line.removeEventListener("pointerup", drop);
      line.removeEventListener("pointercancel", cancel);
      document.removeEventListener("keydown", escape, true);
      element.classList.remove("whatif-dragging");
      line.classList.remove("whatif-held");
      const tops = topsNow();
      for (const part of rows.values()) part.line.style.transform = "";
      on.preview(null, null);
      if (done && was.to !== was.from) on.move(was.key, was.to + 1, tops);
    }

    // -- showing ------------------------------------------------------------------------------------------------

    const topsNow = () => new Map([...rows].map(([key, part]) => [key, part.line.getBoundingClientRect().top]));

    /** Rows glide from where they were to where they are. */
    function glide(before) {
      if (calm()) return;
      for (const [key, part] of rows) {
        const by = before.has(key) ? before.get(key) - part.line.getBoundingClientRect().top : 0;
        if (Math.abs(by) > 1) part.line.animate([{ transform: `translateY(${by}px)` }, { transform: "none" }], { duration: 180, easing: "ease-out" });
      }
    }

    /** look: {adds: by rank (null: none), most, k, top}; `before` holds where the rows stood on the screen. */
    function show(next, look, before) {
      const tops = before || topsNow();
      const focused = element.contains(document.activeElement) ? document.activeElement : null;
      state = next;
      const keys = new Set(state.docs.map((doc) => doc.key));
      for (const [key, part] of rows) {
        if (!keys.has(key)) {
          part.line.remove();
          rows.delete(key);
        }
      }
      state.docs.forEach((doc, i) => {
        if (!rows.has(doc.key)) rows.set(doc.key, row(doc));
        const { line } = rows.get(doc.key);
        if (element.children[i] !== line) element.insertBefore(line, element.children[i] || null);
      });
      if (focused && element.contains(focused) && document.activeElement !== focused) focused.focus();
      fill(look);
      glide(tops);
    }

    /** What the rows say of a list with its documents in this order; the rows stay where they are. */
    function fill(look, docs) {
      const order = docs || state.docs;
      order.forEach((doc, i) => {
        const part = rows.get(doc.key);
        const rank = i + 1;
        const from = doc.start ? doc.start - rank : 0;
        part.rank.textContent = String(rank);
        part.was.textContent = doc.start === 0 ? "new" : from ? `${from > 0 ? "▲" : "▼"}${Math.abs(from)}` : "";
        part.was.title = doc.start === 0 ? "was not in the list" : from ? `was at rank ${doc.start}` : "";
        part.handle.setAttribute("aria-label", `${whatif.idOf(doc, 60)}, rank ${rank} of ${order.length}: arrow keys, Home and End move it`);
        part.select.selectedIndex = [null, ...grades].indexOf(doc.grade);
        part.lower.disabled = doc.grade === null;
        part.raise.disabled = doc.grade === grades[grades.length - 1];
        part.up.disabled = rank === 1;
        part.down.disabled = rank === order.length;
        const adds = look.adds[i] ?? null;
        part.adds.textContent = adds === null ? "" : adds ? rankscope.number(adds, { sign: true, digits: 4 }) : "0";
        part.bar.style.setProperty("--part", adds && look.most ? String(adds / look.most) : "0");
        part.line.style.setProperty("--good", String(Math.min(Math.max(doc.grade ?? 0, 0) / look.top, 1)));
        part.line.classList.toggle("whatif-unjudged", doc.grade === null);
        part.line.classList.toggle("whatif-below", rank > look.k);
        part.line.classList.toggle("whatif-cut", rank === look.k && rank < order.length);
      });
    }

    return { show, fill };
  };

  whatif.make = make;
})((window.rankscope = window.rankscope || {}));
