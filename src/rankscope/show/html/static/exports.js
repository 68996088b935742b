// Tables as files: the same CSV and JSON that rankscope writes, numbers in full.
(() => {
  "use strict";
  const rankscope = window.rankscope;

  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

  /** A column with an interval becomes three. */
  const headerOf = (columns) =>
    columns.flatMap(({ header, ranged }) => (ranged ? [header, `${header} lower`, `${header} upper`] : [header]));

  const fieldsOf = (columns, row) =>
    columns.flatMap(({ ranged }, i) => (ranged ? (Array.isArray(row[i]) ? row[i] : [row[i], null, null]) : [row[i]]));

  /** CSV of columns ({header, ranged}) and rows; a value with an interval is [value, lower, upper], numbers may be their digits. */
  rankscope.csvOf = (columns, rows) =>
    [headerOf(columns), ...rows.map((row) => fieldsOf(columns, row))]
      .map((fields) => fields.map((field) => quoted(field === null ? "" : String(field))).join(","))
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
