/** Names as most keys are. */
const name = /^[A-Za-z_][\w-]*$/;

/** Other types in YAML 1.2 or for readers of 1.1, in any case of letters; there `=` and `<<` have a meaning of their own. */
const word = /^(?:true|false|null|yes|no|on|off|~|=|<<)$/i;
const number =
  /^(?:[-+]?(?:0x[\da-f_]+|0b[01_]+|0o[0-7_]+|\d[\d_]*(?::[0-5]?\d)*(?:\.[\d_]*)?(?:e[-+]?\d+)?|\.[\d_]*(?:e[-+]?\d+)?|e[-+]?\d+|\.inf)|\.nan)$/i;
const date = /^\d{4}-\d\d?-\d\d?(?:$|[t\s])/i;

/** Signs that mean something at the start of a text, the marks of documents among them. */
const start = /^(?:[-?:](?:\s|$)|[,[\]{}#&*!|>'"%@`]|\s|(?:---|\.\.\.)(?:\s|$))/;
/** What ends a text or begins a comment, and white space that would be lost. */
const end = /:(?:\s|$)|\s#|\s$/;

const unprintable = /[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|\p{Surrogate}/u;
const escapable = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** A text on a line of block-style YAML: plain where YAML 1.2 and 1.1 read it back as it is, else in double quotes. */
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
