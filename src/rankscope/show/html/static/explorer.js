/* The explorer: the list of queries beside the one that is open, and the address that opens it again. */
(() => {
  "use strict";
  const explorer = (window.rankscope.explorer = window.rankscope.explorer || {});

  const picker = (names, label, chosen, change) => {
    const { make } = explorer;
    const options = names.map((run, at) => make("option", { value: at }, explorer.cut(explorer.name(run), 60)));
    const select = make("select", { "aria-label": label, on: { change: () => change(Number(select.value)) } }, options);
    select.value = String(chosen);
    return { select, element: make("label", { class: "explorer-pick" }, make("span", {}, label), select) };
  };

  const button = (label, title, act) => explorer.make("button", { type: "button", class: "explorer-button", title, on: { click: act } }, label);

  const absent = (many) => (many ? ` ${rankscope.counted(many, "query is", "queries are")} not in this file.` : "");

  /** Builds the explorer in the place of its plain table. */
  explorer.mount = (root) => {
    const { make } = explorer;
    const data = explorer.read(root.querySelector(".explorer-data").textContent);
    if (!data.queries.length) return null; // the plain text says so
    window.rankscope.queryText = (id) => data.queries[data.place.get(explorer.whole(id))]?.t;
    const start = { a: 0, b: data.runs.length > 1 ? 1 : 0 };
    const state = { ...start, query: -1, missing: "" }; // no query is open where the address asks for one that is not here
    const panel = make("div", { class: "explorer-query" });
    const place = make("span", { class: "explorer-quiet explorer-place", role: "status" });
    let stop = () => {};

    const show = () => {
      if (state.query < 0) return;
      stop();
      stop = explorer.show(panel, data, data.queries[state.query], state.a, state.b) || (() => {});
      told();
    };
    const told = () => {
      const [at, of] = list.place();
      copy.textContent = linkTo();
      place.textContent = state.query < 0 ? "" : at < 0 ? "not in the list as filtered" : `${rankscope.count(at + 1)} of ${rankscope.count(of)}`;
    };
    const address = () => (state.query < 0 ? state.missing : explorer.fragment(data, data.queries[state.query].i, state.a, state.b));
    const remember = () => {
      const next = address();
      if (state.query < 0 || next === window.location.hash) return;
      try {
        window.history.pushState(null, "", next);
      } catch (error) {
        window.location.hash = next; // where a page may not write its history
      }
    };
    const narrow = () => getComputedStyle(root.querySelector(".explorer-pair")).gridTemplateColumns.trim().split(" ").length < 2;
    const open = (at) => {
      state.query = at;
      show();
      remember();
      if (narrow()) main.scrollIntoView({ block: "start" });
    };
    const choose = (side, run) => {
      state[side] = run;
      picks.forEach(([key, pick]) => (pick.select.value = String(state[key])));
      list.reload();
      show();
      remember();
    };

    /** Another metric: list, order, filters and what documents add follow it. */
    const measure = (metric) => {
      explorer.choose(data, metric);
      list.reload();
      show();
      remember();
    };

    if (!data.teaching) {
      rankscope.notes.begin(data.marks);
      rankscope.judging(data);
      explorer.again = () => show();
    }
    /** A list that is played with stands in the address as it is arranged. */
    explorer.rearranged = () => {
      if (state.query < 0) return;
      const next = address() + explorer.arrangement();
      if (!explorer.arrangement() && !/&l=/.test(location.hash)) return;
      try {
        history.replaceState(null, "", next);
      } catch {
        // where a page may not write its history the button copies it
      }
    };
    const list = explorer.list(data, state, open, told);
    const picks = data.runs.length > 1 ? [["a", picker(data.runs, "baseline", state.a, (run) => choose("a", run))], ["b", picker(data.runs, "run", state.b, (run) => choose("b", run))]] : [];
    const metric = data.metrics.length > 1 && !data.teaching ? picker(data.metrics, "metric", 0, measure) : null;
    const swap = button("⇄", "Exchange the two runs", () => {
      [state.a, state.b] = [state.b, state.a];
      choose("a", state.a);
    });
    swap.setAttribute("aria-label", "Exchange the two runs");
    const linkTo = () => (state.query < 0 ? "copy link" : `copy link to ${explorer.cut(explorer.name(data.queries[state.query].i), 16)}`);
    const copy = button("copy link", "The address of this query with these runs and this metric", async () => {
      copy.textContent = (await window.rankscope.copied(window.location.href.split("#")[0] + address() + (state.query < 0 ? "" : explorer.arrangement()))) ? "copied" : "could not copy";
      setTimeout(() => (copy.textContent = linkTo()), 1500);
    });
    const steps = [button("‹", "The query before, in this order", () => list.step(-1)), button("›", "The next query, in this order", () => list.step(1))];
    steps.forEach((step, at) => step.setAttribute("aria-label", ["Previous query", "Next query"][at]));
    const bar = make("div", { class: "explorer-tools" }, metric && metric.element, picks.map(([, pick]) => pick.element), picks.length ? swap : null, make("span", { class: "explorer-gapper" }), place, steps, copy);
    const main = make("div", { class: "explorer-main" }, bar, panel);
    root.querySelector(".explorer-plain").remove();
    root.append(make("div", { class: "explorer-pair" }, list.element, main), ...data.notes.map((note) => make("p", { class: "explorer-quiet" }, note)));
    /** Opens what the address asks for; false where it asks for no query. */
    const follow = (scrolls) => {
      const asked = explorer.asked(window.location.hash);
      if (!asked) return false;
      const run = (name, other) => {
        const at = data.runs.findIndex((known) => explorer.whole(known) === name);
        return at < 0 ? other : at;
      };
      const before = `${state.a} ${state.b}`;
      [state.a, state.b] = [run(asked.a, start.a), run(asked.b, start.b)];
      picks.forEach(([key, pick]) => (pick.select.value = String(state[key])));
      const measured = Math.max(0, data.metrics.findIndex((known) => explorer.whole(known) === asked.m));
      const other = metric && measured !== data.chosen;
      if (other) explorer.choose(data, measured);
      if (other) metric.select.value = String(measured);
      const at = data.place.get(asked.q);
      if (at === undefined) {
        stop();
        stop = () => {};
        [state.query, state.missing] = [-1, window.location.hash];
        panel.replaceChildren(make("p", { class: "explorer-missing", role: "status" }, "No query here has the id ", make("bdi", {}, explorer.cut(explorer.name(asked.q || ""), 120)), `.${absent(data.leftOut)}`));
      } else {
        state.query = at;
        [explorer.arranged, explorer.tried] = [asked.l || "", asked.w === "b" ? "b" : "a"];
        show();
      }
      if (other || before !== `${state.a} ${state.b}`) list.reload();
      list.mark();
      told();
      if (scrolls) reveal();
      return true;
    };
    /** Stays at the query while charts above it are still being drawn, until the reader moves. */
    const settle = () => {
      const watch = new ResizeObserver(() => main.scrollIntoView({ block: "start" }));
      const end = () => watch.disconnect();
      watch.observe(document.body);
      ["wheel", "touchstart", "keydown", "pointerdown"].forEach((moves) => window.addEventListener(moves, end, { once: true, passive: true }));
      setTimeout(end, 3000);
    };
    const reveal = () => {
      for (let part = root.parentElement; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
      main.scrollIntoView({ block: "start" });
    };

    window.addEventListener("hashchange", () => follow(true));
    document.addEventListener("click", (event) => {
      const link = event.target.closest && event.target.closest('a[href^="#q="]');
      if (link && link.getAttribute("href") === window.location.hash) follow(true); // the address stays as it is, and tells nobody
    });
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest && event.target.closest("input, textarea, select, [contenteditable]");
      if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      list.search.focus();
    });
    if (follow(true)) settle();
    else {
      state.query = list.first();
      if (state.query >= 0) show();
      list.mark();
      told();
    }
    return { data, state, list };
  };

  const begin = () => document.querySelectorAll("[data-explorer]").forEach((root) => (explorer.mounted = explorer.mount(root)));
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else setTimeout(begin); // all scripts first
})();
