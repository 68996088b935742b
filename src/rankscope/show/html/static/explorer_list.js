/* The list of queries: search, order, filter; only the entries in sight are elements, so that thousands of queries stay smooth. */
(() => {
  "use strict";
  const explorer = (window.rankscope.explorer = window.rankscope.explorer || {});
  const SPARE = 6; // entries kept above and below what is in sight
  const MANY = 0.3; // part of the first documents that are not judged, from which on these are many

  /** What the list shows of a query under two runs, worked out once per choice of runs. */
  const facts = (data, a, b) =>
    data.queries.map((query, at) => {
      const one = explorer.value(query, a);
      const two = data.runs.length > 1 ? explorer.value(query, b) : NaN;
      const difference = data.runs.length > 1 ? two - one : NaN;
      const unjudged = Math.max(query.u[a] || 0, data.runs.length > 1 ? query.u[b] || 0 : 0);
      return { at, one, two, difference, gain: difference * (data.way || 1), unjudged };
    });

  /** Order by a number, those without one last, else as they were given. */
  const by = (value) => (one, other) => {
    const [left, right] = [value(one), value(other)];
    if (Number.isNaN(left) || Number.isNaN(right)) return Number.isNaN(left) - Number.isNaN(right) || one.at - other.at;
    return left - right || one.at - other.at;
  };

  /** The orders on offer, each with its name; the first is the one at the start. */
  const orders = (data) => {
    const names = new Intl.Collator("en", { numeric: true });
    const last = data.runs.length > 1 ? "two" : "one";
    const shared = {
      low: ["lowest value", by((fact) => fact[last])],
      high: ["highest value", by((fact) => -fact[last])],
      id: ["id", (one, other) => names.compare(data.queries[one.at].i, data.queries[other.at].i) || one.at - other.at],
      unjudged: ["most unjudged", by((fact) => -fact.unjudged)],
      given: ["as given", (one, other) => one.at - other.at],
    };
    if (data.teaching) return { given: shared.given, low: shared.low, high: shared.high };
    if (data.runs.length < 2) return data.way < 0 ? { high: shared.high, ...shared } : shared;
    const [loss, gain] = data.way === 0 ? ["largest fall", "largest rise"] : ["largest loss", "largest gain"];
    return {
      loss: [loss, by((fact) => fact.gain)],
      gain: [gain, by((fact) => -fact.gain)],
      change: ["largest difference", by((fact) => -Math.abs(fact.difference))],
      ...shared,
    };
  };

  /** The filters on offer, each with its name, its test, and what it means in full. */
  const filters = (data, state) => {
    const many = Math.max(1, Math.ceil(MANY * data.pool));
    const unjudged = ["unjudged", (fact) => fact.unjudged >= many, `${many} or more documents of the top ${data.pool} are unjudged`];
    const none = ["none relevant", (fact) => explorer.known(data, data.queries[fact.at]) === 0, "no document is judged relevant"];
    const all = ["all", () => true];
    if (data.teaching) return { all };
    if (data.runs.length < 2) {
      const missed = (fact) => !((explorer.relevantRanks(data, data.queries[fact.at], 0)[0] || Infinity) <= data.top);
      return { all, missed: ["missed", missed, `nothing relevant in the top ${data.top}`], unjudged, none };
    }
    const [worse, better] = data.way === 0 ? ["falls", "rises"] : ["losses", "gains"];
    const level = (fact) => Math.abs(fact.difference) < 1e-6;
    return {
      all,
      worse: [worse, (fact) => !level(fact) && fact.gain < 0],
      better: [better, (fact) => !level(fact) && fact.gain > 0],
      same: ["same", level],
      flips: ["flips", (fact) => explorer.flips(data, data.queries[fact.at], state.a, state.b), `one has something relevant in its top ${data.top}, the other nothing`],
      unjudged,
      none,
    };
  };

  const option = (key, name) => explorer.make("option", { value: key }, name);

  /** The list. `state` holds a, b and the open query; `open(at)` opens one; `changed()` hears of another order. Returns what the page asks of it. */
  explorer.list = (data, state, open, changed) => {
    const { make } = explorer;
    let sorts = orders(data);
    const search = make("input", { type: "search", placeholder: "Search queries and documents", "aria-label": "Search queries and documents by id or text", "aria-keyshortcuts": "/", autocomplete: "off", spellcheck: "false" });
    const sort = make("select", { "aria-label": "Order of the queries" }, Object.entries(sorts).map(([key, [name]]) => option(key, name)));
    let chosen = "all"; // the filter
    const filter = make("div", { class: "explorer-chips", role: "group", "aria-label": "Which queries to list" });
    const nothing = make(
      "p", { class: "explorer-nothing", hidden: true }, "No query matches; ",
      make("button", { type: "button", class: "explorer-button", on: { click: () => clear() } }, "clear"),
    );
    const count = make("p", { class: "explorer-count", role: "status" });
    const tall = make("div", { role: "presentation", class: "explorer-tall" });
    const box = make("div", { class: "explorer-list", role: "listbox", tabindex: 0, "aria-label": "Queries" }, tall);
    let known = facts(data, state.a, state.b);
    let rows = [];
    let active = -1; // the row that keys move
    let most = 1; // the largest difference, which a bar of full length stands for
    let drawn = "";
    const words = data.queries.map((query) => `${query.i}\n${query.t}`.toLowerCase());
    const inside = []; // ids and texts of the documents of a query, in small letters, once they are searched
    const within = (at) => {
      const { d, x } = data.queries[at];
      return (inside[at] ??= `${d.join("\n")}\n${(x || []).map((code) => data.texts[code]).join("\n")}`.toLowerCase());
    };

    const height = () => parseFloat(getComputedStyle(document.documentElement).fontSize) * 3.3;

    /** Draws the entries in sight. */
    const draw = (anew) => {
      const size = height();
      const first = Math.max(0, Math.floor(box.scrollTop / size) - SPARE);
      const end = Math.min(rows.length, Math.ceil((box.scrollTop + (box.clientHeight || 600)) / size) + SPARE);
      if (!anew && drawn === `${first} ${end}`) return;
      drawn = `${first} ${end}`;
      tall.style.height = `${rows.length * size}px`;
      tall.replaceChildren(...rows.slice(first, end).map((fact, place) => entry(fact, first + place, size)));
      const marked = active >= first && active < end;
      if (marked) box.setAttribute("aria-activedescendant", `explorer-at-${rows[active].at}`);
      else box.removeAttribute("aria-activedescendant");
    };

    /** One entry: id and text, values and difference. */
    const entry = (fact, place, size) => {
      const query = data.queries[fact.at];
      const tone = explorer.tone(data, fact.difference);
      const two = data.runs.length > 1;
      const name = explorer.name(query.i);
      const values = two && state.a !== state.b ? `${explorer.written(fact.one)} → ${explorer.written(fact.two)}` : "";
      const made = make(
        "div",
        {
          role: "option", id: `explorer-at-${fact.at}`, class: `explorer-entry${place === active ? " explorer-active" : ""}`,
          "aria-selected": fact.at === state.query ? "true" : "false", "aria-setsize": rows.length, "aria-posinset": place + 1,
          style: `top:${place * size}px;height:${size}px`, "data-tone": tone,
        },
        make("span", { class: "explorer-id", title: name.length > 30 ? explorer.cut(name, 600) : null }, make("bdi", {}, explorer.cut(name, 80))),
        make("span", { class: "explorer-values" }, values),
        make("span", { class: "explorer-change" }, two && state.a !== state.b ? explorer.signed(fact.difference) : explorer.written(fact.one)),
        make("span", { class: "explorer-words" }, make("bdi", {}, explorer.cut(explorer.plain(query.t), 140))),
        bar(fact, two),
      );
      made.addEventListener("click", () => choose(place, true));
      return made;
    };

    /** A thin bar: from the middle to both sides, or from the left where there is one run. */
    const bar = (fact, two) => {
      const value = two ? fact.difference : fact.one;
      const part = Number.isFinite(value) ? Math.min(1, Math.abs(value) / most) : 0;
      const width = part * (two ? 50 : 100);
      const left = !two ? 0 : value < 0 ? 50 - width : 50;
      return data.teaching || !part ? null : make("span", { class: "explorer-bar", "aria-hidden": "true" }, make("span", { style: `left:${left}%;width:${width}%` }));
    };

    /** Which entries there are, after a search, a filter, an order. */
    const refresh = () => {
      const asked = search.value.trim().toLowerCase();
      const kept = (filters(data, state)[chosen] || [0, () => true])[1];
      const matches = (at) => !asked || words[at].includes(asked) || within(at).includes(asked);
      rows = known.filter((fact) => kept(fact) && matches(fact.at)).sort(sorts[sort.value][1]);
      const whole = data.queries.length;
      const listed = rows.length === whole ? "" : `${rankscope.count(rows.length)} of `;
      count.textContent = `${listed}${data.teaching ? rankscope.counted(whole, "example") : rankscope.counted(whole, "query", "queries")}`;
      active = rows.findIndex((fact) => fact.at === state.query);
      box.scrollTop = 0;
      nothing.hidden = rows.length > 0;
      box.hidden = !rows.length;
      draw(true);
    };

    /** All queries again. */
    const clear = () => {
      search.value = "";
      pick("all");
      search.focus();
    };

    /** Another filter, whose chip is pressed. */
    const pick = (key) => {
      chosen = key;
      filter.querySelectorAll("button").forEach((chip) => chip.setAttribute("aria-pressed", String(chip.dataset.filter === key)));
      anew();
    };

    /** New runs: new facts, and how many queries each filter keeps. */
    const reload = () => {
      known = facts(data, state.a, state.b);
      const two = data.runs.length > 1;
      most = known.reduce((sofar, fact) => Math.max(sofar, Math.abs(two ? fact.difference : fact.one) || 0), 1e-9);
      const offered = Object.entries(filters(data, state));
      if (!offered.some(([key]) => key === chosen)) chosen = "all";
      filter.replaceChildren(...offered.map(([key, [name, kept, full]]) => {
        const chip = make("button", { type: "button", class: "explorer-chip", "data-filter": key, "aria-pressed": String(key === chosen), title: full }, `${name} `, make("span", { class: "explorer-many" }, rankscope.count(known.filter(kept).length)));
        chip.addEventListener("click", () => pick(key));
        return chip;
      }));
      sorts = orders(data);
      Object.entries(sorts).forEach(([key, [name]]) => (sort.querySelector(`[value="${key}"]`) || {}).textContent = name);
      refresh();
      follow();
    };

    /** Scrolls the list, and only the list, until the active entry is in sight. */
    const follow = () => {
      const size = height();
      if (active >= 0 && active * size < box.scrollTop) box.scrollTop = active * size;
      else if (active >= 0 && (active + 1) * size > box.scrollTop + box.clientHeight) box.scrollTop = (active + 1) * size - box.clientHeight;
      draw(true);
    };

    const choose = (place, opens) => {
      if (!rows.length) return;
      active = Math.max(0, Math.min(rows.length - 1, place));
      if (opens) open(rows[active].at);
      follow();
    };

    const page = () => Math.max(1, Math.floor(box.clientHeight / height()) - 1);
    const keys = {
      ArrowDown: () => choose(active + 1), j: () => choose(active + 1),
      ArrowUp: () => choose(active < 0 ? 0 : active - 1), k: () => choose(active < 0 ? 0 : active - 1),
      PageDown: () => choose(active + page()), PageUp: () => choose(active - page()),
      Home: () => choose(0), End: () => choose(rows.length - 1),
      Enter: () => choose(active, true), " ": () => choose(active, true),
    };
    box.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") choose(Math.max(0, active), true);
      else if (event.key === "ArrowDown") { box.focus(); choose(Math.max(0, active)); event.preventDefault(); }
      else if (event.key === "Escape" && search.value) { search.value = ""; anew(); event.preventDefault(); }
    });
    box.addEventListener("scroll", () => draw(false), { passive: true });
    const anew = () => {
      refresh();
      changed();
    };
    search.addEventListener("input", anew);
    sort.addEventListener("change", anew);
    new ResizeObserver(() => draw(false)).observe(box);

    const save = make("button", { type: "button", class: "explorer-button", title: "The listed queries with all values, as CSV", "aria-label": "Queries as CSV" }, "queries as CSV");
    save.addEventListener("click", () => explorer.saveQueries(data, rows.map((fact) => fact.at), state));
    const element = make(
      "div", { class: "explorer-queries" },
      make("div", { class: "explorer-find" }, search, data.teaching ? null : filter, data.teaching ? null : make("label", { class: "explorer-pick" }, make("span", {}, "order"), sort)),
      make("div", { class: "explorer-foot" }, count, save),
      nothing,
      box,
    );
    reload();
    return {
      element, search, reload,
      first: () => (rows.length ? rows[0].at : -1),
      mark: () => { active = rows.findIndex((fact) => fact.at === state.query); follow(); },
      place: () => [rows.findIndex((fact) => fact.at === state.query), rows.length],
      step: (by) => {
        const now = rows.findIndex((fact) => fact.at === state.query);
        choose(now < 0 ? 0 : now + by, true);
      },
    };
  };
})();
