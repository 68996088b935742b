"use strict";
// What the what-if mode says: names, formulas, what a metric is blind to, and why one did not move.
(function (rankscope) {
  const whatif = (rankscope.whatif = rankscope.whatif || {});

  // formulas as in rankscope's catalogue; a test holds them equal
  whatif.FORMULAS = {
    P: "relevant in the top k / k",
    R: "relevant in the top k / known relevant",
    RR: "1 / rank of the first relevant",
    AP: "sum over relevant documents of (precision at their rank) / known relevant",
    DCG: "sum of gain(grade) · discount(rank)",
    nDCG: "DCG / DCG of the ideal ranking",
    ERR: "sum over ranks of (1/rank) · satisfied here · not satisfied before, satisfied = (2^grade - 1) / 2^max_grade",
    RBP: "(1 - p) · sum of gain · p^(rank - 1)",
  };

  const BLIND = {
    P: "the order within the top k, grades beyond relevant or not, and everything below rank k",
    R: "the order within the top k, grades beyond relevant or not, and how much had to be read",
    RR: "everything below the first relevant document, and grades beyond relevant or not",
    AP: "grades: a document is relevant or it is not",
    DCG: "how much there was to find: it is a sum, not a share, so queries are not comparable",
    nDCG: "everything below rank k, and how much there is to find: one good document or fifty",
    ERR: "relevant documents that are missing; and nearly so to everything below a very good one",
    RBP: "relevant documents that are missing, and grades beyond relevant or not",
  };

  const GAINS = { DCG: "linear", DCGexp: "exponential", nDCG: "linear", nDCGexp: "exponential" };

  /** A number in a sentence: four decimals, as in every table of rankscope. */
  whatif.shown = (value) => rankscope.number(value, { digits: 4 });

  /** A grade as it is shown; a question mark for an unjudged document. */
  whatif.gradeText = (grade) => (grade === null ? "?" : String(grade));

  /** The name of a metric in the table: `nDCG@5` with its gain as a second word. */
  whatif.nameOf = (found, k) => [found.cls + (found.cut ? `@${k}` : ""), GAINS[found.key] || ""];

  /** The same in one piece, for sentences. */
  whatif.fullName = function (found, k) {
    const [name, gain] = whatif.nameOf(found, k);
    return gain === "exponential" ? `${name} (${gain})` : name;
  };

  /** The grades of the ideal ranking, as far as the cutoff; a long one is cut. */
  function idealOf(list, k) {
    const best = list.judged.filter(([grade]) => grade > 0).sort((a, b) => b[0] - a[0]);
    const grades = best.flatMap(([grade, count]) => Array(Math.min(count, k)).fill(grade)).slice(0, k);
    const few = grades.slice(0, 20).join(" ") + (grades.length > 20 ? " …" : "");
    return grades.length ? `grades ${few}: all judged documents, best first, down to rank ${k}` : "nothing: no judged document has a grade above 0";
  }

  /** What one metric is, in sentences: [label, text] each. */
  whatif.about = function (found, list, o) {
    const said = [["is", whatif.FORMULAS[found.cls]]];
    if (GAINS[found.key] === "exponential") said.push(["gain", "2^grade − 1: the top grade outweighs the others"]);
    if (GAINS[found.key] === "linear") said.push(["gain", "the grade itself"]);
    if (GAINS[found.key]) said.push(["discount", "1 / log2(rank + 1)"]);
    if (found.cls === "nDCG") said.push(["ideal", idealOf(list, o.k)]);
    if (found.cls === "ERR") said.push(["scale", `max_grade = ${o.maxGrade}, the top of the scale, not the best grade of the query`]);
    if (found.cls === "RBP") said.push(["reader", `goes on to the next document with chance p = ${o.p}`]);
    said.push(["blind to", BLIND[found.cls]]);
    return said;
  };

  /** What to say where the metric that leads the page is none of those here, or has another value there; "" where both agree. */
  whatif.other = function (list, values) {
    const there = list.value;
    if (!list.metric || there === undefined || Number.isNaN(there)) return "";
    const found = values.find((one) => one.spelling === list.metric);
    if (!found) return `The page has ${whatif.shown(there)} for ${list.metric}, a metric that cannot be tried here.`;
    if (found.value !== null && Math.abs(found.value - there) <= 1e-5 * Math.max(1, Math.abs(there))) return ""; // it is written with six digits
    return `Here ${list.metric} starts at ${whatif.shown(found.value)}, and the page has ${whatif.shown(there)}: its conventions (ties, ideal, queries without relevant documents) differ from those used here.`;
  };

  const same = (a, b) => (a === null || b === null ? a === b : Math.abs(a - b) < 1e-12);

  /** Names joined as in speech: a, b and c. */
  function joined(names) {
    return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
  }

  /** Ranks of relevant documents. */
  const relevantRanks = (list, level) =>
    list.grades.flatMap((grade, i) => (grade !== null && grade >= Math.max(level, 0) ? [i + 1] : []));

  /**
   * One sentence on metrics that stood still while others moved, with the reason; "" where there is nothing to say.
   *
   * before, after: {list, values} on both sides of one change; o: the options of the metrics.
   */
  whatif.stood = function (before, after, o) {
    const still = after.values.filter((found, i) => same(found.value, before.values[i].value));
    const stood = new Set(still.map((found) => found.key));
    const names = (keys) => joined(after.values.filter((found) => keys.includes(found.key) && stood.has(found.key)).map((found) => whatif.fullName(found, o.k)));
    const ranks = [relevantRanks(before.list, o.level), relevantRanks(after.list, o.level)];
    const alike = String(ranks[0]) === String(ranks[1]);
    if (still.length === after.values.length) return "No metric moved: every rank still earns what it did.";
    if (alike && stood.has("P") && !stood.has("nDCG")) {
      const blind = ["P", "R", "RR", "AP", "RBP"];
      return `${names(blind)} did not move: the same ranks hold relevant documents, and these metrics ignore grades.`;
    }
    const cut = ["P", "R", "DCG", "DCGexp", "nDCG", "nDCGexp", "ERR"];
    if (cut.every((key) => stood.has(key))) return `${names(cut)} did not move: they see nothing below rank ${o.k}.`;
    const count = ranks.map((all) => all.filter((rank) => rank <= o.k).length);
    if (stood.has("P") && stood.has("R") && count[0] === count[1]) {
      const many = count[0] === 1 ? "1 relevant document" : `${count[0] || "no"} relevant documents`;
      return `${names(["P", "R"])} did not move: the top ${o.k} still hold${o.k === 1 ? "s" : ""} ${many}, in whatever order.`;
    }
    const first = ranks.map((all) => all[0]);
    if (stood.has("RR") && first[0] === first[1] && first[0]) return `RR did not move: the first relevant document is still at rank ${first[0]}.`;
    if (stood.has("RR") && !first[0] && !first[1]) return "RR did not move: no document of the list is relevant.";
    return "";
  };

  whatif.same = same;
})((window.rankscope = window.rankscope || {}));
