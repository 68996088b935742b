/* A query opened: its text, its values, what happened, and its rankings. */
(() => {
  "use strict";
  const explorer = (window.rankscope.explorer = window.rankscope.explorer || {});

  /** Values of all metrics for the chosen runs, and their difference. */
  const values = (pair) => {
    const { make, name, cut } = explorer;
    const { data, query, two } = pair;
    const cellOf = (value) => make("td", Number.isNaN(value) ? { title: "no value" } : {}, explorer.written(value), Number.isNaN(value) ? make("span", { class: "unseen" }, " no value") : null);
    const row = (run) => make("tr", {}, make("th", { scope: "row", title: name(data.runs[run]) }, make("bdi", {}, cut(name(data.runs[run]), 40))), data.metrics.map((_, metric) => cellOf(explorer.value(query, run, metric))));
    const change = (metric) => {
      const difference = explorer.value(query, pair.b, metric) - explorer.value(query, pair.a, metric);
      // of the chosen metric alone it is known which way is better
      const cell = make("td", metric !== data.chosen ? {} : { "data-tone": explorer.tone(data, difference), class: "explorer-lead" }, explorer.signed(difference));
      return cell;
    };
    const rows = two ? [row(pair.a), row(pair.b), make("tr", { class: "explorer-differences" }, make("th", { scope: "row" }, "difference"), data.metrics.map((_, metric) => change(metric)))] : [row(pair.a)];
    const heads = data.metrics.map((metric) => make("th", { scope: "col" }, metric));
    return make(
      "div", { class: "explorer-wide", tabindex: 0, role: "region", "aria-label": "Values of this query" },
      make("table", { class: "explorer-table" }, make("thead", {}, make("tr", {}, make("td", {}), heads)), make("tbody", {}, rows)),
    );
  };

  /** The list that the what-if takes, of a run's ranking as far as it is shown without gaps. */
  const listOf = (pair, run) => {
    const { data, query, documents } = pair;
    const ranked = documents.filter((document) => document.ranks[run] > 0).sort((one, other) => one.ranks[run] - other.ranks[run]);
    const docs = ranked.filter((document, at) => document.ranks[run] === at + 1);
    const below = new Map(explorer.beyond(data, query, run).map(([rank, ...who]) => [rank, who]));
    ranked.slice(docs.length).forEach(({ id, grade, text, ranks }) => grade > 0 && below.set(ranks[run], [grade, id, text]));
    const told = ({ id, grade, text }) => ({ id, grade, text });
    return {
      title: data.teaching ? query.i : `${explorer.cut(explorer.name(data.runs[run]), 60)}, query ${explorer.cut(explorer.name(query.i), 60)}`,
      docs: docs.map(told),
      others: [...documents.filter(({ ranks, grade }) => !ranks[run] && grade !== null), ...explorer.others(data, query, run).filter(({ rank }) => !rank)].map(told),
      judged: explorer.judged(data, query),
      beyond: [...below].filter(([rank]) => rank > docs.length).sort((one, other) => one[0] - other[0]).map(([rank, who]) => [rank, ...who]),
      level: data.level, topGrade: data.topGrade, k: data.cutoff, p: data.parameters.p, maxGrade: data.parameters.max_grade,
      metric: data.metric, value: explorer.value(query, run), size: query.n[run] || 0,
    };
  };
  explorer.whatifList = listOf;

  const playable = () => Boolean(window.rankscope.whatif && window.rankscope.whatif.mount);

  /** A list that is played with starts as the address says, and stands in the address as it is arranged, with its side. */
  const arranging = (side = "") => ({
    arranged: explorer.arranged || "",
    changed: (arranged) => {
      explorer.arranged = "";
      explorer.arrangement = () => (arranged ? `${side}&l=${arranged}` : "");
      explorer.rearranged?.();
    },
  });

  /** One ranking with its head; its button turns it into a list to play with, and back. */
  const column = (pair, run, side, heading, rows, redraw) => {
    const { make } = explorer;
    const list = make("ol", { class: "explorer-ranking", "aria-label": heading }, rows);
    const columns = make(
      "div", { class: "explorer-heads", "aria-hidden": "true" },
      make("span", {}, ""), make("span", {}, ""), make("span", {}, "document"), pair.two || side === "best" ? make("span", {}, "move") : null, side === "best" ? null : make("span", {}, "adds"),
      pair.two ? make("span", {}, side === "b" ? "change" : "") : null,
    );
    const head = make("div", { class: "explorer-head" }, make("h4", {}, make("bdi", {}, heading)));
    const digits = Math.max(2, ...[...list.querySelectorAll(".explorer-rank")].map((rank) => rank.textContent.length));
    const element = make("div", { class: "explorer-side", "data-side": side, style: `--ranks: ${digits - 0.4}rem` }, head, columns, list);
    if (side !== "best" && playable() && (pair.query.n[run] || 0)) {
      const button = make("button", { type: "button", class: "explorer-button", title: "Move documents, change grades, and watch the metrics change" }, "What if?");
      let tried = null;
      button.addEventListener("click", () => {
        if (tried) tried.remove();
        tried = tried ? null : make("div", { class: "explorer-try" });
        button.textContent = tried ? "Back to the ranking" : "What if?";
        [list, columns].forEach((part) => (part.hidden = Boolean(tried)));
        element.classList.toggle("explorer-trying", Boolean(tried));
        if (tried) {
          element.append(tried);
          window.rankscope.whatif.mount(tried, listOf(pair, run), arranging(`&w=${side}`));
        } else arranging().changed("");
        redraw();
      });
      head.append(button);
    }
    return { element, list };
  };

  /** The rankings of a query, side by side; where there is no room, one at a time. */
  const rankings = (pair) => {
    const { make, name, cut } = explorer;
    const { data } = pair;
    const board = make("div", { class: `explorer-board${pair.two ? " explorer-two" : ""}`, "data-shown": pair.two ? "1" : "0" });
    const titles = [cut(name(data.runs[pair.a]), 60), pair.two ? cut(name(data.runs[pair.b]), 60) : "the ideal ranking"];
    const tabs = titles.map((title, at) => make("button", { type: "button", class: "explorer-tab", on: { click: () => turn(at) } }, make("bdi", {}, title)));
    let linked = null;
    const turn = (side) => {
      board.dataset.shown = String(side);
      tabs.forEach((tab, at) => tab.setAttribute("aria-pressed", String(at === side)));
      if (linked) linked.again();
    };
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", "explorer-lines");
    svg.setAttribute("aria-hidden", "true");
    turn(pair.two ? 1 : 0);
    const redraw = () => {
      const trying = Boolean(board.querySelector(".explorer-trying"));
      board.classList.toggle("explorer-wider", trying);
      if (linked) linked.again();
    };
    const left = column(pair, pair.a, "a", titles[0], explorer.rows(pair, pair.a, "a"), redraw);
    const right = pair.two ? column(pair, pair.b, "b", titles[1], explorer.rows(pair, pair.b, "b"), redraw) : column(pair, pair.a, "best", titles[1], explorer.best(pair), redraw);
    board.append(left.element, svg, right.element);
    linked = explorer.link(board, svg, [left.list, right.list], turn);
    if (explorer.arranged) {
      turn(explorer.tried === "b" ? 1 : 0);
      board.querySelector(`[data-side="${explorer.tried}"] > .explorer-head > button`)?.click();
      explorer.arranged = "";
    }
    return { element: make("div", {}, make("div", { class: "explorer-tabs", role: "group", "aria-label": "Which ranking to show" }, tabs), board, rest(pair)), stop: linked.stop };
  };

  /** What the rows do not add up to, so that all that is on the page sums to the difference. */
  const rest = (pair) => {
    if (!pair.two || Math.abs(pair.rest) < 5e-6) return null;
    const { make } = explorer;
    const row = make("p", { class: "explorer-rest" }, "what is not shown adds ", make("span", { "data-change": pair.rest, "data-tone": explorer.tone(pair.data, pair.rest) }, explorer.signed(pair.rest)), " to the difference");
    return row;
  };

  /** Fills the panel with a query under two runs; returns what to call before another one takes its place. */
  explorer.show = (panel, data, query, a, b) => {
    const { make, name, cut } = explorer;
    const pair = explorer.pair(data, query, a, b);
    explorer.arrangement = () => "";
    pair.words = explorer.wordsOf(query.t);
    pair.most = pair.shown.reduce((most, document) => Math.max(most, Math.abs(document.change)), 0);
    const id = name(query.i);
    const head = make("header", { class: "explorer-title" }, make("h3", { title: id.length > 120 ? cut(id, 600) : null }, make("bdi", {}, cut(id, 120))), data.teaching ? make("p", { class: "explorer-asked" }, explorer.plain(query.t)) : explorer.textOf(query.t, null, "explorer-asked"));
    if (data.teaching && playable()) {
      const place = make("div", { class: "explorer-try" });
      const answer = query.y ? [make("details", { class: "explorer-answer" }, make("summary", {}, "Show answer"), make("p", {}, explorer.plain(query.y)))] : [];
      panel.replaceChildren(head, ...answer, place);
      window.rankscope.whatif.mount(place, listOf(pair, a), arranging());
      return () => {};
    }
    const named = (document) => {
      const said = name(document.id);
      const button = make("button", { type: "button", class: "explorer-told", "data-doc": document.at, title: said.length > 40 ? cut(said, 600) : null }, make("bdi", {}, cut(said, 40)));
      button.addEventListener("click", () => {
        const rows = [...panel.querySelectorAll(`.explorer-row[data-doc="${document.at}"]`)].filter((row) => row.offsetParent);
        const row = rows[rows.length - 1];
        if (row) row.querySelector(".explorer-name").focus({ preventScroll: true });
        if (row) row.scrollIntoView({ block: "center" });
      });
      return button;
    };
    const shown = rankings(pair);
    const save = make("button", { type: "button", class: "explorer-button", title: "The documents shown, with grades, ranks and what each adds, as CSV", "aria-label": "Documents as CSV", on: { click: () => explorer.saveDocuments(pair) } }, "documents as CSV");
    const kept = rankscope.notes ? explorer.marking(pair, shown.element) : [];
    panel.replaceChildren(head, values(pair), explorer.story(pair, named), make("div", { class: "explorer-foot" }, explorer.legend(data), save), ...kept, shown.element);
    explorer.fit(panel);
    return shown.stop;
  };
})();
