import { currentBudget, MAX_STRING_BYTES } from '../budget.ts';
import { type LuaState, lauxlib, lua, raise } from '../fengari.ts';
import { exponentialText, fixedText, generalText } from '../numbers.ts';

/** A directive of a format string: flags, width, precision and conversion letter. */
const directive = /%([-+ #0]*)(\d*)(?:(\.)(\d*))?([\s\S]?)/y;

/** Maximum number of flags, and digits of width and precision, as in Lua. */
const MAX_FLAGS = 5;
const MAX_NUMBER_DIGITS = 2;

interface Layout {
  readonly flags: string;
  readonly width: number;
  /** Precision; undefined if omitted. */
  readonly precision: number | undefined;
  readonly letter: string;
}

/** `string.format`: the C directives supported by Lua 5.1. Bytes are represented as characters up to U+00FF. */
export function format(L: LuaState): number {
  const pattern = latin1(lauxlib.luaL_checkstring(L, 1));
  let made = '';
  let arg = 1;
  let at = 0;
  while (at < pattern.length) {
    const next = pattern.indexOf('%', at);
    made += pattern.slice(at, next < 0 ? pattern.length : next);
    if (next < 0) break;
    if (pattern[next + 1] === '%') {
      made += '%';
      at = next + 2;
    } else {
      directive.lastIndex = next;
      const match = directive.exec(pattern)!;
      made += written(L, ++arg, layoutOf(L, match));
      at = directive.lastIndex;
    }
    if (made.length > MAX_STRING_BYTES) currentBudget()!.stop(`a string of more than ${MAX_STRING_BYTES} bytes`);
  }
  const { buffer, byteOffset, length } = Buffer.from(made, 'latin1');
  lua.lua_pushstring(L, new Uint8Array(buffer, byteOffset, length));
  return 1;
}

function layoutOf(L: LuaState, [, flags = '', width = '', dot, precision = '', letter = '']: RegExpExecArray): Layout {
  if (flags.length > MAX_FLAGS) raise(L, 'invalid format (repeated flags)');
  if (width.length > MAX_NUMBER_DIGITS || precision.length > MAX_NUMBER_DIGITS) {
    raise(L, 'invalid format (width or precision too long)');
  }
  return { flags, width: Number(width), precision: dot === undefined ? undefined : Number(precision), letter };
}

function written(L: LuaState, arg: number, layout: Layout): string {
  const { letter, flags, precision } = layout;
  switch (letter) {
    case 's': {
      const text = latin1(lauxlib.luaL_tolstring(L, arg));
      lua.lua_pop(L, 1);
      return padded(precision === undefined ? text : text.slice(0, precision), layout);
    }
    case 'q':
      return quoted(latin1(lauxlib.luaL_checkstring(L, arg)));
    case 'c':
      return padded(String.fromCharCode(lauxlib.luaL_checkinteger(L, arg) & 0xff), layout);
    case 'd':
    case 'i': {
      const value = wholeArg(L, arg);
      return paddedNumber(signed(digitsOf(value < 0n ? -value : value, 10, precision), value < 0n, flags), layout);
    }
    case 'u':
    case 'o':
    case 'x':
    case 'X':
      return paddedNumber(unsigned(wholeArg(L, arg), layout), layout);
    case 'e':
    case 'E':
    case 'f':
    case 'g':
    case 'G':
      return floating(lauxlib.luaL_checknumber(L, arg), layout);
    default:
      return raise(L, `invalid option '%${letter}' to 'format'`);
  }
}

function wholeArg(L: LuaState, arg: number): bigint {
  const value = lauxlib.luaL_checknumber(L, arg);
  if (!Number.isFinite(value)) raise(L, `bad argument #${arg} to 'format' (number has no integer representation)`);
  return BigInt(Math.trunc(value));
}

function digitsOf(value: bigint, radix: number, precision: number | undefined): string {
  return precision === 0 && value === 0n ? '' : value.toString(radix).padStart(precision ?? 0, '0');
}

/** Negative numbers become 64-bit numbers with the same bits. */
function unsigned(value: bigint, { flags, precision, letter }: Layout): string {
  const radix = letter === 'u' ? 10 : letter === 'o' ? 8 : 16;
  const digits = digitsOf(BigInt.asUintN(64, value), radix, precision);
  const isMarked = flags.includes('#') && letter !== 'u' && value !== 0n;
  const text = isMarked ? `${letter === 'o' ? (digits.startsWith('0') ? '' : '0') : '0x'}${digits}` : digits;
  return letter === 'X' ? text.toUpperCase() : text;
}

function floating(value: number, layout: Layout): string {
  const { letter, flags, precision = 6 } = layout;
  const isUpper = letter === 'E' || letter === 'G';
  const isNegative = value < 0 || Object.is(value, -0);
  const size = Math.abs(value);
  if (!Number.isFinite(value)) {
    const word = signed(Number.isNaN(value) ? 'nan' : 'inf', isNegative, flags);
    return padded(isUpper ? word.toUpperCase() : word, layout);
  }
  let text: string;
  if (letter === 'f') text = fixedText(size, precision);
  else if (letter === 'e' || letter === 'E') text = exponentialText(size, precision);
  else text = generalText(size, Math.max(precision, 1), flags.includes('#'));
  if (flags.includes('#') && !text.includes('.')) text = text.replace(/(?=e|$)/, '.');
  const word = signed(text, isNegative, flags);
  return paddedNumber(isUpper ? word.toUpperCase() : word, { ...layout, precision: undefined });
}

function signed(text: string, isNegative: boolean, flags: string): string {
  if (isNegative) return `-${text}`;
  if (flags.includes('+')) return `+${text}`;
  return flags.includes(' ') ? ` ${text}` : text;
}

function padded(text: string, { flags, width }: Layout): string {
  return flags.includes('-') ? text.padEnd(width) : text.padStart(width);
}

/** Pads with zeros between sign and digits; with a precision, integers are not padded with zeros. */
function paddedNumber(text: string, layout: Layout): string {
  const { flags, width, precision } = layout;
  if (!flags.includes('0') || flags.includes('-') || precision !== undefined) return padded(text, layout);
  const [before] = /^[-+ ]?(?:0x)?/i.exec(text)!;
  return `${before}${text.slice(before.length).padStart(width - before.length, '0')}`;
}

/** Number of bytes that are quoted between two checks of the time limit. */
const QUOTED_A_LOOK = 64 * 1024;

/** Quotes a string as Lua source. */
function quoted(text: string): string {
  let inside = '';
  for (let at = 0; at < text.length; at += QUOTED_A_LOOK) {
    if (at > 0) currentBudget()?.look();
    inside += escaped(text.slice(at, at + QUOTED_A_LOOK));
  }
  return `"${inside}"`;
}

function escaped(text: string): string {
  return text
    .replace(/["\\\n]/g, '\\$&')
    .replaceAll('\r', '\\r')
    .replaceAll('\0', '\\000');
}

function latin1({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('latin1');
}
