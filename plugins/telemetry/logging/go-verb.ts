/** Formats a value as a Go format verb does. */
export type PrintValue = (value: string | number) => string;

const verbs = /^([-+ 0]*)(\d*)(?:\.(\d+))?([sdvfeExXobq])(.*)$/s;

/** Returns whether `compileVerb` supports the format. */
export function isVerb(format: string): boolean {
  return verbs.test(format);
}

/**
 * Compiles the part of a variable after the colon: flags, width, precision, verb and trailing text, as in `.6s`, `-8s`,
 * `03x`, `.0fms`, without the leading `%`.
 * @returns undefined for an invalid format.
 */
export function compileVerb(format: string): PrintValue | undefined {
  const match = verbs.exec(format);
  if (!match) return undefined;
  const [, flags = '', width = '', precision, verb = 's', behind = ''] = match;
  const print = printVerb(verb, precision === undefined ? undefined : Number(precision));
  const minimum = Number(width);
  const left = flags.includes('-');
  const fill = !left && flags.includes('0') ? '0' : ' ';
  const sign = flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
  if (minimum === 0 && sign === '') return behind === '' ? print : (value) => print(value) + behind;
  return (value) => {
    let text = print(value);
    if (sign !== '' && typeof value === 'number' && value >= 0) text = sign + text;
    return (left ? text.padEnd(minimum) : padStart(text, minimum, fill)) + behind;
  };
}

/** Zeros are inserted between the sign and the digits. */
function padStart(text: string, width: number, fill: string): string {
  const signed = fill === '0' && /^[-+ ]/.test(text);
  return signed ? text.charAt(0) + text.slice(1).padStart(width - 1, '0') : text.padStart(width, fill);
}

function printVerb(verb: string, precision: number | undefined): PrintValue {
  switch (verb) {
    case 'd':
      return (value) => String(typeof value === 'number' ? Math.round(value) : value);
    case 'f':
      return (value) => (typeof value === 'number' ? value.toFixed(precision ?? 6) : value);
    case 'e':
      return (value) => (typeof value === 'number' ? exponent(value, precision ?? 6) : value);
    case 'E':
      return (value) => (typeof value === 'number' ? exponent(value, precision ?? 6).toUpperCase() : value);
    case 'x':
      return radix(16);
    case 'X':
      return (value) => radix(16)(value).toUpperCase();
    case 'o':
      return radix(8);
    case 'b':
      return radix(2);
    case 'q':
      return (value) => JSON.stringify(cut(String(value), precision));
    default:
      return (value) => cut(String(value), precision);
  }
}

/** The exponent has at least two digits. */
function exponent(value: number, precision: number): string {
  return value.toExponential(precision).replace(/([+-])(\d)$/, '$10$2');
}

function radix(base: number): PrintValue {
  return (value) => (typeof value === 'number' ? Math.round(value).toString(base) : Buffer.from(value).toString('hex'));
}

/** Returns the first characters; a surrogate pair counts as one character. */
function cut(text: string, length: number | undefined): string {
  if (length === undefined || text.length <= length) return text;
  return Array.from(text).slice(0, length).join('');
}
