import { Failure } from '../budget.ts';
import type { Run } from '../run.ts';
import {
  integerOf,
  isList,
  isMap,
  kindOf,
  numberOf,
  Struct,
  sortedKeys,
  TypedInteger,
  typeOf,
  type Value,
  valueAt,
} from '../value.ts';
import { formatFloat, MAX_PRECISION } from './float-format.ts';
import { textOf } from './print.ts';
import { quoted } from './quote.ts';

/** One `%…` directive of a format. */
interface Directive {
  readonly verb: string;
  /** Any of `+`, `-`, `#`, `0` and space. */
  readonly flags: string;
  readonly width: number;
  readonly precision: number | undefined;
}

const DIRECTIVE = /%([-+# 0]*)(?:\[(\d+)\])?(\*|\d+)?(?:(\.)(?:\[(\d+)\])?(\*|\d+)?)?(?:\[(\d+)\])?([\s\S]?)/gu;

/** Maximum width and precision. */
const MAX_WIDTH = 1_000_000;

/** Formats values like Go's `Sprintf`: a value that does not fit its verb is printed as `%!d(string=a)`. */
export function sprintf(format: string, args: readonly Value[], run: Run): string {
  let next = 0;
  let isReordered = false;
  const pick = (index: string | undefined): void => {
    if (index === undefined) return;
    next = Number(index) - 1;
    isReordered = true;
  };
  const count = (written: string | undefined): number | undefined => {
    if (written === undefined) return undefined;
    const number = written === '*' ? Number(integerOf(args[next++]) ?? 0n) : Number(written);
    if (Math.abs(number) > MAX_WIDTH) throw new Failure(`a width of ${number} is more than ${MAX_WIDTH}`);
    return number;
  };
  const text = format.replace(
    DIRECTIVE,
    (_, given: string, first, widthText, dot, second, precisionText, third, verb: string) => {
      if (verb === '%') return '%';
      pick(first);
      const width = count(widthText) ?? 0;
      pick(second);
      const precision = dot === undefined ? undefined : Math.min(count(precisionText) ?? 0, MAX_PRECISION);
      pick(third);
      if (verb === '') return '%!(NOVERB)';
      if (next < 0 || next >= args.length) return isReordered ? `%!${verb}(BADINDEX)` : `%!${verb}(MISSING)`;
      const flags = width < 0 ? `${given}-` : given;
      run.budget.claim(Math.abs(width));
      return directed(args[next++], { verb, flags, width: Math.abs(width), precision }, run);
    },
  );
  if (isReordered || next >= args.length) return text;
  const extra = args
    .slice(next)
    .map((value) => (value === undefined || value === null ? '<nil>' : `${typeOf(value)}=${textOf(value, run)}`));
  return `${text}%!(EXTRA ${extra.join(', ')})`;
}

function directed(value: Value, directive: Directive, run: Run): string {
  run.budget.spend(1);
  const { verb } = directive;
  if (verb === 'T') return padded(typeOf(value), directive);
  if (value === undefined || value === null) {
    return verb === 'v' ? padded('<nil>', directive) : `%!${verb}(<nil>)`;
  }
  if (isList(value))
    return joined(
      value.map((item) => directed(item, directive, run)),
      '[',
      run,
    );
  if (isMap(value)) {
    const entries = sortedKeys(value).map(
      (key) => `${directed(key, directive, run)}:${directed(valueAt(value, key), directive, run)}`,
    );
    return joined(entries, 'map[', run);
  }
  return scalar(value, directive, run) ?? `%!${verb}(${typeOf(value)}=${textOf(value, run)})`;
}

function joined(items: readonly string[], open: string, run: Run): string {
  const text = `${open}${items.join(' ')}]`;
  run.budget.claim(text.length);
  return text;
}

/** @returns undefined for a verb of another kind. */
function scalar(value: NonNullable<Value>, directive: Directive, run: Run): string | undefined {
  const { verb, precision, flags } = directive;
  if (typeof value === 'boolean') return 'tv'.includes(verb) ? padded(String(value), directive) : undefined;
  if (typeof value === 'string') return ofString(value, directive);
  if (
    value instanceof Struct ||
    (value instanceof TypedInteger && kindOf(value) !== value.type && 'vsq'.includes(verb))
  ) {
    return ofString(value.toString(), directive);
  }
  const integer = integerOf(value) ?? wholeNumber(value, verb);
  if (integer !== undefined) return ofInteger(integer, directive);
  const number = numberOf(value)!;
  if (verb === 'v')
    return numeric(run.numbers === 'go' ? formatFloat(number, 'g', precision) : textOf(value, run), directive);
  if (!/[eEfFgG]/.test(verb)) return undefined;
  return numeric(formatFloat(number, verb, precision, flags.includes('#')), directive);
}

/** Numbers from a document are not typed as integers, so any whole number is accepted. */
function wholeNumber(value: Value, verb: string): bigint | undefined {
  if (!'dboxXc'.includes(verb)) return undefined;
  const number = numberOf(value)!;
  return Number.isInteger(number) ? BigInt(number) : undefined;
}

function ofString(text: string, directive: Directive): string | undefined {
  const { verb, flags, precision } = directive;
  const cut = precision === undefined ? text : [...text].slice(0, precision).join('');
  switch (verb) {
    case 'v':
    case 's':
      return padded(flags.includes('#') && verb === 'v' ? quoted(cut) : cut, directive);
    case 'q':
      return padded(
        flags.includes('#') && !/[`\x00-\x08\x0a-\x1f\x7f]/.test(cut) ? `\`${cut}\`` : quoted(cut, flags.includes('+')),
        directive,
      );
    case 'x':
    case 'X': {
      const separator = flags.includes(' ') ? ' ' : '';
      const prefix = flags.includes('#') ? `0${verb}` : '';
      const bytes = Buffer.from(text).subarray(0, precision);
      const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(separator);
      return padded(prefix + (verb === 'X' ? hex.toUpperCase() : hex), directive);
    }
    default:
      return undefined;
  }
}

const RADIX: Readonly<Record<string, readonly [radix: number, prefix: string]>> = {
  v: [10, ''],
  d: [10, ''],
  b: [2, '0b'],
  o: [8, '0'],
  O: [8, '0o'],
  x: [16, '0x'],
  X: [16, '0X'],
};

function ofInteger(value: bigint, directive: Directive): string | undefined {
  const { verb, flags, precision } = directive;
  const style = RADIX[verb];
  if (style) {
    const [radix, prefix] = style;
    const digits = (value < 0n ? -value : value).toString(radix);
    const written = (verb === 'X' ? digits.toUpperCase() : digits).padStart(precision ?? 0, '0');
    const sign = value < 0n ? '-' : '';
    const text = sign + (flags.includes('#') || verb === 'O' ? prefix : '') + written;
    return numeric(text, precision === undefined ? directive : { ...directive, flags: flags.replaceAll('0', '') });
  }
  if (!'cqU'.includes(verb)) return undefined;
  if (verb === 'U') return padded(`U+${value.toString(16).toUpperCase().padStart(4, '0')}`, directive);
  const character = value >= 0n && value <= 0x10ffffn ? String.fromCodePoint(Number(value)) : '\ufffd';
  return padded(verb === 'q' ? quoted(character, flags.includes('+'), "'") : character, directive);
}

/** A number with its sign, padded with zeros or spaces. */
function numeric(text: string, directive: Directive): string {
  const { flags, width } = directive;
  const [, sign, digits] = /^([-+]?)(.*)$/.exec(text)!;
  const shown = sign || (flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '');
  const isFilled = flags.includes('0') && !flags.includes('-') && /^\d/.test(digits!);
  return isFilled ? shown + digits!.padStart(width - shown.length, '0') : padded(shown + digits, directive);
}

/** Widths are counted in characters. */
function padded(text: string, { flags, width }: Directive): string {
  if (width === 0) return text;
  const missing = width - [...text].length;
  if (missing <= 0) return text;
  const fill = (flags.includes('0') && !flags.includes('-') ? '0' : ' ').repeat(missing);
  return flags.includes('-') ? text + fill : fill + text;
}
