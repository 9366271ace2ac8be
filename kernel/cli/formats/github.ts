import type { Issue } from '../../config/index.ts';
import { type Format, pathFromHere } from './format.ts';

/** Annotations of GitHub workflows, one per line. */
export const github: Format = {
  isForPeople: false,
  print: ({ file, errors, warnings }) =>
    [...errors, ...warnings].map((issue) => annotation(pathFromHere(file) ?? file, issue)).join(''),
};

/** Formats a finding as an annotation. */
export function annotation(file: string, issue: Issue): string {
  const { line, column: col, endLine, endColumn, severity, code: title, pointer, message, hint } = issue;
  const properties = Object.entries({ file, line, col, endLine, endColumn, title })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${escapeProperty(String(value))}`);
  const text = `${message}${pointer && ` (${pointer})`}${hint === undefined ? '' : `\nhint: ${hint}`}`;
  return `::${severity} ${properties.join(',')}::${escapeData(text)}\n`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
