/** Strings and comments, which contain no names, and backquoted field names after a dot. */
const token = new RegExp(
  [
    // In raw strings, a backslash has no special meaning.
    String.raw`(?:[bB]?[rR]|[rR][bB])(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"[^"\n]*"|'[^'\n]*')`,
    String.raw`"""(?:\\[\s\S]|[^\\])*?"""|'''(?:\\[\s\S]|[^\\])*?'''`,
    String.raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`,
    String.raw`//[^\n]*`,
    String.raw`(?<dot>\.\s*)\x60(?<name>[\w.\-/ ]+)\x60`,
  ].join('|'),
  'g',
);

/** An expression rewritten for a parser that does not support backquoted names. */
export interface Unquoted {
  /** Source with plain names in place of quoted ones; all offsets are unchanged. */
  readonly text: string;
  /** Quoted names by their replacements. */
  readonly names: ReadonlyMap<string, string>;
}

/** Supports backquoted field names, as in `labels.\`app-name\``. */
export function unquote(source: string): Unquoted {
  const names = new Map<string, string>();
  if (!source.includes('`')) return { text: source, names };
  let made = 0;
  const text = source.replace(token, (whole: string, ...groups) => {
    const { dot, name } = groups.at(-1) as { readonly dot?: string; readonly name?: string };
    if (dot === undefined || name === undefined) return whole;
    let substitute: string;
    do substitute = `_${(made++).toString(36)}`.padEnd(name.length + 2, '_');
    while (source.includes(substitute));
    names.set(substitute, name);
    return dot + substitute;
  });
  return { text, names };
}
