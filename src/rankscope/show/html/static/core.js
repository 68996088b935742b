// What every script of the page uses: making elements, reading data, saving files.
(() => {
  "use strict";
  const rankscope = (window.rankscope = window.rankscope || {});

  /** An element with properties and children; strings become text, never markup. */
  rankscope.element = (tag, properties = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in made) made[name] = value;
      else made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  };

  /** The data of a block, from the script element in it. */
  rankscope.dataIn = (block, selector) => JSON.parse(block.querySelector(selector).textContent);

  /** Saves a file: a blob, or text of a type. */
  rankscope.save = (name, content, type) => {
    const blob = content instanceof Blob ? content : new Blob([content], { type });
    const address = URL.createObjectURL(blob);
    const link = rankscope.element("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 60000); // a browser may still be asking where to save it
  };

  /** Text without halves of characters, which are no text, and no address. */
  rankscope.whole = (text) => text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");
  const part = (text) => encodeURIComponent(rankscope.whole(text));

  /** The address of a query, to be looked into with the two runs that the block around a place is about. */
  rankscope.queryAddress = (id, place) => `#q=${part(id)}${runsOf(place)}`;
  function runsOf(place) {
    const about = place?.closest("[data-pair]");
    if (!about) return "";
    const [a, b] = JSON.parse(about.dataset.pair).map(part);
    return `&a=${a}&b=${b}`;
  }

  /** Goes to an address of this page, also where it is there already. */
  rankscope.goTo = (address) => {
    if (location.hash === address) window.dispatchEvent(new HashChangeEvent("hashchange"));
    else location.hash = address;
  };

  // links carry the query alone, which needs no script; the runs are added on the way
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('[data-pair] a[href^="#q="]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    rankscope.goTo(`${link.getAttribute("href")}${runsOf(link)}`);
  });

  /** Says something to who listens to the page. */
  rankscope.say = (text) => {
    let said = document.getElementById("said");
    if (!said) {
      said = rankscope.element("div", { id: "said", className: "unseen", role: "status" });
      document.body.append(said);
    }
    said.textContent = text;
  };

  /** Runs a part of the page; where it fails the others go on. */
  rankscope.each = (selector, start) => {
    for (const found of document.querySelectorAll(selector)) {
      try {
        start(found);
      } catch (problem) {
        console.error(problem);
      }
    }
  };
})();
