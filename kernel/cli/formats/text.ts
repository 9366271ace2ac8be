import { styleText } from 'node:util';
import type { Issue, RelatedIssue } from '../../config/index.ts';
import { counted } from './counted.ts';
import { excerpt, printable } from './excerpt.ts';
import type { Findings, Format } from './format.ts';
import { createMasks, type Masks } from './masks.ts';

type Style = Parameters<typeof styleText>[0];
type Paint = (style: Style, text: string) => string;

/** Returns the lines of an excerpt; none for an unknown position. */
type Show = (place: RelatedIssue | Issue, style: Style) => string[];

/** Maximum number of errors, and of warnings, that are printed in full. */
const MAX_PARAGRAPHS = 100;

/** Paragraphs for people, like a compiler's: position, message, the line with its range underlined, hint, notes. */
export const text: Format = {
  isForPeople: true,
  print(findings, isColoured) {
    const { file, errors, warnings } = findings;
    if (errors.length + warnings.length === 0) return '';
    const paint: Paint = (style, words) => (isColoured ? styleText(style, words, { validateStream: false }) : words);
    const show = createShow(findings, createMasks(findings), paint);
    const shown = [...errors.slice(0, MAX_PARAGRAPHS), ...warnings.slice(0, MAX_PARAGRAPHS)];
    const paragraphs = shown.map((issue) => paragraph(issue, file, show, paint));
    const left = errors.length + warnings.length - shown.length;
    if (left > 0) paragraphs.push(`and ${left} more: --format json lists all\n`);
    return `${paragraphs.join('\n')}\n${paint('bold', counts(errors.length, warnings.length))}\n`;
  },
};

function paragraph(issue: Issue, file: string, show: Show, paint: Paint): string {
  const { severity, message, pointer, code, hint, related = [] } = issue;
  const style = severity === 'error' ? 'red' : 'yellow';
  const name = pointer === '' ? '' : ` (${pointer})`;
  const rest = printable(`${message}${name}`);
  const lines = [
    `${paint('bold', where(issue, file))}: ${paint(['bold', style], `${severity}:`)} ${rest} [${code}]`,
    ...show(issue, style),
  ];
  if (hint !== undefined) lines.push(`    ${paint('cyan', 'hint:')} ${printable(hint)}`);
  for (const place of related) {
    const words = place.message ?? 'see also';
    const subject = place.pointer === '' || place.pointer === pointer ? '' : ` ${place.pointer}`;
    lines.push(`    ${paint('cyan', 'note:')} ${printable(words + subject)}: ${where(place, file)}`);
    for (const line of show(place, 'cyan')) lines.push(line);
  }
  return lines.map((line) => `${line}\n`).join('');
}

function where({ file, line, column }: RelatedIssue | Issue, fallback: string): string {
  const path = printable(file ?? fallback);
  return line === undefined ? path : `${path}:${line}:${column}`;
}

/** Splits the text into lines once for all findings. */
function createShow({ text: source, file: own }: Findings, masks: Masks, paint: Paint): Show {
  if (source === undefined) return () => [];
  const lines = source.split(/\r?\n/);
  return ({ file = own, line, column, endLine, endColumn }, style) => {
    // Only the text of the configuration file is available; an error may be in another file, such as a plugin's source.
    const content = line === undefined || file !== own ? undefined : lines[line - 1];
    if (line === undefined || content === undefined) return [];
    const end = endLine === line ? endColumn! - 1 : content.trimEnd().length;
    const shown = excerpt(content, [column! - 1, end], masks(line, content));
    const gutter = String(line).padStart(5);
    const bar = paint('dim', '|');
    return [
      `${paint('dim', gutter)} ${bar} ${shown.source}`,
      `${' '.repeat(gutter.length)} ${bar} ${paint(style, shown.underline)}`,
    ];
  };
}

function counts(errors: number, warnings: number): string {
  return [
    ...(errors === 0 ? [] : [counted(errors, 'error')]),
    ...(warnings === 0 ? [] : [counted(warnings, 'warning')]),
  ].join(', ');
}
