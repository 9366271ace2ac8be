import { type Data, type DataObject, definePlugin, isObject } from 'sluice/plugin';

/** Parses rows as in RFC 4180: quoted cells may contain commas, line breaks and doubled quotes. @throws Error for an unclosed quote. */
function parseRows(text: string): string[][] {
  const cell = /(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))(,|\r?\n|$)/y;
  const rows: string[][] = [[]];
  while (cell.lastIndex < text.length || rows.at(-1)!.length > 0) {
    const start = cell.lastIndex;
    const [, quoted, plain, end] = cell.exec(text) ?? [];
    if (end === undefined) throw new Error(`csv: cannot read the cell at character ${start}`);
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain!);
    if (end !== ',') rows.push([]);
    if (end === '') break;
  }
  return rows.filter((row) => row.length > 0);
}

const printCell = (value: Data | undefined): string => {
  const text = isObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Converts each row to an object; the first row contains the column names. */
function decode(bytes: Uint8Array): DataObject {
  const [head = [], ...rows] = parseRows(Buffer.from(bytes).toString('utf8'));
  return { collection: rows.map((row) => Object.fromEntries(head.map((name, at) => [name, row[at] ?? '']))) };
}

/** Prints the list under `collection`, or the whole value as a single row. Columns are in order of first appearance. */
function encode(data: DataObject | null) {
  const { collection = [data ?? {}] } = data ?? {};
  const rows = Array.isArray(collection) ? collection.filter((row) => isObject(row)) : [];
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = (row: DataObject) => names.map((name) => (Object.hasOwn(row, name) ? row[name] : undefined));
  const lines = [names, ...rows.map(cells)].map((line) => `${line.map(printCell).join(',')}\r\n`);
  return { contentType: 'text/csv; charset=utf-8', body: names.length === 0 ? '' : lines.join('') };
}

export const plugin = definePlugin({
  name: 'encoding/csv',
  contract: 1,
  description: 'Comma-separated values with a header row (RFC 4180), read and written as a collection.',
  encodings: [{ name: 'csv', readsField: 'collection', decode, encode }],
});
