// Notes and grades of the reader: kept in the browser where it allows that, saved to a file, read from one.
(() => {
  "use strict";
  const rankscope = window.rankscope;
  const SCHEMA = "rankscope/notes/1";
  const KEY = `rankscope-notes ${location.pathname} ${document.title}`;
  const queries = new Map(); // query -> note
  const documents = new Map(); // query -> document -> {grade, note}
  const listeners = [];
  let unkept = false;
  // who leaves notes that no browser keeps is asked first
  addEventListener("beforeunload", (event) => unkept && rankscope.notes.count() && event.preventDefault());

  const text = (value) => (typeof value === "string" ? value : "");

  /** Takes what a file holds, beside what is there; false where these are no notes. */
  function take(whole) {
    if (!whole || whole.schema !== SCHEMA) return false;
    for (const one of whole.queries || []) if (typeof one.query_id === "string") queries.set(one.query_id, text(one.note));
    for (const one of whole.documents || []) {
      if (typeof one.query_id !== "string" || typeof one.doc_id !== "string") continue;
      of(one.query_id).set(one.doc_id, { grade: Number.isFinite(one.grade) ? one.grade : null, note: text(one.note) });
    }
    return true;
  }

  function of(query) {
    if (!documents.has(query)) documents.set(query, new Map());
    return documents.get(query);
  }

  const marked = () => [...documents].flatMap(([query_id, marks]) => [...marks].map(([doc_id, mark]) => ({ query_id, doc_id, ...mark })));

  /** All there is, as it is saved. */
  function whole() {
    const said = [...queries].filter(([, note]) => note).map(([query_id, note]) => ({ query_id, note }));
    const graded = marked()
      .filter(({ grade, note }) => grade !== null || note)
      .map(({ query_id, doc_id, grade, note }) => ({ query_id, doc_id, ...(grade === null ? {} : { grade }), ...(note ? { note } : {}) }));
    return { schema: SCHEMA, queries: said, documents: graded };
  }

  function changed() {
    try {
      localStorage.setItem(KEY, JSON.stringify(whole()));
      unkept = false;
    } catch {
      unkept = true; // then they are kept until the page is closed, and by saving them
    }
    listeners.forEach((listener) => listener());
  }

  const spaceless = (id) => /^\S+$/.test(id);

  rankscope.notes = {
    /** Begins with what the page brings, and on top of it what was written in this browser. */
    begin: (brought) => {
      take(brought);
      try {
        take(JSON.parse(localStorage.getItem(KEY)));
      } catch {
        // nothing that can be read
      }
    },
    ofQuery: (query) => queries.get(query) || "",
    ofDocument: (query, doc) => documents.get(query)?.get(doc) || { grade: null, note: "" },
    setQuery: (query, note) => {
      queries.set(query, note);
      changed();
    },
    setDocument: (query, doc, mark) => {
      of(query).set(doc, { ...rankscope.notes.ofDocument(query, doc), ...mark });
      changed();
    },
    /** How many queries and documents have a note or a grade. */
    count: () => {
      const { queries: said, documents: graded } = whole();
      return said.length + graded.length;
    },
    grades: () => marked().filter(({ grade }) => grade !== null),
    listen: (listener) => listeners.push(listener),
    save: () => {
      rankscope.save("notes.json", `${JSON.stringify(whole(), null, 1)}\n`, "application/json");
      unkept = false;
    },
    /** The grades as qrels, ready to be put behind those there are; ids with spaces in them cannot stand in such a file. */
    saveQrels: () => {
      const all = rankscope.notes.grades();
      const fine = all.filter(({ query_id, doc_id }) => spaceless(query_id) && spaceless(doc_id));
      rankscope.save("judgments.qrels", fine.map(({ query_id, doc_id, grade }) => `${query_id} 0 ${doc_id} ${grade}\n`).join(""), "text/plain");
      if (fine.length < all.length) rankscope.say(`${rankscope.counted(all.length - fine.length, "grade")} left out: an id holds a space`);
    },
    /** Reads a file that was saved; what to say of it. */
    open: async (file) => {
      try {
        if (!take(JSON.parse(await file.text()))) return `${file.name} holds no notes`;
      } catch {
        return `${file.name} is no JSON`;
      }
      changed();
      return "";
    },
  };
})();
