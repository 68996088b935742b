// Charts: drawn when they come near, in the theme that is shown, and saved as pictures or as numbers.
(() => {
  "use strict";
  const rankscope = window.rankscope;
  const MANY = 1500; // marks: more are drawn as pixels, which is faster
  const SAVED = 760; // width in pixels of a saved picture
  const [PANEL, WIDEST, EDGE] = [190, 420, 12]; // pixels: least and most of one of several small charts, and what sticks out at the right
  const WITHOUT = "The buttons CSV and JSON below save its numbers.";
  const [HALF, LINE, LOW] = [320, 660, 160]; // pixels: width on paper of a chart that shares its line, of one that has it alone, and height where it may choose
  const TALL = 560; // height in pixels from which on a chart is folded: its upper part is shown
  const SHARP = 2; // pixels of a saved PNG to one of the page
  const configs = rankscope.dataIn(document, "#chart-themes");

  /** A column as it is: names that repeat are stored once. */
  const column = (packed) => (Array.isArray(packed) ? packed : packed.at.map((at) => packed.of[at]));

  /** The rows of a chart as its specification names them. */
  function unpacked(data) {
    const fields = Object.entries(data.fields).map(([name, packed]) => [name, column(packed)]);
    return Array.from({ length: data.count }, (_, i) => Object.fromEntries(fields.map(([name, values]) => [name, values[i]])));
  }

  /** The same rows as they are to be saved. */
  function numbersOf(data, rows) {
    return rows.map((row) =>
      data.columns.map(({ ranged }, i) => {
        const value = row[`c${i}_id` in data.fields ? `c${i}_id` : `c${i}`] ?? null;
        if (data.columns[i].kind === "date") return new Date(864e5 * value).toISOString().slice(0, 10);
        return ranged ? [value, row[`c${i}_low`] ?? null, row[`c${i}_high`] ?? null] : value;
      }),
    );
  }

  /** The runtime that draws charts is most of the page: it comes packed, and is run when the first chart is drawn. */
  function started() {
    if (window.vegaEmbed) return;
    const text = rankscope.packedText(document.getElementById("chart-runtime"));
    const script = rankscope.element("script", { textContent: text }); // the policy of the page names its hash
    document.head.append(script);
    script.remove();
  }

  /** The class of views, which the runtime does not name: that of an empty one. */
  async function viewClass() {
    started();
    const settings = { mode: "vega", ast: true, actions: false, defaultStyle: false };
    const { view, finalize } = await window.vegaEmbed(rankscope.element("div"), {}, settings);
    finalize();
    return view.constructor;
  }
  let views = null;

  /** Views that tell what fails while they draw: of themselves they write it to the console, and show a part or nothing. */
  async function telling(tell) {
    const View = await (views ??= viewClass());
    return class extends View {
      error(...said) {
        tell(said.find((part) => part instanceof Error) || new Error(said.join(" ")));
        return this;
      }
    };
  }

  const drawing = async (chart, theme, tell) => ({
    viewClass: await telling(tell),
    ast: true, // expressions are read, not compiled: the policy of the page allows no eval
    actions: false,
    defaultStyle: false,
    tooltip: (handler, event, item, value) => rankscope.tooltip(handler, event, item, withText(chart, item, value)),
    renderer: chart.data.count > MANY ? "canvas" : "svg",
    config: { ...configs[theme], aria: false },
  });

  /** What is told of a mark, with the text of the query that it stands for. */
  function withText(chart, item, value) {
    const id = chart.data.query && item?.datum?.[chart.data.query];
    const text = id === undefined || id === null || !value || typeof value !== "object" ? "" : rankscope.queryText?.(String(id));
    return text ? { ...value, text: rankscope.cut(rankscope.plain(text), 160) } : value;
  }

  /** Small charts side by side, as many as there is room for: their width must be a number. */
  function arranged(spec, room) {
    const { panels, left = 0, shared } = spec.usermeta || {};
    if (!spec.facet || !(panels > 1)) return spec;
    const gap = spec.spacing ?? 20;
    const each = shared ? 0 : left;
    const free = room - (shared ? left : 0) - EDGE + gap;
    const columns = Math.max(1, Math.min(panels, Math.floor(free / (PANEL + each + gap))));
    const width = Math.max(120, Math.min(WIDEST, Math.floor(free / columns) - gap - each));
    return { ...spec, columns, spec: { ...spec.spec, width } };
  }

  const lowered = (chart, spec) =>
    chart.printing && spec.usermeta?.level && !spec.facet ? { ...spec, height: Math.min(spec.height, LOW) } : spec;

  const filled = (chart, room) => ({
    ...lowered(chart, arranged(chart.data.spec, room)),
    datasets: { ...chart.data.spec.datasets, rows: chart.rows },
  });

  /** The place of a chart that cannot be drawn says so, and why. */
  function failed(chart, problem) {
    chart.plot.replaceChildren();
    chart.plot.classList.add("failed");
    chart.plot.setAttribute("role", "group"); // no image: what it says is read
    chart.plot.style.minHeight = "";
    chart.plot.textContent = `This chart could not be drawn (${problem.message}). ${WITHOUT}`;
  }

  /** Draws a chart into its place; where that fails the place says so. */
  async function draw(chart, theme) {
    const room = chart.plot.clientWidth;
    const fits = !chart.data?.spec.facet || room === chart.room;
    if (chart.theme === theme && fits) return;
    chart.theme = theme;
    chart.room = room;
    try {
      chart.data ??= rankscope.dataIn(chart.figure, ".chart-data");
      chart.rows ??= unpacked(chart.data);
      const box = rankscope.element("div", { ariaHidden: "true" }); // its place says what it shows, its numbers are a table
      chart.view?.finalize();
      chart.view = null;
      chart.plot.replaceChildren(box);
      chart.plot.classList.remove("failed");
      chart.plot.setAttribute("role", "img");
      let view = null;
      let problem = null;
      const tell = (error) => {
        problem ??= error;
        if (view && chart.view === view) failed(chart, error); // later, as where it became wider
      };
      const settings = await drawing(chart, theme, tell);
      view = await window.vegaEmbed(box, filled(chart, chart.room), settings);
      if (chart.theme !== theme || chart.room !== room) {
        view.finalize(); // it was asked for once more meanwhile
        return;
      }
      if (problem) {
        view.finalize();
        throw problem;
      }
      chart.view = view;
      chart.plot.style.minHeight = "";
      chart.plot.classList.toggle("links", Boolean(chart.data.query));
      chart.view.view.addEventListener("click", (event, item) => opened(chart, item));
      fold(chart);
    } catch (problem) {
      if (chart.theme === theme && chart.room === room) failed(chart, problem);
    }
    if (chart.plot.scrollWidth > chart.plot.clientWidth + 1) chart.plot.tabIndex = 0;
    else chart.plot.removeAttribute("tabindex");
  }

  /** A tall chart is folded, with a button that shows all of it. */
  function fold(chart) {
    const tall = chart.plot.firstChild.scrollHeight > TALL;
    chart.plot.classList.toggle("tall", tall);
    if (!tall || chart.more) return;
    chart.more = rankscope.element("button", { type: "button", className: "more", textContent: "Show the whole chart" });
    chart.more.setAttribute("aria-expanded", "false");
    chart.more.addEventListener("click", () => {
      const open = chart.plot.classList.toggle("open");
      chart.more.setAttribute("aria-expanded", String(open));
      chart.more.textContent = open ? "Show less" : "Show the whole chart";
    });
    chart.figure.querySelector(":scope > .tools").prepend(chart.more);
  }

  /** A mark of a query opens it. */
  function opened(chart, item) {
    const id = chart.data.query && item?.datum?.[chart.data.query];
    if (id !== undefined && id !== null && id !== false && document.querySelector("[data-explorer]")) {
      rankscope.goTo(rankscope.queryAddress(String(id), chart.figure));
    }
  }

  /** Draws a chart once more, in the light theme and at a width of its own, for a picture. */
  async function picture(chart, kind) {
    const box = rankscope.element("div", { ariaHidden: "true" });
    box.style.cssText = `position:absolute;left:-9999px;top:0;width:${SAVED}px`;
    document.body.append(box);
    try {
      const problems = [];
      const settings = { ...(await drawing(chart, "light", (problem) => problems.push(problem))), renderer: "svg" };
      settings.config = { ...settings.config, background: "#ffffff", padding: 12 };
      const { view, finalize } = await window.vegaEmbed(box, filled(chart, SAVED - 24), settings);
      if (problems.length) {
        finalize();
        throw problems[0];
      }
      const name = `${chart.figure.dataset.name}.${kind}`;
      if (kind === "svg") rankscope.save(name, await view.toSVG(), "image/svg+xml");
      else {
        const canvas = await view.toCanvas(SHARP);
        const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
        rankscope.save(name, blob);
      }
      finalize();
    } finally {
      box.remove();
    }
  }

  async function saved(chart, kind) {
    try {
      chart.data ??= rankscope.dataIn(chart.figure, ".chart-data");
      chart.rows ??= unpacked(chart.data);
      if (kind === "svg" || kind === "png") await picture(chart, kind);
      else rankscope.saveRows(kind, chart.figure.dataset.name, chart.data.columns, numbersOf(chart.data, chart.rows));
    } catch (problem) {
      rankscope.say(`It could not be saved: ${problem.message}`);
      console.error(problem);
    }
  }

  const charts = new Map();
  const near = new IntersectionObserver(
    (entries) =>
      entries.forEach(({ target, isIntersecting }) => {
        const chart = charts.get(target);
        chart.near = isIntersecting;
        if (isIntersecting) draw(chart, rankscope.theme());
      }),
    { rootMargin: "600px 0px" },
  );

  rankscope.each(".chart", (figure) => {
    const plot = figure.querySelector(".plot");
    if (!plot) return;
    const chart = { figure, plot, view: null, theme: "", near: false };
    const beside = [figure.previousElementSibling, figure.nextElementSibling].some((other) => other?.matches(".chart:not(.wide)"));
    figure.classList.toggle("half", !figure.matches(".wide") && (beside || Boolean(figure.closest("#cutoffs"))));
    charts.set(plot, chart);
    near.observe(plot);
    figure.querySelectorAll(":scope > .tools [data-export]").forEach((button) =>
      button.addEventListener("click", () => saved(chart, button.dataset.export)),
    );
  });

  // charts that stand open are drawn when there is time, so that a picture of the page, or its print, has all
  const idle = window.requestIdleCallback || ((next) => setTimeout(next, 30));
  async function ahead() {
    for (const chart of charts.values()) {
      if (chart.theme || chart.plot.closest("details:not([open])")) continue;
      await new Promise((next) => idle(next));
      await draw(chart, rankscope.theme());
    }
  }
  addEventListener("load", () => idle(ahead));

  let waiting = 0;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => charts.forEach((chart) => (chart.near ? draw(chart, rankscope.theme()) : null)), 150);
  });
  // charts far away are drawn in the new theme when they come near again
  rankscope.onTheme((theme) => charts.forEach((chart) => (chart.near ? draw(chart, theme) : null)));
  // on paper charts that follow each other share a line: all are drawn as wide as they will be, so that their letters keep their size
  addEventListener("beforeprint", () =>
    charts.forEach((chart) => {
      chart.plot.style.width = `${chart.figure.classList.contains("half") ? HALF : LINE}px`;
      chart.printing = true;
      chart.theme = "";
      draw(chart, "light");
    }),
  );
  addEventListener("afterprint", () =>
    charts.forEach((chart) => {
      chart.plot.style.width = "";
      chart.printing = false;
      chart.theme = "";
      if (chart.near) draw(chart, rankscope.theme());
    }),
  );
})();
