// The theme: light, dark, or that of the system. Runs before the page is shown, so that it never flashes.
(() => {
  "use strict";
  const rankscope = (window.rankscope = window.rankscope || {});
  const KEY = "rankscope-theme";
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const listeners = [];
  root.classList.add("js");

  /** What was chosen before; a page from a file may not be allowed to remember. */
  function remembered() {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;
    }
  }

  function remember(theme) {
    try {
      if (theme === "system") localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, theme);
    } catch {
      // then it holds until the page is closed
    }
  }

  function apply(theme) {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
  }

  const told = () => listeners.forEach((listener) => listener(rankscope.theme()));

  /** The theme that is shown: "light" or "dark". */
  rankscope.theme = () => root.dataset.theme || (system.matches ? "dark" : "light");
  /** The theme that was chosen: "light", "dark" or "system". */
  rankscope.chosenTheme = () => root.dataset.theme || "system";
  /** Calls back with the theme whenever another one is shown. */
  rankscope.onTheme = (listener) => listeners.push(listener);
  rankscope.setTheme = (theme) => {
    apply(theme);
    remember(theme);
    told();
  };

  apply(remembered());
  system.addEventListener("change", told);
})();
