import type { Issue } from './issue.ts';

/** A finding as one line: `gateway.json:41:17: must be an array (/host) [SCHEMA_TYPE]; hint: wrap it in [ ]`. */
export function issueLine({ file, line, column, message, pointer, code, hint }: Issue): string {
  const place = file === undefined ? '' : line === undefined ? `${file}: ` : `${file}:${line}:${column}: `;
  const subject = pointer === '' ? '' : ` (${pointer})`;
  return `${place}${message}${subject} [${code}]${hint === undefined ? '' : `; hint: ${hint}`}`;
}
