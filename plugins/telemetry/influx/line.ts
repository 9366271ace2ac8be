/** Fields of a point. Whole numbers are written as integers; a field must keep that type. */
export interface Fields {
  [name: string]: { readonly whole: number } | { readonly real: number };
}

/** Measurement and tags of a point. */
export interface Series {
  readonly measurement: string;
  readonly tags: Readonly<Record<string, string>>;
}

/**
 * Formats one point in the line protocol of InfluxDB, including its line break; empty for a point without values.
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
 * The protocol does not allow line breaks in names and cannot express a backslash before an escaped character: it would
 * escape the escape. Such backslashes are percent-encoded.
 */
function escapeBackslashes(text: string): string {
  return text.replace(/[\n\r\t]/g, (mark) => lineBreaks[mark]!).replace(/\\(?=[\\,= ]|$)/g, '%5C');
}
