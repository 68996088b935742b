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

  /** The address of a query, to be looked into. */
  rankscope.queryAddress = (id) => `#q=${encodeURIComponent(id)}`;

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
