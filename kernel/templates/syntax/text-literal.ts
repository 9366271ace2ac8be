const ESCAPE = /\\(?:([abfnrtv\\'"])|x([0-9a-fA-F]{2})|([0-7]{3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S]))/g;

const NAMED: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
};

/** Parses a quoted string in Go syntax; undefined for one with an invalid escape. */
export function readQuoted(written: string): string | undefined {
  return withoutEscapes(written.slice(1, -1), "'");
}

/** Code of a character in single quotes; undefined for an invalid literal. */
export function readCharacter(written: string): bigint | undefined {
  const text = withoutEscapes(written.slice(1, -1), '"');
  const code = text?.codePointAt(0);
  return code !== undefined && text!.length === String.fromCodePoint(code).length ? BigInt(code) : undefined;
}

/** @param wrongQuote a quote that needs no escape here. The bytes of `\x` and octal escapes form UTF-8. */
function withoutEscapes(text: string, wrongQuote: string): string | undefined {
  if (!text.includes('\\')) return text;
  let isWrong = false;
  let hasBytes = false;
  const plain = text.replace(ESCAPE, (_, name, hex, octal, short, long) => {
    if (name !== undefined) {
      isWrong ||= name === wrongQuote;
      return NAMED[name]!;
    }
    const byte = hex === undefined ? octal && Number.parseInt(octal, 8) : Number.parseInt(hex, 16);
    if (byte !== undefined) {
      isWrong ||= byte > 255;
      hasBytes ||= byte > 127;
      return String.fromCharCode(byte);
    }
    const code = Number.parseInt(short ?? long ?? 'ffffffff', 16);
    isWrong ||= code > 0x10ffff || (code >= 0xd800 && code < 0xe000);
    return isWrong ? '' : String.fromCodePoint(code);
  });
  if (isWrong) return undefined;
  return hasBytes && /^[\x00-\xff]*$/.test(plain) ? Buffer.from(plain, 'latin1').toString('utf8') : plain;
}
