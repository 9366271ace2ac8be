import { type Data, type DataObject, isObject, setKey } from '#contract';
import { BoundedText } from './bounded-text.ts';
import { isScalar, scalarText } from './scalar.ts';

/**
 * Parses a CSV table (RFC 4180) into a list of objects: the first line contains the keys, every value is text. Lines
 * end with LF or CR LF; empty ones are skipped.
 * @throws Error with the line of a quote that is misplaced or never closed, of a line with more or fewer fields than
 * the first, and of a duplicate key.
 */
export function parseCsv(text: string): DataObject[] {
  const [names, ...rows] = rowsOf(text);
  if (!names) return [];
  for (const [at, name] of names.fields.entries()) {
    if (names.fields.indexOf(name) < at) throw new Error(`line 1: duplicate column "${name}"`);
  }
  return rows.map(({ fields, line }) => {
    if (fields.length !== names.fields.length) {
      throw new Error(`line ${line}: ${fields.length} fields, but the first line has ${names.fields.length}`);
    }
    const object: DataObject = {};
    for (const [at, field] of fields.entries()) setKey(object, names.fields[at]!, field);
    return object;
  });
}

interface Row {
  readonly fields: string[];
  readonly line: number;
}

/** Largest number of columns: keys are compared with one another. */
const MAX_COLUMNS = 1000;

/** A field, quoted or not, with its terminator. */
const field = /(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))(,|\r?\n|$)/y;

function rowsOf(source: string): Row[] {
  const text = source.startsWith('\ufeff') ? source.slice(1) : source;
  const rows: Row[] = [];
  let fields: string[] = [];
  let line = 1;
  let first = 1;
  field.lastIndex = 0;
  while (field.lastIndex < text.length || fields.length > 0) {
    const match = field.exec(text);
    if (!match) throw new Error(`line ${line}: a quote is misplaced or not closed`);
    const [whole, quoted, plain = '', end] = match;
    fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (fields.length > MAX_COLUMNS) throw new Error(`line ${line}: more than ${MAX_COLUMNS} fields`);
    for (let at = whole.indexOf('\n'); at >= 0; at = whole.indexOf('\n', at + 1)) line++;
    if (end === ',') continue;
    if (fields.length > 1 || quoted !== undefined || plain !== '') rows.push({ fields, line: first });
    fields = [];
    first = line;
  }
  return rows;
}

/**
 * Formats data as CSV: a list of objects, with a first line of all their keys in order of first occurrence, or a list
 * of lists, line by line. Lines end with LF.
 * @throws Error for anything else, and for values that are objects or lists.
 */
export function printCsv(data: Data): string {
  if (!Array.isArray(data)) throw new Error('a table must be a list of rows');
  const text = new BoundedText();
  if (data.every((row) => Array.isArray(row))) {
    for (const row of data as readonly Data[][]) text.add(lineOf(row));
    return text.toString();
  }
  if (!data.every((row) => isObject(row))) throw new Error('rows must be either all objects or all lists');
  const rows = data as readonly DataObject[];
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (names.length > MAX_COLUMNS) throw new Error(`more than ${MAX_COLUMNS} columns`);
  text.add(lineOf(names));
  for (const row of rows) text.add(lineOf(names.map((name) => (Object.hasOwn(row, name) ? row[name]! : null))));
  return text.toString();
}

function lineOf(values: readonly Data[]): string {
  // A line with one empty field would be an empty line.
  const line = values.map(fieldOf).join(',');
  return `${line === '' && values.length === 1 ? '""' : line}\n`;
}

function fieldOf(value: Data): string {
  if (!isScalar(value)) throw new Error('a row must be an object or a list');
  const text = scalarText(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
