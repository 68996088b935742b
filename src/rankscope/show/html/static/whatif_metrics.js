"use strict";
// What the metrics give for a list of grades, taken apart as rankscope's `Terms` are. A copy of rankscope's own
// arithmetic, so that it runs in a page; a browser test holds both equal.
(function (rankscope) {
  const whatif = (rankscope.whatif = rankscope.whatif || {});

  const LARGEST = 1000; // above it 2^grade is no longer a useful number
  const EXPONENTIAL = "gain='exponential'";

  const discount = (rank) => 1 / Math.log2(rank + 1);
  const linear = (grade) => Math.max(grade, 0);
  const exponential = (grade) => 2 ** Math.max(grade, 0) - 1;
  const over = (part, whole) => (whole === 0 ? 0 : part / whole); // 0 out of 0 is 0

  /** The highest grade that anybody gave. */
  function topGrade(list) {
    const all = [...list.judged.map(([grade]) => grade), ...list.grades.filter((g) => g !== null)];
    return all.reduce((a, b) => Math.max(a, b), 0);
  }

  /** How many documents are relevant, retrieved or not. */
  function known(list, level) {
    return list.judged.reduce((n, [grade, count]) => n + (grade >= Math.max(level, 0) ? count : 0), 0);
  }

  /** What the first k documents of the best ranking gain: all judged documents, sorted by gain, not by grade. */
  function idealGain(list, gain, k) {
    const best = list.judged.filter(([grade]) => grade >= 0).map(([grade, count]) => [gain(grade), count]);
    best.sort((a, b) => b[0] - a[0]);
    let sum = 0;
    let rank = 0;
    for (const [worth, count] of best) {
      for (let i = 0; i < count && rank < k; i++) sum += worth * discount(++rank);
    }
    return sum;
  }

  /** Every position with all that any factor needs. No value depends on what stands below it. */
  function cellsOf(list, o) {
    const places = list.grades.map((grade, i) => [i + 1, grade]);
    const cells = places.concat([...list.beyond].sort((a, b) => a[0] - b[0]));
    let found = 0;
    let reaches = 1;
    return cells.map(([rank, grade]) => {
      const judged = grade !== null && grade >= 0;
      const relevant = judged && grade >= o.level ? 1 : 0;
      found += relevant;
      const satisfied = judged ? exponential(grade) / 2 ** o.maxGrade : 0;
      const cell = {
        rank, grade, relevant, found, satisfied, reaches,
        first: relevant && found === 1 ? 1 : 0,
        linear: judged ? linear(grade) : 0,
        exponential: judged ? exponential(grade) : 0,
        looks: (1 - o.p) * o.p ** (rank - 1),
      };
      reaches *= 1 - satisfied;
      return cell;
    });
  }

  const RELEVANT = ["relevant", (c) => c.relevant];
  const DISCOUNT = ["discount", (c) => discount(c.rank)];
  const BY_RANK = ["1/rank", (c) => 1 / c.rank];
  const FIRST = [["first relevant", (c) => c.first], BY_RANK];
  const HITS = [RELEVANT, ["precision so far", (c) => c.found / c.rank]];
  const LINEAR = [["gain", (c) => c.linear], DISCOUNT];
  const EXPONENTIALLY = [["gain", (c) => c.exponential], DISCOUNT];
  const SATISFIED = [["satisfied here", (c) => c.satisfied], ["reaches here", (c) => c.reaches], BY_RANK];

  // key, class, whether it is cut at k, factors, what it is out of (and in words), parameters beyond `level`
  const METRICS = [
    { key: "P", cls: "P", cut: true, factors: [RELEVANT], worth: (l, o) => o.k, outOf: "k", binary: true },
    { key: "R", cls: "R", cut: true, factors: [RELEVANT], worth: (l, o) => known(l, o.level), outOf: "known relevant", binary: true },
    { key: "RR", cls: "RR", cut: false, factors: FIRST, binary: true },
    { key: "RR@k", cls: "RR", cut: true, factors: FIRST, binary: true },
    { key: "AP", cls: "AP", cut: false, factors: HITS, worth: (l, o) => known(l, o.level), outOf: "known relevant", binary: true },
    { key: "AP@k", cls: "AP", cut: true, factors: HITS, worth: (l, o) => known(l, o.level), outOf: "known relevant", binary: true },
    { key: "DCG", cls: "DCG", cut: true, factors: LINEAR },
    { key: "DCGexp", cls: "DCG", cut: true, factors: EXPONENTIALLY, more: () => EXPONENTIAL, grows: true },
    { key: "nDCG", cls: "nDCG", cut: true, factors: LINEAR, worth: (l, o) => idealGain(l, linear, o.k), outOf: "DCG of the ideal ranking" },
    { key: "nDCGexp", cls: "nDCG", cut: true, factors: EXPONENTIALLY, worth: (l, o) => idealGain(l, exponential, o.k), outOf: "DCG of the ideal ranking", more: () => EXPONENTIAL, grows: true },
    { key: "ERR", cls: "ERR", cut: true, factors: SATISFIED, more: (o) => (o.maxGrade === 4 ? "" : `max_grade=${o.maxGrade}`), grows: true },
    { key: "RBP", cls: "RBP", cut: false, factors: [RELEVANT, ["looks here", (c) => c.looks]], more: (o) => (o.p === 0.8 ? "" : `p=${o.p}`), binary: true },
  ];

  /** The options with what was left out: k is the length of the list, relevant is grade 1, ERR's scale ends at 4 or higher. */
  function complete(list, options) {
    const o = { k: Math.max(list.size || list.grades.length, 1), level: 1, p: 0.8, ...options };
    if (o.maxGrade === undefined || o.maxGrade === null) o.maxGrade = Math.max(4, topGrade(list));
    return o;
  }

  /** How rankscope spells the metric. */
  function spelling(metric, o) {
    const said = [metric.more ? metric.more(o) : "", metric.binary && o.level !== 1 ? `level=${o.level}` : ""];
    const inside = said.filter(Boolean).join(", ");
    return metric.cls + (inside ? `(${inside})` : "") + (metric.cut ? `@${o.k}` : "");
  }

  /** One metric taken apart: its rows add up to its value. */
  function taken(metric, cells, list, o) {
    const worth = metric.worth ? metric.worth(list, o) : 1;
    let soFar = 0;
    const rows = cells
      .filter((cell) => !metric.cut || cell.rank <= o.k)
      .map((cell) => {
        const factors = metric.factors.map(([, of]) => of(cell));
        const earned = factors.reduce((a, b) => a * b, 1);
        soFar += earned;
        const place = { rank: cell.rank, grade: cell.grade, factors, earned };
        return { ...place, adds: over(earned, worth), soFar: over(soFar, worth) };
      });
    return { rows, worth, value: over(soFar, worth) };
  }

  /**
   * The metrics of a list, each with its value and what every position adds.
   *
   * list: {grades: [grade or null (unjudged), by rank], judged: [[grade, count], ...] of all documents in the qrels,
   * beyond: [[rank, grade], ...] of those that stand below `grades`, size: how many were retrieved}.
   * options: {k, level, p, maxGrade}. Relevant is a grade of at least `level`; a negative grade counts as 0.
   * A `value` is null where a grade is too high for the metric: above `maxGrade`, or above 1000 under exponential gain.
   */
  whatif.values = function (list, options) {
    const o = complete(list, options);
    const top = topGrade(list);
    const cells = cellsOf(list, o);
    return METRICS.map((metric) => {
      const refused = (metric.grows && top > LARGEST) || (metric.cls === "ERR" && top > o.maxGrade);
      const apart = refused ? { rows: [], worth: 0, value: null } : taken(metric, cells, list, o);
      return {
        key: metric.key,
        cls: metric.cls,
        cut: metric.cut,
        spelling: spelling(metric, o),
        factors: metric.factors.map(([name]) => name),
        outOf: metric.outOf || "",
        ...apart,
      };
    });
  };

  whatif.complete = complete;
  whatif.topGrade = topGrade;
  whatif.known = known;
})((window.rankscope = window.rankscope || {}));
