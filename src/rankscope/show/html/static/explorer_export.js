/* What the explorer shows, as files: the listed queries and the documents of a query, as CSV. */
(() => {
  "use strict";
  const explorer = (window.rankscope.explorer = window.rankscope.explorer || {});

  /** Saves rows as NAME.csv, as every table of the page. */
  const save = (name, heads, rows) => {
    const told = rows.map((row) => row.map((value) => (value === undefined || Number.isNaN(value) ? null : value)));
    window.rankscope.saveRows("csv", name, heads.map((header) => ({ header })), told);
  };

  const difference = (one, other) => (Number.isNaN(other - one) ? NaN : Number((other - one).toPrecision(6)));

  /** Queries at these places: id, text, a column for each run and metric, the difference of the two chosen runs. */
  explorer.saveQueries = (data, places, { a, b }) => {
    const columns = data.runs.flatMap((run, at) => data.metrics.map((metric, by) => [`${run} ${metric}`, at, by]));
    const two = data.runs.length > 1;
    const last = two ? [`${data.runs[b]} - ${data.runs[a]} ${data.metric}`] : [];
    const rows = places.map((place) => {
      const query = data.queries[place];
      const values = columns.map(([, run, metric]) => explorer.value(query, run, metric));
      const change = two ? [difference(explorer.value(query, a), explorer.value(query, b))] : [];
      return [query.i, query.t, ...values, ...change];
    });
    save("queries", ["query_id", "text", ...columns.map(([head]) => head), ...last], rows);
  };

  /** The documents of a query that are shown: grade, ranks, what each adds, and its text. */
  explorer.saveDocuments = (pair) => {
    const { data, query, two } = pair;
    const runs = two ? [pair.a, pair.b] : [pair.a];
    const heads = ["query_id", "doc_id", "grade", ...runs.map((run) => `rank ${data.runs[run]}`), ...runs.map((run) => `adds ${data.runs[run]}`)];
    const rows = pair.shown.map((document) => [
      query.i, document.id, document.grade,
      ...runs.map((run) => document.ranks[run] || null), ...runs.map((run) => document.adds[run]),
      ...(two ? [Number(document.change.toPrecision(6))] : []), document.text,
    ]);
    const name = query.i.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, 60) || "query";
    save(`documents-${name}`, [...heads, ...(two ? ["to the difference"] : []), "text"], rows);
  };
})();
