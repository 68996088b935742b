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

  /** The digits of a size as Python writes them: what lies in the middle goes to the even digit, where `toFixed` takes the larger. */
  const decimals = (size, digits) => {
    const middle = (size * 2 ** (digits + 1)) % 2 === 1; // only odd multiples of 1 / 2^(digits + 1) lie exactly in the middle
    const below = Math.floor(size * 10 ** digits);
    const [whole, ...rest] = (middle ? (below + (below % 2)) / 10 ** digits : size).toFixed(digits).split(".");
    return [whole.replace(/\B(?=(\d{3})+$)/g, ","), ...rest].join(".");
  };

  /**
   * A number as `words.number` writes it: three decimals, more where it is smaller than they show, or as many as `digits` says;
   * thousands apart, a true minus sign, a dash where there is no value. What is written as zero has no sign.
   */
  rankscope.number = (value, { sign = false, digits = null } = {}) => {
    if (value === null || Number.isNaN(value)) return "-";
    const size = Math.abs(value);
    const shown = digits ?? (size >= 0.001 || size < 5e-13 ? 3 : Math.min(1 - Math.floor(Math.log10(size)), 12));
    const text = size === Infinity ? "∞" : decimals(size, shown);
    return /[1-9∞]/.test(text) ? `${value < 0 ? "−" : sign ? "+" : ""}${text}` : text;
  };

  /** A number in a table, always with as many decimals. */
  rankscope.cell = (value, sign = false) => rankscope.number(value, { sign, digits: 4 });

  /** A count, thousands apart. */
  rankscope.count = (number) => number.toLocaleString("en");

  /** A count and its noun. */
  rankscope.counted = (number, one, many = `${one}s`) => `${rankscope.count(number)} ${number === 1 ? one : many}`;

  /** Text without halves of characters, which are no text, and no address. */
  rankscope.whole = (text) => text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");
  const part = (text) => encodeURIComponent(rankscope.whole(text));

  const UNSEEN = /(?![\t\n\r\u200c\u200d])[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]/gu; // scripts need their joiners to be spelled right
  const escaped = (sign) => {
    const code = sign.codePointAt(0).toString(16);
    return code.length < 3 ? `\\x${code.padStart(2, "0")}` : code.length < 5 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`;
  };

  /** Text with the signs that would not show, or would turn what follows, as their escapes. */
  rankscope.plain = (text) => rankscope.whole(text).replace(UNSEEN, escaped);

  /** An id on one line. */
  rankscope.name = (id) =>
    rankscope.plain(id).replace(/\n/g, "\\n").replace(/\r/g, "\\r").replace(/\t/g, "\\t").replace(/^ +| +$/g, (spaces) => "␣".repeat(spaces.length));

  /** Text cut to its room, never through a sign; what is cut stands in a title beside it. */
  rankscope.cut = (text, room) => (text.length <= room ? text : `${[...text.slice(0, room)].slice(0, -1).join("")}…`);

  /** The address of a query, to be looked into with the two runs that a figure is about. */
  rankscope.queryAddress = (id, figure) => {
    const [a, b] = JSON.parse(figure.dataset.pair || "[]").map(part);
    return `#q=${part(id)}${b === undefined ? "" : `&a=${a}&b=${b}`}`;
  };

  /** Goes to an address of this page, also where it is there already. */
  rankscope.goTo = (address) => {
    if (location.hash === address) window.dispatchEvent(new HashChangeEvent("hashchange"));
    else location.hash = address;
  };

  /** Puts text on the clipboard; true where that worked. Where it stands on the page it is left selected otherwise. */
  rankscope.copied = async (text, standing) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const held = standing || rankscope.element("pre", { className: "unseen", textContent: text }); // the clipboard is closed to files in some browsers
      if (!standing) document.body.append(held);
      const range = document.createRange();
      range.selectNodeContents(held);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      const done = document.execCommand("copy");
      if (!standing) held.remove();
      return done;
    }
  };

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
