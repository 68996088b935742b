// Tables: sorted by their headers, unfolded, explained, saved.
(() => {
  "use strict";
  const rankscope = window.rankscope;
  const order = new Intl.Collator("en", { numeric: true });

  const textOf = (cell) => cell.dataset.v ?? cell.textContent;
  /** What stands behind a text that is not written on the page as it is; undefined where it is. */
  const ownOf = (cell) => (cell.dataset.json === undefined ? undefined : JSON.parse(cell.dataset.json));
  /** A number in full, null where a cell has none, text where it is no number. */
  function numberOf(digits) {
    if (digits === "" || digits === "-") return null;
    const number = Number(digits);
    return Number.isNaN(number) ? digits : number;
  }

  const NONE = new Set(["", "Infinity", "-Infinity"]); // as files have no sign for them

  /** Columns and rows as they are to be saved, in the order shown; a CSV takes the digits as they are. */
  function contentOf(table, asNumbers) {
    const heads = [...table.tHead.rows[0].cells];
    const columns = heads.map((head) => ({
      header: ownOf(head) ?? head.querySelector(".head").textContent,
      ranged: "ranged" in head.dataset,
    }));
    const parsed = (digits) => (NONE.has(digits) ? null : asNumbers ? numberOf(digits) : digits);
    const rows = [...table.querySelectorAll("tbody tr:not(.group)")].map((row) =>
      [...row.cells].map((cell, i) => {
        const own = ownOf(cell);
        if (typeof own === "string" || (asNumbers && own !== undefined)) return own;
        if (heads[i].dataset.kind === "text") return cell.dataset.v === "" ? null : textOf(cell);
        if (heads[i].dataset.kind === "date") return cell.textContent;
        const value = parsed(textOf(cell));
        return "l" in cell.dataset ? [value, parsed(cell.dataset.l), parsed(cell.dataset.u)] : value;
      }),
    );
    return [columns, rows];
  }

  /** Rows by a column: numbers by size, text as people count; those without a value come last. */
  function compared(place, numeric, direction) {
    return (a, b) => {
      const [x, y] = [a, b].map((row) => (numeric ? numberOf(textOf(row.cells[place])) : textOf(row.cells[place])));
      if (x === null || y === null || x === "" || y === "") return (x === null || x === "") - (y === null || y === "");
      const way = typeof x === "number" && typeof y === "number" ? x - y : order.compare(x, y);
      return direction * way;
    };
  }

  /** A header sorts: first the way it is mostly wanted, then the other way, then as it was. */
  function sortable(table) {
    const body = table.tBodies[0];
    const original = [...body.querySelectorAll("tr:not(.group)")];
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, place) => {
      const numeric = head.dataset.kind !== "text";
      const cycle = numeric ? ["descending", "ascending", "none"] : ["ascending", "descending", "none"];
      const label = head.querySelector(".head");
      const button = rankscope.element("button", { type: "button", className: "sort" });
      head.dataset.head = label.textContent; // what paper shows
      label.replaceWith(button);
      button.append(label);
      button.addEventListener("click", () => {
        const next = cycle[(cycle.indexOf(head.getAttribute("aria-sort") || "none") + 1) % 3];
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        const rows = [...original];
        if (next !== "none") {
          head.setAttribute("aria-sort", next);
          rows.sort(compared(place, numeric, next === "ascending" ? 1 : -1));
        }
        body.replaceChildren(...rows); // groups are left when rows are sorted
        rankscope.say(next === "none" ? "in the original order" : `sorted by ${label.textContent}, ${next}`);
      });
    });
  }

  /** What a column means, on hover and on focus, kept inside the window. */
  function explained(block) {
    block.querySelectorAll("thead th[title]").forEach((head) => {
      const text = head.title;
      const place = [...head.parentNode.cells].indexOf(head);
      const target = head.querySelector("button") || head;
      head.removeAttribute("title");
      target.setAttribute("aria-describedby", `${block.id}-${place}`);
      rankscope.hint(head, text);
    });
  }

  let bubble = null;
  let pointed = null;
  const hide = () => {
    pointed = null;
    if (bubble) bubble.hidden = true;
  };
  function placed() {
    if (!pointed) return;
    const box = pointed.getBoundingClientRect();
    const room = document.documentElement.clientWidth;
    bubble.style.left = `${Math.max(8, Math.min(box.left, room - bubble.offsetWidth - 8))}px`;
    const above = box.top - bubble.offsetHeight - 6;
    bubble.style.top = `${above > 4 ? above : box.bottom + 6}px`;
  }
  /** Shows text beside an element while it is pointed at or has the focus. */
  rankscope.hint = (target, text) => {
    const show = () => {
      if (!bubble) {
        bubble = rankscope.element("div", { className: "bubble", ariaHidden: "true" });
        document.body.append(bubble);
      }
      pointed = target;
      bubble.textContent = text;
      bubble.hidden = false;
      placed();
    };
    target.addEventListener("mouseenter", show);
    target.addEventListener("mouseleave", hide);
    target.addEventListener("focusin", show);
    target.addEventListener("focusout", hide);
  };
  addEventListener("scroll", placed, { passive: true, capture: true });
  addEventListener("keydown", (event) => event.key === "Escape" && hide());

  /** A long table shows its first rows until it is asked for all. */
  function unfolding(block) {
    const more = block.querySelector(".more");
    if (!more) return;
    const closed = more.textContent;
    more.addEventListener("click", () => {
      const open = block.classList.toggle("open");
      more.setAttribute("aria-expanded", String(open));
      more.textContent = open ? "Show fewer" : closed;
    });
  }

  /** Only a box that scrolls needs to be reached by keyboard. */
  const reachable = new ResizeObserver((entries) =>
    entries.forEach(({ target }) => {
      const fits = target.querySelector("table").offsetWidth <= target.clientWidth + 1;
      target.classList.toggle("fits", fits);
      if (fits) target.removeAttribute("tabindex");
      else target.tabIndex = 0;
    }),
  );

  // a menu closes with Escape, and when something else is chosen
  const menus = () => [...document.querySelectorAll(".save[open]")];
  addEventListener("click", ({ target }) =>
    menus().forEach((menu) => (menu.open = menu.contains(target) && !target.closest("button"))),
  );
  addEventListener("keydown", (event) => event.key === "Escape" && menus().forEach((menu) => (menu.open = false)));

  rankscope.each(".table", (block) => {
    const table = block.querySelector("table");
    if (!block.querySelector("tbody .none") && !block.closest(".board")) sortable(table);
    explained(block);
    unfolding(block);
    reachable.observe(block.querySelector(".scroll"));
    block.querySelector(".tex")?.addEventListener("click", () =>
      rankscope.save(`${block.dataset.name}.tex`, block.querySelector(".latex").textContent, "text/x-tex"),
    );
    block.querySelectorAll("[data-export]").forEach((button) =>
      button.addEventListener("click", () =>
        rankscope.saveRows(button.dataset.export, block.dataset.name, ...contentOf(table, button.dataset.export === "json")),
      ),
    );
  });
})();
