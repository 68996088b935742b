/* What happened in a query, in sentences with the numbers: which documents moved, and what each move brought. */
(() => {
  "use strict";
  const explorer = (window.rankscope.explorer = window.rankscope.explorer || {});
  const TOLD = 3; // documents named in the sentence
  const SMALL = 0.02; // part of all that changed below which a document is not worth naming

  /** The pair of rankings, decoded: the documents, what each adds to the difference, and what none of those shown adds. */
  explorer.pair = (data, query, a, b) => {
    const two = data.runs.length > 1 && a !== b; // a run is not set against itself: it stands beside the ideal ranking
    const documents = explorer.documents(data, query);
    const within = (document, run) => document.ranks[run] > 0 && document.ranks[run] <= data.depth;
    const shown = documents.filter((document) => within(document, a) || (two && within(document, b)));
    documents.forEach((document) => (document.change = two ? document.adds[b] - document.adds[a] : 0));
    const hidden = documents.filter((document) => !shown.includes(document));
    const rest = explorer.restOf(data, query, documents, b) - explorer.restOf(data, query, documents, a) + hidden.reduce((sum, document) => sum + document.change, 0);
    const moved = shown.reduce((sum, document) => sum + Math.abs(document.change), 0);
    const decisive = [...shown]
      .filter((document) => Math.abs(document.change) > Math.max(1e-6, SMALL * moved))
      .sort((one, other) => Math.abs(other.change) - Math.abs(one.change))
      .slice(0, TOLD);
    decisive.forEach((document) => (document.decides = true));
    return { data, query, a, b, two, documents, shown, decisive, rest: two ? rest : 0, difference: explorer.value(query, b) - explorer.value(query, a) };
  };

  /** How a document moves, in words. */
  explorer.movement = (from, to) => {
    if (!from && !to) return "in neither ranking";
    if (!from) return `enters at rank ${to}`;
    if (!to) return `is gone, from rank ${from}`;
    if (from === to) return `stays at rank ${to}`;
    return `${from > to ? "moves" : "falls"} from rank ${from} to ${to}`;
  };

  explorer.graded = (grade) => (grade === null ? "not judged" : `grade ${grade}`);

  /** What the difference is, as the start of a sentence. */
  const outcome = (pair, bold) => {
    const { data, difference, a, b } = pair;
    const [one, two] = [explorer.value(pair.query, a), explorer.value(pair.query, b)];
    const [base, rival, metric] = [bold(data.runs[a]), bold(data.runs[b]), data.metric || "the metric"];
    if (Number.isNaN(one) && Number.isNaN(two)) return [`${metric} has no value for this query under either run`];
    if (Number.isNaN(difference)) return [`${metric} has no value here under `, Number.isNaN(one) ? base : rival];
    if (Math.abs(difference) < 1e-6) return [rival, " and ", base, ` are equal here, at ${explorer.written(two)}`];
    const size = explorer.written(Math.abs(difference));
    if (data.way > 0) return [rival, ` ${difference > 0 ? "gains" : "loses"} ${size} here`];
    const side = difference > 0 ? "higher" : "lower";
    return [rival, ` is ${size} ${side} here`, data.way < 0 ? `, which is ${difference < 0 ? "better" : "worse"}` : ""];
  };

  /** The sentence on two runs. `named(document)` makes the element of a document's name. */
  const contrast = (pair, bold, named) => {
    const parts = outcome(pair, bold);
    const clauses = pair.decisive.map((document) => [
      named(document),
      ` (${explorer.graded(document.grade)}) ${explorer.movement(document.ranks[pair.a], document.ranks[pair.b])} (${explorer.signed(document.change)})`,
    ]);
    const others = pair.shown.filter((document) => !document.decides && Math.abs(document.change) > 1e-6);
    const sum = others.reduce((sofar, document) => sofar + document.change, 0);
    if (others.length) clauses.push([`${rankscope.counted(others.length, "other document")} (${explorer.signed(sum)})`]);
    if (Math.abs(pair.rest) >= 5e-6) clauses.push([`what is not shown (${explorer.signed(pair.rest)})`]);
    clauses.forEach((clause, at) => parts.push(at ? "; " : ": ", ...clause));
    return [...parts, "."];
  };

  /** What each run finds of what is known. */
  const finds = (pair) => {
    const { data, query } = pair;
    const known = explorer.known(data, query);
    if (!query.j.length) return "No document is judged for this query.";
    if (!known) return "No document of this query is judged relevant.";
    const runs = pair.two ? [pair.a, pair.b] : [pair.a];
    const found = runs.map((run) => {
      const ranks = explorer.relevantRanks(data, query, run);
      const above = ranks.filter((rank) => rank <= data.top).length;
      const first = ranks.length ? `, the first at rank ${ranks[0]}` : "";
      return `${above} in the top ${data.top} of ${explorer.name(data.runs[run])}${first}`;
    });
    const unjudged = runs.map((run) => query.u[run] || 0);
    const open = Math.max(...unjudged) ? ` Unjudged in the top ${data.pool}: ${unjudged.join(" and ")}.` : "";
    return `${rankscope.counted(known, "relevant document is", "relevant documents are")} known: ${found.join("; ")}.${open}`;
  };

  /** The story of a query as elements. */
  explorer.story = (pair, named) => {
    const { make, name, cut } = explorer;
    const bold = (run) => make("strong", {}, make("bdi", {}, cut(name(run), 60)));
    const one = explorer.value(pair.query, pair.a);
    const alone = Number.isNaN(one)
      ? [`${pair.data.metric} has no value for this query.`]
      : [bold(pair.data.runs[pair.a] || ""), ` reaches ${explorer.written(one)} here.`];
    if (pair.data.runs.length > 1) alone.push(" The same run is selected on both sides: select another one to compare it with.");
    return make(
      "div", { class: "explorer-story" },
      make("p", {}, pair.two ? contrast(pair, bold, named) : alone),
      make("p", { class: "explorer-quiet" }, finds(pair)),
    );
  };
})();
