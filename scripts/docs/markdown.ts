/** A table; cells are Markdown of one line. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Inline code; empty for an empty text. */
export function code(text: string): string {
  if (text === '') return '';
  const fence = text.includes('`') ? '``' : '`';
  return `${fence}${text.replaceAll('\n', '\\n')}${fence}`;
}

/** A value as written in a configuration; empty for none. */
export function value(given: unknown): string {
  return given === undefined ? '' : code(JSON.stringify(given));
}

/** A link to another page, both as paths relative to the folder of all pages. */
export function link(name: string, to: string, from: string): string {
  return `[${name}](${'../'.repeat(from.split('/').length - 1)}${to})`;
}

/** Escapes text so that it contains no markup other than inline code. */
export function plain(text: string): string {
  return text.replace(/(`[^`\n]+`)|[\\`*<[]/g, (mark, span?: string) => span ?? `\\${mark}`);
}

export function jsonBlock(data: unknown): string {
  return `\`\`\`json\n${JSON.stringify(data, null, 2)}\n\`\`\``;
}

/** The anchor that renderers of Markdown, such as GitHub's, give to a heading. */
export function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .replaceAll(' ', '-');
}
