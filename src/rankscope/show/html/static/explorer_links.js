/* The same document in both rankings: pointing at one shows the other, and lines join them where there is room. */
(() => {
  "use strict";
  const explorer = (window.rankscope.explorer = window.rankscope.explorer || {});
  const SVG = "http://www.w3.org/2000/svg";

  /** Offers more of a text only where it does not fit: reads all sizes first, for each change would cost a layout. */
  const fit = (board) => {
    const cuts = [...board.querySelectorAll(".explorer-cut")].filter((text) => text.offsetParent);
    const fits = cuts.map((text) => text.scrollHeight <= text.clientHeight + 1);
    cuts.forEach((text, at) => (text.parentElement.querySelector(".explorer-more").hidden = fits[at]));
  };
  explorer.fit = fit;

  /** Draws a line for each document that both lists show. */
  const draw = (board, svg, lists) => {
    svg.replaceChildren();
    const room = svg.getBoundingClientRect();
    if (room.width < 8 || lists.some((list) => !list.offsetParent)) return;
    const middle = (row) => {
      const box = row.querySelector(".explorer-rank").getBoundingClientRect();
      return box.top + box.height / 2 - room.top;
    };
    const right = new Map([...lists[1].querySelectorAll("[data-doc]")].map((row) => [row.dataset.doc, row]));
    lists[0].querySelectorAll("[data-doc]").forEach((row) => {
      const other = right.get(row.dataset.doc);
      if (!other || (row.dataset.far && !row.classList.contains("explorer-relevant")) || (other.dataset.far && !other.classList.contains("explorer-relevant"))) return;
      const [from, to, half] = [middle(row), middle(other), room.width / 2];
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("d", `M0,${from}C${half},${from} ${half},${to} ${room.width},${to}`);
      path.dataset.doc = row.dataset.doc;
      ["explorer-relevant", "explorer-decides"].forEach((kind) => path.classList.toggle(kind, other.classList.contains(kind)));
      const share = other.querySelector(".explorer-share");
      if (share && share.dataset.tone) path.dataset.tone = share.dataset.tone;
      svg.append(path);
    });
  };

  /** Joins two lists on a board: `svg` stands between them; `turn(side)` shows the other list where there is room for one. */
  explorer.link = (board, svg, lists, turn) => {
    const light = (key, on) => {
      if (key === undefined) return;
      board.querySelectorAll(`[data-doc="${key}"]`).forEach((part) => part.classList.toggle("explorer-lit", on));
    };
    let lit;
    const point = (event) => {
      const row = event.target.closest ? event.target.closest("[data-doc]") : null;
      const key = row ? row.dataset.doc : undefined;
      if (key === lit) return;
      light(lit, false);
      light((lit = key), true);
    };
    const leave = () => {
      light(lit, false);
      lit = undefined;
    };
    board.addEventListener("pointermove", point); // not pointerover: rows that scroll under a pointer at rest are not pointed at
    board.addEventListener("focusin", point);
    board.addEventListener("pointerleave", leave);
    board.addEventListener("focusout", leave);
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
    const go = (key, from) => {
      const side = lists.findIndex((list) => list !== from && list.querySelector(`[data-doc="${key}"]`));
      if (side < 0) return;
      turn(side);
      light(lit, false);
      light((lit = key), true);
      lists[side].querySelector(`[data-doc="${key}"]`).scrollIntoView({ block: "nearest", behavior: calm.matches ? "auto" : "smooth" });
    };
    board.addEventListener("click", (event) => {
      const name = event.target.closest(".explorer-name");
      if (name) go(name.closest("[data-doc]").dataset.doc, name.closest("ol"));
    });
    const again = () => {
      fit(board);
      draw(board, svg, lists);
    };
    const watch = new ResizeObserver(again);
    watch.observe(board);
    board.addEventListener("explorer-resized", again);
    return { again, stop: () => watch.disconnect() };
  };
})();
