/* The worklist judged in the page: one document after the other, blind to where it stands if wished, and saved as qrels. */
(() => {
  "use strict";
  const rankscope = window.rankscope;
  const { explorer } = rankscope;

  /** The documents of the worklist, with what the page knows of them. */
  function worklist(table, data) {
    const heads = [...table.tHead.rows[0].cells].map((head) => head.querySelector(".head").textContent);
    const own = (cell) => (cell.dataset.json === undefined ? cell.dataset.v ?? cell.textContent : JSON.parse(cell.dataset.json));
    return [...table.tBodies[0].rows].map((row) => {
      const [query, doc] = [own(row.cells[0]), own(row.cells[1])];
      const known = data.queries[data.place.get(explorer.whole(query))];
      const at = known ? known.d.indexOf(doc) : -1;
      const text = at >= 0 && known.x ? data.texts[known.x[at]] : "";
      const where = [...row.cells].slice(2).map((cell, i) => `${heads[i + 2]} ${cell.textContent}`).join(", ");
      return { query, doc, asked: known ? known.t : "", text, where };
    });
  }

  /** In another order, which nothing about the documents decides. */
  function shuffled(items) {
    const out = [...items];
    for (let i = out.length - 1; i > 0; i--) {
      const j = Math.floor(Math.random() * (i + 1));
      [out[i], out[j]] = [out[j], out[i]];
    }
    return out;
  }

  /** One document to grade. */
  function card(item, grades, blind, at) {
    const { make } = explorer;
    const mark = rankscope.notes.ofDocument(item.query, item.doc);
    const choices = [null, ...grades].map((grade) => {
      const radio = make("input", { type: "radio", name: `judged-${at}`, checked: grade === mark.grade });
      radio.addEventListener("change", () => rankscope.notes.setDocument(item.query, item.doc, { grade }));
      return make("label", {}, radio, ` ${grade === null ? "skip" : grade}`);
    });
    return make(
      "li", { class: "judged" },
      make("p", { class: "judged-query" }, "query ", make("bdi", {}, explorer.cut(explorer.name(item.query), 80)), item.asked ? ": " : "", make("bdi", {}, explorer.plain(item.asked))),
      make("p", {}, make("strong", {}, make("bdi", {}, explorer.cut(explorer.name(item.doc), 120)))),
      item.text ? make("p", { class: "judged-text" }, make("bdi", {}, explorer.plain(item.text))) : null,
      blind ? null : make("p", { class: "quiet" }, item.where),
      make("div", { class: "judged-grades", role: "group", "aria-label": `Grade of ${explorer.cut(explorer.name(item.doc), 60)}` }, choices),
    );
  }

  rankscope.judging = (data) => {
    const block = document.querySelector('.table[data-name="judging-worklist"]');
    if (!block || data.teaching || block.dataset.judged) return;
    block.dataset.judged = "yes";
    const { make } = explorer;
    const items = worklist(block.querySelector("table"), data);
    const grades = explorer.scale(data);
    const list = make("ol", { class: "judging", hidden: true });
    const random = make("input", { type: "checkbox", checked: true });
    const blind = make("input", { type: "checkbox", checked: true });
    const save = make("button", { type: "button", on: { click: () => rankscope.notes.saveQrels() } }, "Save as qrels");
    const graded = make("span", { class: "quiet", role: "status" });
    const count = () => {
      const done = items.filter((item) => rankscope.notes.ofDocument(item.query, item.doc).grade !== null).length;
      graded.textContent = `${rankscope.count(done)} of ${rankscope.count(items.length)} graded; keys ${grades.join(" ")}`;
      const many = rankscope.notes.grades().length;
      save.textContent = `Save ${rankscope.counted(many, "grade")} as qrels`;
      save.disabled = !many;
    };
    let order = shuffled(items);
    const draw = () => list.replaceChildren(...(random.checked ? order : items).map((item, at) => card(item, grades, blind.checked, at)));
    random.addEventListener("change", () => {
      order = shuffled(items);
      draw();
    });
    blind.addEventListener("change", draw);
    // a digit grades the document with the focus, and goes to the next
    list.addEventListener("keydown", (event) => {
      const card = event.target.closest(".judged");
      const at = grades.map(String).indexOf(event.key);
      if (!card || at < 0) return;
      event.preventDefault();
      card.querySelectorAll("input")[at + 1].click();
      (card.nextElementSibling || card).querySelector("input:checked")?.focus();
    });
    const options = make("div", { class: "judging-options", hidden: true }, make("label", {}, random, " random order"), make("label", {}, blind, " blind to ranks and runs"), save, graded);
    const begin = make("button", { type: "button", class: "more", "aria-expanded": "false" }, "Grade these here");
    begin.addEventListener("click", () => {
      const open = list.hidden;
      [list, options].forEach((part) => (part.hidden = !open));
      [block.querySelector(".scroll"), block.querySelector(".under")].forEach((part) => (part.hidden = open));
      block.classList.toggle("graded", open);
      begin.setAttribute("aria-expanded", String(open));
      begin.textContent = open ? "Back to the table" : "Grade these here";
      if (!open) return;
      draw();
      list.querySelector("input:checked")?.focus();
    });
    rankscope.notes.listen(count);
    count();
    block.querySelector("h3").after(make("div", { class: "judging-tools" }, begin, options), list);
  };
})();
