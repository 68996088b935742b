/* Two rankings side by side: each document with its grade, its move, and what it adds. */
(() => {
  "use strict";
  const explorer = (window.rankscope.explorer = window.rankscope.explorer || {});
  const MOST = 20; // rows of the best ranking
  const LONG = 50; // characters up to which a text fits its lines anywhere

  /** 0 to 4: how strong the colour of a grade is. */
  const step = (data, grade) =>
    grade <= 0 || data.topGrade <= 0 ? 0 : Math.max(1, Math.min(4, Math.round((4 * grade) / data.topGrade)));

  /** A grade as a chip with its number. */
  explorer.chip = (data, grade) =>
    grade === null
      ? explorer.make("span", { class: "explorer-grade", "data-step": "open", title: "not judged" }, "?")
      : explorer.make("span", { class: "explorer-grade", "data-step": step(data, grade), title: `grade ${grade} of ${data.topGrade}${grade >= data.level ? ", relevant" : ", not relevant"}` }, String(grade));

  /** Text in which the words of the query are marked. */
  const marked = (text, words) => {
    if (!words) return [text];
    return text.split(words).map((part, at) => (at % 2 ? explorer.make("mark", {}, part) : part));
  };

  /** The words of a query worth marking, as one expression; null where there are none. */
  explorer.wordsOf = (text) => {
    const found = [...new Set((explorer.plain(text).toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) || []).filter((word) => !COMMON.has(word)))];
    return found.length ? new RegExp(`(${found.slice(0, 40).join("|")})`, "giu") : null;
  };
  const COMMON = new Set("what when where which with from that this have does about there their would could should into than them they were will your been being over under between after before also such some more most each only other very much many then these those while".split(" "));

  /** A text: a few lines, the rest on demand. */
  explorer.textOf = (text, words, className = "explorer-text") => {
    const { make } = explorer;
    if (!text) return null;
    const body = make("p", { class: className }, make("bdi", {}, marked(explorer.plain(text), words)));
    if (text.length <= LONG) return body;
    body.classList.add("explorer-cut");
    const more = make("button", { type: "button", class: "explorer-more", "aria-expanded": "false" }, "more");
    more.addEventListener("click", () => {
      const open = body.classList.toggle("explorer-cut") === false;
      more.textContent = open ? "less" : "more";
      more.setAttribute("aria-expanded", String(open));
      more.dispatchEvent(new CustomEvent("explorer-resized", { bubbles: true }));
    });
    return make("div", { class: "explorer-body" }, more, body);
  };

  /** How far a document moves from the other ranking to this, or from this to the other, as a badge. */
  const badge = (from, to, why) => {
    const [sign, kind] = !from ? ["new", "new"] : !to ? ["gone", "gone"] : from === to ? ["=", "same"] : from > to ? [`▲ ${from - to}`, "up"] : [`▼ ${to - from}`, "down"];
    return explorer.make("span", { class: "explorer-move", "data-move": kind, title: why }, sign, explorer.make("span", { class: "unseen" }, ` ${why}`));
  };

  /** A difference with a bar from the middle. */
  const share = (pair, change) => {
    const { make } = explorer;
    const none = Math.abs(change) < 1e-6;
    const part = pair.most > 0 ? Math.min(1, Math.abs(change) / pair.most) * 50 : 0;
    const style = `left:${change < 0 ? 50 - part : 50}%;width:${part}%`;
    return make(
      "span", { class: "explorer-share", "data-tone": explorer.tone(pair.data, change), "data-change": change, title: none ? null : `changes the difference by ${explorer.signed(change)}` },
      make("span", { class: none ? "explorer-none" : "" }, none ? "·" : explorer.signed(change)),
      make("span", { class: "explorer-bar", "aria-hidden": "true" }, none ? null : make("span", { style })),
    );
  };

  /** A document in a ranking. */
  explorer.row = (pair, document, run, side) => {
    const { make, name } = explorer;
    const id = name(document.id);
    const other = run === pair.a ? pair.b : pair.a;
    const [from, to] = [document.ranks[pair.a], document.ranks[pair.b]];
    const why = explorer.movement(from, to);
    const twice = pair.two && document.ranks[other] > 0;
    const button = make("button", { type: "button", class: "explorer-name", title: id.length > 40 ? explorer.cut(id, 600) : twice ? `show it in ${explorer.cut(name(pair.data.runs[other]), 60)}` : null }, make("bdi", {}, explorer.broken(explorer.cut(id, 120))));
    const counted = side === "b" || (pair.two && !to); // what a document brings stands once: where it ends up
    const add = document.adds[run];
    return make(
      "li",
      { class: `explorer-row${document.decides ? " explorer-decides" : ""}${document.grade !== null && document.grade >= pair.data.level ? " explorer-relevant" : ""}`, "data-doc": document.at, "data-far": document.ranks[run] > pair.data.depth },
      make("span", { class: "explorer-rank" }, String(document.ranks[run])),
      explorer.chip(pair.data, document.grade),
      button,
      pair.two ? badge(from, to, why) : null,
      make("span", { class: `explorer-add${add ? "" : " explorer-none"}`, title: `adds ${add} to ${pair.data.metric}` }, add ? explorer.written(add) : "·"),
      pair.two && counted ? share(pair, document.change) : pair.two ? make("span", { class: "explorer-share" }) : null,
      explorer.textOf(document.text, pair.words),
      rankscope.notes && !pair.data.teaching ? explorer.mine(pair, document) : null,
    );
  };

  const count = (number) => `${rankscope.counted(number, "more document")} not shown`;

  /** Rows of a ranking, with what is left out between them and the line that the metric looks no further than. */
  explorer.rows = (pair, run, side) => {
    const { make } = explorer;
    const { data } = pair;
    const there = pair.shown.filter((document) => document.ranks[run] > 0).sort((one, other) => one.ranks[run] - other.ranks[run]);
    const rows = [];
    let next = 1; // the first rank that no row stands for yet
    let lined = !data.cutoff;
    const line = () => {
      lined = true;
      rows.push(make("li", { class: "explorer-cutoff" }, make("span", {}, `${data.metric} looks no further`)));
    };
    const gap = (upTo) => {
      if (upTo >= next) rows.push(make("li", { class: "explorer-gap" }, count(upTo - next + 1)));
      next = Math.max(next, upTo + 1);
    };
    const reach = (rank) => {
      if (!lined && rank > data.cutoff) {
        gap(data.cutoff);
        line();
      }
      gap(rank - 1);
    };
    there.forEach((document) => {
      reach(document.ranks[run]);
      rows.push(explorer.row(pair, document, run, side));
      next = document.ranks[run] + 1;
    });
    const size = pair.query.n[run] || 0;
    if (data.cutoff && size > data.cutoff) reach(size + 1);
    else gap(size);
    if (!rows.length) rows.push(make("li", { class: "explorer-gap" }, "retrieved nothing for this query"));
    return rows;
  };

  /** The best ranking there is, of all judged documents: those shown by their names, the others by their grades. */
  explorer.best = (pair) => {
    const { make, name } = explorer;
    const { data } = pair;
    const rows = [];
    const room = Math.min(data.cutoff || data.depth, MOST);
    let left = 0;
    explorer.judged(data, pair.query).filter(([grade]) => grade > 0).forEach(([grade, many]) => {
      const at = (document) => document.ranks[pair.a] || Infinity; // what was not retrieved comes last
      const known = pair.documents.filter((document) => document.grade === grade).sort((one, other) => at(one) - at(other) || 0);
      left += many;
      for (let place = 0; place < many && rows.length < room; place += 1) {
        const document = known[place];
        const rank = rows.length + 1;
        const row = make("li", { class: `explorer-row explorer-ideal${grade >= data.level ? " explorer-relevant" : ""}` }, make("span", { class: "explorer-rank" }, String(rank)), explorer.chip(data, grade));
        const id = document && make("bdi", {}, explorer.broken(explorer.cut(name(document.id), 120)));
        if (document && pair.shown.includes(document)) {
          row.dataset.doc = document.at;
          row.append(make("button", { type: "button", class: "explorer-name" }, id), badge(document.ranks[pair.a], rank, `stands at rank ${document.ranks[pair.a]}`));
        } else if (document) {
          const deep = document.ranks[pair.a];
          row.append(make("span", { class: "explorer-name" }, id), deep ? badge(deep, rank, `stands at rank ${deep}`) : make("span", { class: "explorer-move explorer-unknown", title: "not retrieved" }, "missed"));
        } else row.append(make("span", { class: "explorer-quiet" }, `a document of grade ${grade}`), make("span", { class: "explorer-move explorer-unknown" }, "not shown"));
        rows.push(row);
      }
    });
    left -= rows.length;
    if (left > 0 && data.cutoff === rows.length) rows.push(make("li", { class: "explorer-cutoff" }, make("span", {}, `${data.metric} looks no further`)));
    if (left > 0) rows.push(make("li", { class: "explorer-gap" }, `${rankscope.count(left)} more of a grade above 0`));
    if (!rows.length) rows.push(make("li", { class: "explorer-gap" }, "no document of a grade above 0 is known"));
    return rows;
  };

  /** What the colours of grades mean. */
  explorer.legend = (data) => {
    const { make } = explorer;
    const grades = [...data.grades].filter((grade) => grade !== null).sort((one, other) => other - one);
    const few = grades.length > 7 ? [grades[0], grades[Math.floor(grades.length / 2)], grades[grades.length - 1]] : grades;
    return make("p", { class: "explorer-legend explorer-quiet" }, "grade ", few.map((grade) => explorer.chip(data, grade)), make("span", {}, explorer.chip(data, null), " not judged"), make("span", {}, `relevant from grade ${data.level}`));
  };
})();
