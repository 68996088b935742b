// Tables as files: the same CSV and JSON that rankscope writes, numbers in full.
(() => {
  "use strict";
  const rankscope = window.rankscope;

  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const HALF = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g; // no file can hold them
  const whole = (text) => text.replace(HALF, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
  const line = (fields) => (fields.length === 1 && fields[0] === "" ? '""' : fields.join(",")); // no line is empty

  /** Headers that are keys: one that was there before gets a number. */
  function numbered(headers) {
    const out = new Set();
    for (const header of headers) {
      let [number, key] = [1, header];
      while (out.has(key) || (number > 1 && headers.includes(key))) key = `${header} ${++number}`;
      out.add(key);
    }
    return [...out];
  }

  /** A column with an interval becomes three. */
  const headerOf = (columns) =>
    numbered(columns.flatMap(({ header, ranged }) => (ranged ? [header, `${header} lower`, `${header} upper`] : [header])));

  const fieldsOf = (columns, row) =>
    columns.flatMap(({ ranged }, i) => (ranged ? (Array.isArray(row[i]) ? row[i] : [row[i], null, null]) : [row[i]]));

  /** CSV of columns ({header, ranged}) and rows; a value with an interval is [value, lower, upper], numbers may be their digits. */
  rankscope.csvOf = (columns, rows) =>
    [headerOf(columns), ...rows.map((row) => fieldsOf(columns, row))]
      .map((fields) => line(fields.map((field) => quoted(field === null ? "" : whole(String(field))))))
      .join("\n") + "\n";

  /** The same rows as JSON: a record a row, null where there is no value. */
  rankscope.jsonOf = (columns, rows) => {
    const header = headerOf(columns);
    const plain = (field) => (typeof field === "number" && !Number.isFinite(field) ? null : field);
    const records = rows.map((row) =>
      Object.fromEntries(fieldsOf(columns, row).map((field, i) => [header[i], plain(field)])),
    );
    return JSON.stringify(records, null, 1) + "\n";
  };

  /** Saves columns and rows as NAME.csv or NAME.json. */
  rankscope.saveRows = (kind, name, columns, rows) => {
    if (kind === "csv") rankscope.save(`${name}.csv`, rankscope.csvOf(columns, rows), "text/csv");
    else rankscope.save(`${name}.json`, rankscope.jsonOf(columns, rows), "application/json");
  };
})();
