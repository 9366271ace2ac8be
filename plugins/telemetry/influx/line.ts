/** Values of a point: whole numbers are written as integers, which a field then always has to be. */
export interface Fields {
  [name: string]: { readonly whole: number } | { readonly real: number };
}

/** What a point belongs to. */
export interface Series {
  readonly measurement: string;
  readonly tags: Readonly<Record<string, string>>;
}

/**
 * One point in the line protocol of InfluxDB, with its line break; nothing for one without values.
 * @param seconds since 1970.
 */
export function lineOf({ measurement, tags }: Series, fields: Fields, seconds: number): string {
  const values: string[] = [];
  for (const [name, field] of Object.entries(fields)) {
    const isWhole = 'whole' in field;
    const value = isWhole ? field.whole : field.real;
    if (Number.isFinite(value)) values.push(`${escapeKey(name)}=${isWhole ? `${Math.round(value)}i` : value}`);
  }
  if (values.length === 0) return '';
  const sorted = Object.entries(tags).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const labels = sorted.map(([name, value]) => (value === '' ? '' : `,${escapeKey(name)}=${escapeKey(value)}`));
  return `${escapeMeasurement(measurement)}${labels.join('')} ${values.join(',')} ${seconds}\n`;
}

const lineBreaks: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escapeKey(text: string): string {
  return escapeBackslashes(text).replace(/[,= ]/g, '\\$&');
}

function escapeMeasurement(text: string): string {
  return escapeBackslashes(text).replace(/[, ]/g, '\\$&');
}

/**
 * The protocol has no line breaks in names, and no way to write a backslash before what is escaped: it would escape the
 * escape. There it is written as in a URL.
 */
function escapeBackslashes(text: string): string {
  return text.replace(/[\n\r\t]/g, (mark) => lineBreaks[mark]!).replace(/\\(?=[\\,= ]|$)/g, '%5C');
}
