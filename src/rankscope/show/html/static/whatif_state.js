"use strict";
// The list one can rearrange, as plain values: every change gives a new state and leaves the old one as it was.
(function (rankscope) {
  const whatif = (rankscope.whatif = rankscope.whatif || {});

  /** What a document gains order by: nothing where it is unjudged or was pooled without a grade. */
  const worth = (doc) => Math.max(doc.grade ?? 0, 0);

  /**
   * The state a list starts in.
   *
   * list: {docs: [{id, text, grade}] by rank (grade null: unjudged), judged: [[grade, count], ...] of all documents in
   * the qrels, beyond: [[rank, grade], ...] below `docs`, size, others: [{id, text, grade}] not retrieved (may be left out)}.
   */
  whatif.begin = function (list) {
    const docs = list.docs.map((doc, i) => ({ key: `d${i}`, id: doc.id, text: doc.text || "", grade: doc.grade ?? null, start: i + 1 }));
    const left = new Map(list.judged.map(([grade, count]) => [grade, count]));
    const others = (list.others || []).filter((doc) => doc.grade !== null && doc.grade !== undefined);
    for (const grade of [...docs.map((doc) => doc.grade), ...(list.beyond || []).map((b) => b[1]), ...others.map((doc) => doc.grade)]) {
      if (grade !== null && left.get(grade) > 0) left.set(grade, left.get(grade) - 1);
    }
    const tray = others.map((doc, i) => ({ key: `o${i}`, id: doc.id, text: doc.text || "", grade: doc.grade, start: 0 }));
    return {
      docs,
      tray, // judged documents with a name that are not in the list
      nameless: [...left].filter(([, count]) => count > 0).sort((a, b) => b[0] - a[0]),
      beyond: (list.beyond || []).map((one) => [...one]).sort((a, b) => a[0] - b[0]),
      size: Math.max(list.size ?? docs.length, docs.length),
      made: 0, // documents given a name here
    };
  };

  /** What the metrics take: the grades by rank and all that is judged. */
  whatif.asList = function (state) {
    const count = new Map(state.nameless);
    const named = [...state.docs, ...state.tray].map((doc) => doc.grade).filter((grade) => grade !== null);
    for (const grade of [...named, ...state.beyond.map((b) => b[1])]) count.set(grade, (count.get(grade) || 0) + 1);
    return { grades: state.docs.map((doc) => doc.grade), judged: [...count], beyond: state.beyond, size: state.size };
  };

  /** The document of a key at another rank; those between make room. */
  whatif.moved = function (state, key, rank) {
    const docs = state.docs.filter((doc) => doc.key !== key);
    const doc = state.docs.find((one) => one.key === key);
    const at = Math.min(Math.max(rank, 1), state.docs.length) - 1;
    docs.splice(at, 0, doc);
    return { ...state, docs };
  };

  /** The document of a key with another grade, null for unjudged. */
  whatif.graded = (state, key, grade) => ({
    ...state,
    docs: state.docs.map((doc) => (doc.key === key ? { ...doc, grade } : doc)),
  });

  /** Without the document of a key: those below move up. It stays known where it is judged. */
  whatif.without = function (state, key) {
    const doc = state.docs.find((one) => one.key === key);
    return {
      ...state,
      docs: state.docs.filter((one) => one !== doc),
      tray: doc.grade === null ? state.tray : [...state.tray, doc],
      beyond: state.beyond.map(([rank, ...who]) => [rank - 1, ...who]),
      size: state.size - 1,
    };
  };

  /** What could be put into the list: each with a name for it, best grades first. */
  whatif.candidates = function (state) {
    const grade = (g) => (g < 0 ? `negative grade ${g}` : `grade ${g}`);
    const named = state.tray.map((doc) => ({ value: `tray ${doc.key}`, grade: doc.grade, label: `${whatif.idOf(doc, 40)} (${grade(doc.grade)})` }));
    const nameless = state.nameless.map(([g, n]) => ({ value: `nameless ${g}`, grade: g, label: `a document of ${grade(g)}, not retrieved (${n} left)` }));
    const below = state.beyond.map(([rank, g, id], i) => ({
      value: `beyond ${i}`, grade: g, rank, label: id === undefined ? `the document of ${grade(g)} at rank ${rank}` : `${whatif.idOf({ id }, 40)} (${grade(g)}), at rank ${rank}`,
    }));
    const all = [...named, ...below, ...nameless].sort((a, b) => b.grade - a.grade);
    return [...all, { value: "unjudged", grade: null, label: "an unjudged document" }];
  };

  /** With one of the `candidates` at a rank: those below move down. */
  whatif.including = function (state, candidate, rank) {
    const [kind, which] = candidate.split(" ");
    const next = { ...state, docs: [...state.docs], size: state.size + 1, made: state.made + 1 };
    let doc = { key: `n${next.made}`, id: `new ${next.made}`, text: "", grade: null, start: 0 };
    let below = Infinity; // where a document leaves a gap, those below it stay
    if (kind === "tray") {
      doc = state.tray.find((one) => one.key === which);
      next.tray = state.tray.filter((one) => one !== doc);
      next.made = state.made;
    } else if (kind === "nameless") {
      doc.grade = Number(which);
      next.nameless = state.nameless.map(([g, n]) => [g, g === doc.grade ? n - 1 : n]).filter(([, n]) => n > 0);
    } else if (kind === "beyond") {
      const [at, graded, id, text] = state.beyond[Number(which)];
      [below, doc.grade] = [at, graded];
      if (id !== undefined) doc = { ...doc, id, text: text || "", start: at };
      next.size = state.size;
    }
    next.beyond = state.beyond.filter(([r]) => r !== below).map(([r, ...who]) => [r < below ? r + 1 : r, ...who]);
    next.docs.splice(Math.min(Math.max(rank, 1), state.docs.length + 1) - 1, 0, doc);
    return next;
  };

  /** How a list is arranged, as part of an address: `d3!d1~2!n1` is the third, the first with grade 2, a new one of grade 1; "" as at the start. */
  whatif.encode = function (state, start) {
    const known = new Map([...start.docs, ...start.tray].map((doc) => [doc.key, doc.grade]));
    const said = (grade) => (grade === null ? "x" : String(grade));
    const parts = state.docs.map(({ key, grade }) => (!known.has(key) ? `n${said(grade)}` : known.get(key) === grade ? key : `${key}~${said(grade)}`));
    const text = parts.join("!");
    return text === start.docs.map((doc) => doc.key).join("!") ? "" : text;
  };

  /** The state that such a text tells; the start where it tells none. */
  whatif.decode = function (start, text) {
    const parts = text ? text.split("!").map((part) => /^(?:([do]\d{1,6})(?:~(x|-?\d{1,4}(?:\.\d{1,4})?))?|n(x|-?\d{1,4}(?:\.\d{1,4})?))$/.exec(part)) : [];
    if (!parts.length || parts.length > 500 || parts.includes(null)) return start;
    const grade = (said) => (said === "x" ? null : Number(said));
    let state = { ...start, docs: [] };
    const left = new Map([...start.docs, ...start.tray].map((doc) => [doc.key, doc]));
    for (const [, key, changed, fresh] of parts) {
      const doc = left.get(key);
      if (key && !doc) continue;
      left.delete(key);
      if (doc) state = { ...state, tray: state.tray.filter((one) => one !== doc), docs: [...state.docs, changed === undefined ? doc : { ...doc, grade: grade(changed) }] };
      else {
        const there = state.nameless.some(([one]) => one === grade(fresh));
        state = whatif.including(state, there ? `nameless ${fresh}` : "unjudged", state.docs.length + 1);
        if (!there) state = whatif.graded(state, state.docs.at(-1).key, grade(fresh));
      }
    }
    if (!state.docs.length) return start;
    const gone = [...left.values()].filter((doc) => start.docs.includes(doc) && doc.grade !== null);
    return { ...state, tray: [...state.tray, ...gone], size: state.docs.length };
  };

  /** Numbers from 0 to 1 that are the same in every browser. */
  function randomly(seed) {
    let a = seed * 2654435761;
    return function () {
      a = (a + 0x6d2b79f5) | 0;
      let t = Math.imul(a ^ (a >>> 15), 1 | a);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  /** The documents in another order: best, worst, reverse, or shuffled (the same for the same seed). */
  whatif.ordered = function (state, how, seed) {
    const docs = [...state.docs];
    if (how === "best") docs.sort((a, b) => worth(b) - worth(a));
    if (how === "worst") docs.sort((a, b) => worth(a) - worth(b));
    if (how === "reverse") docs.reverse();
    if (how === "shuffle") {
      const random = randomly(seed);
      for (let i = docs.length - 1; i > 0; i--) {
        const j = Math.floor(random() * (i + 1));
        [docs[i], docs[j]] = [docs[j], docs[i]];
      }
    }
    return { ...state, docs };
  };
})((window.rankscope = window.rankscope || {}));
