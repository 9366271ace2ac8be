/** Pattern of the most common keys. */
const name = /^[A-Za-z_][\w-]*$/;

/** Words that have another type in YAML 1.2 or 1.1, in any case of letters; in 1.1 `=` and `<<` are special. */
const word = /^(?:true|false|null|yes|no|on|off|~|=|<<)$/i;
const number =
  /^(?:[-+]?(?:0x[\da-f_]+|0b[01_]+|0o[0-7_]+|\d[\d_]*(?::[0-5]?\d)*(?:\.[\d_]*)?(?:e[-+]?\d+)?|\.[\d_]*(?:e[-+]?\d+)?|e[-+]?\d+|\.inf)|\.nan)$/i;
const date = /^\d{4}-\d\d?-\d\d?(?:$|[t\s])/i;

/** Characters that are special at the start of a text, including document markers. */
const start = /^(?:[-?:](?:\s|$)|[,[\]{}#&*!|>'"%@`]|\s|(?:---|\.\.\.)(?:\s|$))/;
/** Sequences that end a text or begin a comment, and white space that would be lost. */
const end = /:(?:\s|$)|\s#|\s$/;

const unprintable = /[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|\p{Surrogate}/u;
const escapable = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** Formats a text for a line of block-style YAML: plain if YAML 1.2 and 1.1 read it back unchanged, otherwise in double quotes. */
export function yamlText(text: string): string {
  return isPlain(text) ? text : JSON.stringify(text).replace(escapable, unicodeEscape);
}

function isPlain(text: string): boolean {
  if (name.test(text)) return !word.test(text);
  if (text === '' || unprintable.test(text) || start.test(text) || end.test(text)) return false;
  return !word.test(text) && !number.test(text) && !date.test(text);
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
