/** A name in braces in `url_pattern` or `host`, and where its value comes from. */
export type Placeholder =
  | { readonly from: 'path'; readonly name: string }
  | { readonly from: 'earlier'; readonly index: number; readonly path: readonly string[] }
  | { readonly from: 'claims'; readonly name: string }
  | { readonly from: 'header'; readonly name: string; readonly position: number }
  | { readonly from: 'query'; readonly name: string; readonly position: number };

/** Reads what stands between the braces. Anything unknown is a path variable's name. */
export function parsePlaceholder(text: string): Placeholder {
  const earlier = /^resp(\d+)_(.+)$/.exec(text);
  if (earlier) return { from: 'earlier', index: Number(earlier[1]), path: earlier[2]!.split('.') };
  if (text.startsWith('JWT.')) return { from: 'claims', name: text.slice(4) };
  const client = /^(input_headers|input_query_strings)\.(.+?)(?:\.(\d+))?$/.exec(text);
  if (client) {
    const position = client[3] === undefined ? 0 : Number(client[3]);
    if (client[1] === 'input_headers') return { from: 'header', name: client[2]!.toLowerCase(), position };
    return { from: 'query', name: client[2]!, position };
  }
  return { from: 'path', name: text };
}

/** Splits a text at its placeholders: texts at even positions, placeholders at odd ones. Braces around quotes are text. */
export function splitPlaceholders(text: string): string[] {
  return text.split(/\{([^{}"]+)\}/);
}
