// What a mark of a chart stands for, beside the pointer: text set as text, so that no name can be markup.
(() => {
  "use strict";
  const rankscope = window.rankscope;
  let tip = null;

  const written = (value) => (value === null || value === undefined ? "-" : String(value));

  function filled(value) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return [document.createTextNode(written(value))];
    const lines = Object.entries(value).map(([name, said]) =>
      rankscope.element("div", {}, rankscope.element("dt", { textContent: name }), rankscope.element("dd", { textContent: written(said) })),
    );
    return lines;
  }

  function placed(event) {
    const gap = 14;
    const left = event.clientX + gap + tip.offsetWidth > innerWidth ? event.clientX - gap - tip.offsetWidth : event.clientX + gap;
    const top = event.clientY + gap + tip.offsetHeight > innerHeight ? event.clientY - gap - tip.offsetHeight : event.clientY + gap;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, top)}px`;
  }

  /** A tooltip handler as Vega calls it. */
  rankscope.tooltip = (handler, event, item, value) => {
    if (value === null || value === undefined || value === "") {
      if (tip) tip.hidden = true;
      return;
    }
    if (!tip) {
      tip = rankscope.element("dl", { className: "tip", ariaHidden: "true" });
      document.body.append(tip);
    }
    tip.replaceChildren(...filled(value));
    tip.hidden = false;
    placed(event);
  };
})();
