const PLAIN = /^[ !#-[\]-~]*$/;
const UNPRINTABLE = /["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;
const NOT_ASCII = /["\\]|[^ -~]/gu;

const NAMED: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
};

/** Quotes a text as a Go string literal. @param asciiOnly escapes all other characters. @param mark the surrounding quote. */
export function quoted(text: string, asciiOnly = false, mark = '"'): string {
  if (mark === '"' && PLAIN.test(text)) return `"${text}"`;
  const escaped = text.replace(asciiOnly ? NOT_ASCII : UNPRINTABLE, (sign) => {
    if (sign === '"') return mark === '"' ? '\\"' : sign;
    return NAMED[sign] ?? escapeOf(sign.codePointAt(0)!);
  });
  return mark + (mark === "'" ? escaped.replaceAll("'", "\\'") : escaped) + mark;
}

function escapeOf(code: number): string {
  if (code < 0x80) return `\\x${hex(code, 2)}`;
  return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
