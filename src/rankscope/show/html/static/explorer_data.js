/* What the explorer knows: the block as written into the page, decoded where it is needed, and how its parts are written. */
(() => {
  "use strict";
  const rankscope = (window.rankscope = window.rankscope || {});
  const explorer = (rankscope.explorer = rankscope.explorer || {});

  const number = (value) => (value === null || value === undefined ? NaN : value);

  /** The block from its JSON. Queries stay as they are: only the one that is open is decoded. */
  explorer.read = (json) => {
    const data = JSON.parse(json);
    data.betters ??= data.metrics.map((_, at) => (at ? "neither" : data.better));
    data.cutoffs ??= data.metrics.map((_, at) => (at ? null : data.cutoff));
    data.pool = data.cutoff || data.depth; // in which top documents without a grade were counted
    explorer.choose(data, 0);
    data.place = new Map(data.queries.map((query, at) => [explorer.whole(query.i), at]));
    return data;
  };

  /** The metric that list, order, filter and shares are of. */
  explorer.choose = (data, metric) => {
    data.chosen = explorer.chosen = metric;
    data.metric = data.metrics[metric];
    data.way = { higher: 1, lower: -1, neither: 0 }[data.betters[metric] ?? data.better];
    data.cutoff = data.cutoffs[metric] ?? null;
    data.top = data.cutoff || Math.min(10, data.depth); // what "its first k" means where the metric has no cutoff
  };

  /** A query's value of a metric under a run, of the chosen one unless another is named; NaN where there is none. */
  explorer.value = (query, run, metric = explorer.chosen) => number((query.v[run] || [])[metric]);

  /** Values of a flat list by twos. */
  const pairs = (flat) => {
    const found = [];
    for (let at = 0; at + 1 < flat.length; at += 2) found.push([flat[at], flat[at + 1]]);
    return found;
  };

  /** The documents of a query, in the order of the block. */
  explorer.documents = (data, query) => {
    const documents = query.d.map((id, at) => ({
      at,
      id,
      grade: data.grades[query.g[at]],
      text: query.x ? data.texts[query.x[at]] : "",
      ranks: data.runs.map((_, run) => (query.r[run] || [])[at] || 0),
      adds: data.runs.map(() => 0),
    }));
    if (data.chosen) worked(data, query, documents);
    else query.a.forEach((adds, run) => pairs(adds).forEach(([at, add]) => (documents[at].adds[run] = number(add))));
    return documents;
  };

  /** What documents add to a metric other than the leading one: worked out here, and kept only where it sums to the value that the page has. */
  const worked = (data, query, documents) => {
    const { whatif } = rankscope;
    if (!whatif || !whatif.values) return;
    data.runs.forEach((_, run) => {
      const list = explorer.whatifList({ data, query, documents }, run);
      const grades = list.judged.map(([grade]) => grade);
      const o = { k: list.k || 10, level: list.level, p: list.p ?? 0.8, maxGrade: list.maxGrade ?? Math.max(4, ...grades) };
      const found = whatif.values(whatif.asList(whatif.begin(list)), o).find((one) => one.spelling === data.metric);
      const value = explorer.value(query, run);
      if (!found || found.value === null || !(Math.abs(found.value - value) <= 1e-5 * Math.max(1, Math.abs(value)))) return;
      const adds = new Map(found.rows.map((row) => [row.rank, row.adds]));
      documents.forEach((document) => (document.adds[run] = adds.get(document.ranks[run]) || 0));
    });
  };

  /** What a run earns that no document of the page adds. */
  explorer.restOf = (data, query, documents, run) => {
    if (!data.chosen) return query.s[run] || 0;
    const value = explorer.value(query, run);
    return Number.isNaN(value) ? 0 : value - documents.reduce((sum, document) => sum + document.adds[run], 0);
  };

  /** Grades of all judged documents, best first, each with its count. */
  explorer.judged = (data, query) =>
    pairs(query.j)
      .map(([code, count]) => [data.grades[code], count])
      .sort((one, other) => other[0] - one[0]);

  /** Relevant documents that no ranking shows: id, grade and the rank in a run, 0 where it did not retrieve them. */
  explorer.others = (data, query, run) => {
    const ranks = new Map(pairs((query.or || [])[run] || []));
    return (query.o || []).map((id, at) => ({ id, grade: data.grades[query.og[at]], rank: ranks.get(at) || 0 }));
  };

  /** Ranks and grades of what stands below the shown part of a run's ranking, with the id where it is known. */
  explorer.beyond = (data, query, run) => [
    ...pairs(query.b[run] || []).map(([rank, code]) => [rank, data.grades[code]]),
    ...explorer.others(data, query, run).filter(({ rank }) => rank).map(({ id, grade, rank }) => [rank, grade, id]),
  ];

  /** The ranks of all relevant documents that a run retrieved, best first. */
  explorer.relevantRanks = (data, query, run) => {
    const ranks = new Set(); // a document may be told twice: shown for another run, and below what is shown of this one
    (query.r[run] || []).forEach((rank, at) => {
      const grade = data.grades[query.g[at]];
      if (rank > 0 && grade !== null && grade >= data.level) ranks.add(rank);
    });
    explorer.beyond(data, query, run).forEach(([rank, grade]) => grade >= data.level && ranks.add(rank));
    return [...ranks].sort((one, other) => one - other);
  };

  /** How many relevant documents are known. */
  explorer.known = (data, query) =>
    explorer.judged(data, query).reduce((sum, [grade, count]) => sum + (grade >= data.level ? count : 0), 0);

  /** Whether one of two runs has a relevant document in its first k, and the other none. */
  explorer.flips = (data, query, a, b) => {
    const any = (run) => (explorer.relevantRanks(data, query, run)[0] || Infinity) <= data.top;
    return any(a) !== any(b);
  };

  // the data of the page have six digits: less than these is rounding
  const settled = (value) => (Math.abs(value) < 1e-6 ? 0 : value);

  /** A value as the sentences of the page write it: 0.512, or a dash. */
  explorer.written = (value) => rankscope.number(settled(value));

  /** A difference as it is written: with its sign. */
  explorer.signed = (value) => rankscope.number(settled(value), { sign: true });

  /** better, worse, or same: which way a difference goes; changed where the metric has no better end. */
  explorer.tone = (data, difference) => {
    if (!Number.isFinite(difference) || Math.abs(difference) < 1e-6) return "same";
    return data.way === 0 ? "changed" : difference * data.way > 0 ? "better" : "worse";
  };

  /** A name with places where it may break: after its dots and dashes. */
  explorer.broken = (name) => name.split(/(?<=[._/:#=-])(?=[^._/:#=-])/).flatMap((part, at) => (at ? [document.createElement("wbr"), part] : [part]));

  // how texts and ids are written, here as in "What if?"
  for (const way of ["whole", "plain", "name", "cut"]) explorer[way] = rankscope[way];

  /** The fragment that opens a query; with runs, where they are not the first two. */
  explorer.fragment = (data, id, a, b) => {
    const metric = data.chosen ? `&m=${encodeURIComponent(explorer.whole(data.metric))}` : "";
    const part = (text) => encodeURIComponent(explorer.whole(text));
    const runs = data.runs.length > 1 && !(a === 0 && b === 1) ? `&a=${part(data.runs[a])}&b=${part(data.runs[b])}` : "";
    return `#q=${part(id)}${runs}${metric}`;
  };

  /** What a fragment asks for: {q, a, b, m, w, l}, of each the first; null where it asks for no query. */
  explorer.asked = (hash) => {
    if (!/^#q=/.test(hash)) return null;
    const found = {};
    hash.slice(1).split("&").forEach((part) => {
      const [key, ...rest] = part.split("=");
      if (!["q", "a", "b", "m", "w", "l"].includes(key) || key in found) return;
      try {
        found[key] = decodeURIComponent(rest.join("="));
      } catch (error) {
        found[key] = rest.join("="); // typed by hand: as it stands
      }
    });
    return found;
  };

  /** An element: its attributes, then its children; strings become text, never markup. */
  explorer.make = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    Object.entries(attributes).forEach(([key, value]) => {
      if (value === undefined || value === null || value === false) return;
      if (key === "on") Object.entries(value).forEach(([event, act]) => made.addEventListener(event, act));
      else made.setAttribute(key, value === true ? "" : String(value));
    });
    made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
    return made;
  };
})();
