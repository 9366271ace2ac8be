/** A table; cells are Markdown of one line. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Text that is code, in one line; empty for none. */
export function code(text: string): string {
  if (text === '') return '';
  const fence = text.includes('`') ? '``' : '`';
  return `${fence}${text.replaceAll('\n', '\\n')}${fence}`;
}

/** A value as it is written in a configuration; empty for none. */
export function value(given: unknown): string {
  return given === undefined ? '' : code(JSON.stringify(given));
}

/** A link to another page, both as paths below the folder of all pages. */
export function link(name: string, to: string, from: string): string {
  return `[${name}](${'../'.repeat(from.split('/').length - 1)}${to})`;
}

/** Text in which nothing is markup. */
export function plain(text: string): string {
  return text.replace(/[\\`*<[]/g, '\\$&');
}

export function jsonBlock(data: unknown): string {
  return `\`\`\`json\n${JSON.stringify(data, null, 2)}\n\`\`\``;
}
