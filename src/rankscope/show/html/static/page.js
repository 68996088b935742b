// The page around the blocks: theme buttons, copying, contents, folded sections, printing.
(() => {
  "use strict";
  const rankscope = window.rankscope;

  const themes = [...document.querySelectorAll("[data-theme-of]")];
  const pressed = () =>
    themes.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.themeOf === rankscope.chosenTheme())));
  themes.forEach((button) => button.addEventListener("click", () => rankscope.setTheme(button.dataset.themeOf)));
  rankscope.onTheme(pressed);
  pressed();

  rankscope.each(".copy", (button) =>
    button.addEventListener("click", async () => {
      const code = button.parentNode.querySelector("code");
      const done = await rankscope.copied(code.textContent, code);
      button.textContent = done ? "Copied" : "Press Ctrl+C";
      rankscope.say(button.textContent);
      setTimeout(() => (button.textContent = "Copy"), 2000);
    }),
  );

  /** Opens the folded parts around what the address names, so that it can be seen. */
  function unfold() {
    const name = location.hash.slice(1);
    const target = name && !name.startsWith("q=") && document.getElementById(name);
    if (!target) return;
    const inside = target.querySelector(":scope > details.folded");
    if (inside) inside.open = true;
    for (let up = target.closest("details"); up; up = up.parentElement.closest("details")) up.open = true;
    target.scrollIntoView();
  }
  addEventListener("hashchange", unfold);
  unfold();

  /** Marks in the contents the section that is read. */
  const links = new Map([...document.querySelectorAll(".contents a")].map((a) => [a.getAttribute("href").slice(1), a]));
  const list = document.querySelector(".contents ol");
  const inView = new Set();
  let current;
  const watching = new IntersectionObserver(
    (entries) => {
      entries.forEach(({ target, isIntersecting }) => inView[isIntersecting ? "add" : "delete"](target.id));
      const first = [...links.keys()].find((name) => inView.has(name));
      if (first === current) return;
      links.get(current)?.removeAttribute("aria-current");
      links.get(first)?.setAttribute("aria-current", "true");
      current = first;
      list.scrollLeft = first ? links.get(first).offsetLeft - list.clientWidth / 3 : 0; // on a phone the contents are one line
    },
    { rootMargin: "-10% 0px -60% 0px" },
  );
  if (list) document.querySelectorAll(".part").forEach((part) => watching.observe(part));

  // on paper every section stands open, but for the numbers of charts and the glossaries of tables
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not(.numbers, .glossary):not([open])")].filter((d) => !d.closest(".explorer"));
    opened.forEach((details) => (details.open = true));
  });
  addEventListener("afterprint", () => opened.forEach((details) => (details.open = false)));
})();
