import { type Data, isObject } from '#contract';

/** Characters that are not visible and can separate the letters of a word. */
const invisible = /\p{Default_Ignorable_Code_Point}/gu;

const beyondAscii = /[\u0080-\uffff]/;

/**
 * The texts of a body that expressions are matched against, one to three: the body as sent (of two equal keys, a backend can use
 * the one that parsing drops); the strings of a JSON
 * document or form, decoded, one per line; and these with compatibility characters normalized and invisible ones removed.
 */
export function textsOf(body: Uint8Array, contentType: string): readonly string[] {
  const raw = Buffer.from(body.buffer, body.byteOffset, body.length).toString();
  const decoded = decode(raw, contentType);
  const texts = decoded === null ? [raw] : [raw, decoded];
  const last = decoded ?? raw;
  if (!beyondAscii.test(last)) return texts;
  const visible = last.normalize('NFKC').replaceAll(invisible, '');
  if (visible !== last) texts.push(visible);
  return texts;
}

/**
 * The decoded strings of a body; null if it is neither JSON nor a form. A phrase can be spread over several strings.
 */
function decode(raw: string, contentType: string): string | null {
  try {
    if (/^\s*[[{"]/.test(raw)) return stringsOf(JSON.parse(raw) as Data);
  } catch {
    // The text is not JSON.
  }
  if (!/^application\/x-www-form-urlencoded\b/i.test(contentType)) return null;
  return Array.from(new URLSearchParams(raw), ([name, value]) => `${name}\n${value}`).join('\n');
}

/** All keys and strings of a document, one per line, in its order. Iterative: documents can be nested deeply. */
function stringsOf(document: Data): string {
  const strings: string[] = [];
  const waiting: Data[] = [document];
  while (waiting.length > 0) {
    const value = waiting.pop()!;
    if (typeof value === 'string') strings.push(value);
    else if (Array.isArray(value)) for (let at = value.length - 1; at >= 0; at--) waiting.push(value[at]!);
    else if (isObject(value)) {
      const keys = Object.keys(value);
      for (let at = keys.length - 1; at >= 0; at--) waiting.push(value[keys[at]!]!, keys[at]!);
    }
  }
  return strings.join('\n');
}
