"use strict";
// The metrics beside the list, and one of them taken apart, position by position.
(function (rankscope) {
  const whatif = (rankscope.whatif = rankscope.whatif || {});
  const MOST = 100; // positions of a taken-apart metric that are shown

  const direction = (change) => (change > 1e-12 ? "better" : change < -1e-12 ? "worse" : "same");
  const ARROWS = { better: "▲", worse: "▼", same: "" };

  /** Metrics that say the same as another while the list ends at the cutoff. */
  const doubled = (found, list, k) => (found.key === "RR@k" || found.key === "AP@k") && list.size <= k;

  /** A change: sign, number, arrow and colour, so that none of them is needed alone. */
  function changed(change) {
    const tone = change === null ? "same" : direction(change);
    const text = change !== null && direction(change) === "same" ? "0" : rankscope.cell(change, true);
    return whatif.make("td", { class: `whatif-change whatif-${tone}` }, text, whatif.make("span", { "aria-hidden": "true" }, ` ${ARROWS[tone]}`));
  }

  /**
   * The table of metrics: now, at the start, change. `chosen` is the key of the one taken apart, `choose(key)` takes another.
   * now, start: {list, values}; o: the options of the metrics.
   */
  whatif.metricsTable = function (now, start, o, chosen, choose) {
    const make = whatif.make;
    const lines = now.values
      .map((found, i) => [found, start.values[i]])
      .filter(([found]) => !doubled(found, now.list, o.k) || !doubled(found, start.list, o.k))
      .map(([found, was]) => {
        const [name, gain] = whatif.nameOf(found, o.k);
        const change = found.value === null || was.value === null ? null : found.value - was.value;
        const label = make("button", { type: "button", "aria-pressed": String(found.key === chosen), title: found.spelling, "data-metric": found.key, onclick: () => choose(found.key) }, name);
        if (gain) label.append(make("small", {}, ` ${gain}`));
        return make(
          "tr",
          { class: found.key === chosen ? "whatif-chosen" : "", "data-metric": found.key },
          make("th", { scope: "row" }, label),
          make("td", { class: "whatif-now" }, rankscope.cell(found.value)),
          make("td", { class: "whatif-start" }, rankscope.cell(was.value)),
          changed(change),
        );
      });
    const heads = ["metric", "now", "start", "change"].map((head) => make("th", { scope: "col" }, head));
    return make("table", { class: "whatif-metrics" }, make("caption", { class: "unseen" }, "The metrics of this list"), make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...lines));
  };

  /** A number as it is shown in the arithmetic: whole ones without decimals. */
  const plain = (value) => (Number.isInteger(value) ? String(value) : whatif.shown(value));

  /** One position of a metric: rank, document, grade, factors, what it adds, so far. */
  function position(row, doc) {
    const make = whatif.make;
    const cells = [
      make("th", { scope: "row" }, String(row.rank)),
      make("td", { class: "whatif-name" }, make("bdi", {}, doc ? whatif.idOf(doc, 600) : "below")),
      make("td", {}, whatif.gradeText(row.grade)),
      ...row.factors.map((factor) => make("td", {}, plain(factor))),
      make("td", {}, row.adds ? rankscope.cell(row.adds) : "0"),
      make("td", {}, rankscope.cell(row.soFar)),
    ];
    return make("tr", { class: row.earned ? "" : "whatif-nothing" }, ...cells);
  }

  /** What the sum is: earned, and divided by what the query is worth. */
  function total(found) {
    const earned = found.rows.reduce((sum, row) => sum + row.earned, 0);
    if (!found.outOf) return `The rows add up to ${whatif.shown(found.value)}.`;
    const share = `${plain(earned)} / ${plain(found.worth)} = ${whatif.shown(found.value)}`;
    return `The rows add up to ${share}: earned, out of ${found.outOf}.`;
  }

  /** The metric taken apart: what it is, what it is blind to, and a row a position; the rows add up to its value. */
  whatif.takenApart = function (found, docs, list, o) {
    const make = whatif.make;
    const [name, gain] = whatif.nameOf(found, o.k);
    const title = make("p", { class: "whatif-title" }, `${name}${gain ? `, ${gain} gain` : ""} = ${whatif.shown(found.value)}`);
    const code = make("p", { class: "whatif-spelling" }, "in rankscope: ", make("code", {}, found.spelling));
    const facts = make("dl", {}, ...whatif.about(found, list, o).flatMap(([term, text]) => [make("dt", {}, term), make("dd", {}, text)]));
    const part = make("section", { class: "whatif-apart", "aria-label": `${name} taken apart` }, title, facts, code);
    if (found.value === null) {
      part.append(make("p", {}, "No value: a grade is too high for this metric."));
      return part;
    }
    const heads = ["rank", "document", "grade", ...found.factors.map((factor, i) => (i ? `× ${factor}` : factor)), found.outOf ? `adds (÷ ${plain(found.worth)})` : "adds", "so far"];
    const rows = found.rows.slice(0, MOST).map((row) => position(row, docs[row.rank - 1]));
    const table = make("table", { class: "whatif-positions" }, make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))), make("tbody", {}, ...rows));
    part.append(make("div", { class: "whatif-scroll", tabindex: "0", role: "region", "aria-label": `${name}, position by position` }, table));
    part.append(make("p", { class: "whatif-sum" }, total(found)));
    if (found.rows.length > MOST) part.append(make("p", { class: "quiet" }, `The first ${MOST} of ${found.rows.length} positions.`));
    return part;
  };
})((window.rankscope = window.rankscope || {}));
