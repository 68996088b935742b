/* Notes and grades of the reader on a query and its documents. */
(() => {
  "use strict";
  const rankscope = window.rankscope;
  const explorer = (rankscope.explorer = rankscope.explorer || {});
  let marking = false; // whether the rows take grades: the same for the next query

  /** The grades to choose from: whole ones up to the best there is, and all that occur. */
  explorer.scale = (data) => {
    const whole = data.topGrade <= 10 ? Array.from({ length: Math.floor(data.topGrade) + 1 }, (_, at) => at) : [];
    return [...new Set([...whole, ...data.grades.filter((grade) => grade !== null)])].sort((one, other) => one - other);
  };

  /** A grade and a note of one's own, in the row of a document. */
  explorer.mine = ({ data, query }, document) => {
    const { make } = explorer;
    const mark = rankscope.notes.ofDocument(query.i, document.id);
    const name = explorer.cut(explorer.name(document.id), 60);
    const grades = [null, ...explorer.scale(data)];
    const select = make("select", { "aria-label": `Your grade of ${name}` }, grades.map((grade) => make("option", { selected: grade === mark.grade }, grade === null ? "no grade" : `grade ${grade}`)));
    const note = make("input", { type: "text", value: mark.note, placeholder: "note", "aria-label": `Your note on ${name}` });
    select.addEventListener("change", () => rankscope.notes.setDocument(query.i, document.id, { grade: grades[select.selectedIndex] }));
    note.addEventListener("input", () => rankscope.notes.setDocument(query.i, document.id, { note: note.value }));
    return make("div", { class: "explorer-mine" }, select, note);
  };

  /** The note on a query, and the buttons that show grades, save and read; closed where there is nothing yet. */
  explorer.marking = ({ query, data }, element) => {
    const { make } = explorer;
    if (data.teaching) return [];
    const board = element.querySelector(".explorer-board");
    const name = explorer.cut(explorer.name(query.i), 60);
    const note = make("textarea", { rows: 2, "aria-label": `Your note on query ${name}`, placeholder: `Your note on query ${name}` });
    note.value = rankscope.notes.ofQuery(query.i);
    note.addEventListener("input", () => rankscope.notes.setQuery(query.i, note.value));
    const button = (label, act) => make("button", { type: "button", class: "explorer-button", on: { click: act } }, label);
    const save = button("", () => rankscope.notes.save());
    const qrels = button("grades as qrels", () => rankscope.notes.saveQrels());
    const told = make("span", { class: "explorer-quiet", role: "status" });
    const file = make("input", { type: "file", accept: ".json,application/json", hidden: true, "aria-label": "A file of notes" });
    file.addEventListener("change", async () => {
      told.textContent = await rankscope.notes.open(file.files[0]);
      if (!told.textContent) explorer.again?.();
    });
    const turn = () => {
      board.classList.toggle("explorer-marking", marking);
      box.hidden = !marking;
      open.setAttribute("aria-expanded", String(marking));
      board.dispatchEvent(new CustomEvent("explorer-resized", { bubbles: true }));
    };
    const count = () => {
      const many = rankscope.notes.count();
      save.textContent = `save notes${many ? ` (${many})` : ""}`;
      save.disabled = !many;
      qrels.disabled = !rankscope.notes.grades().length;
    };
    const open = button("Notes and grades", () => {
      marking = !marking;
      turn();
    });
    const box = make("div", { class: "explorer-notes" }, note, make("div", {}, save, qrels, button("open notes…", () => file.click()), file, told));
    if (note.value || data.queries.length < 1) marking = true;
    counted = count;
    count();
    turn();
    return [make("div", {}, open), box];
  };
  let counted = () => {};
  rankscope.notes.listen(() => counted());
})();
