import { Failure } from '../budget.ts';
import { areEqual, compareValues } from '../compare.ts';
import { indexOf, memberOf } from '../fields.ts';
import { bounded, type Functions, fn } from '../function.ts';
import { textOf } from '../print/print.ts';
import { sprintf } from '../print/printf.ts';
import type { Run } from '../run.ts';
import { describe, isList, isMap, isTrue, type Value } from '../value.ts';

/** Built-in functions of the template language. */
export const builtins: Functions = {
  // Called with all arguments: the compiler decides how many of them are evaluated.
  and: fn('any any...', (first, ...rest) => rest.reduce((value, next) => (isTrue(value) ? next : value), first)),
  or: fn('any any...', (first, ...rest) => rest.reduce((value, next) => (isTrue(value) ? value : next), first)),
  not: fn('any', (value) => !isTrue(value)),
  eq: fn('any any any...', (one, ...others) => others.some((other) => areEqual(one, other))),
  ne: fn('any any', (one, other) => !areEqual(one, other)),
  lt: fn('any any', (one, other) => compareValues(one, other) < 0),
  le: fn('any any', (one, other) => compareValues(one, other) <= 0),
  gt: fn('any any', (one, other) => compareValues(one, other) > 0),
  ge: fn('any any', (one, other) => compareValues(one, other) >= 0),
  index: fn('any any...', (value, ...keys) => keys.reduce(memberOf, value)),
  slice: fn('any any...', slice),
  len: fn('any', lengthOf),
  call: fn('any any...', (value) => {
    throw new Failure(`${describe(value)} is not a function`);
  }),
  print: bounded('any...', (run, ...values) => sprint(values, run)),
  println: bounded('any...', (run, ...values) => `${values.map((value) => textOf(value, run)).join(' ')}\n`),
  printf: bounded('string any...', (run, format, ...values) => sprintf(format, values, run)),
  html: bounded('any...', (run, ...values) => escapeWith(HTML, /[\0"'&<>]/g, joined(values, run))),
  // Unlike in Go, characters that XML cannot contain in any form are replaced with a replacement character.
  xmlEscape: bounded('any...', (run, ...values) =>
    escapeWith(HTML, /["'&<>]/g, joined(values, run)).replace(
      /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu,
      '\ufffd',
    ),
  ),
  js: bounded('any...', (run, ...values) =>
    joined(values, run).replace(
      /[\\'"<>&=\x00-\x1f]|[^\x00-\x7f]/gu,
      (sign) => JS[sign] ?? (/[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(sign) ? sign : unicodeEscape(sign)),
    ),
  ),
  urlquery: bounded('any...', (run, ...values) => queryEscape(joined(values, run))),
};

const HTML: Readonly<Record<string, string>> = {
  '\0': '\ufffd',
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
};

const JS: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '"': '\\"',
  '<': '\\u003C',
  '>': '\\u003E',
  '&': '\\u0026',
  '=': '\\u003D',
};

function escapeWith(table: Readonly<Record<string, string>>, signs: RegExp, text: string): string {
  return text.replace(signs, (sign) => table[sign]!);
}

function unicodeEscape(sign: string): string {
  return `\\u${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
}

function joined(values: readonly Value[], run: Run): string {
  const [only] = values;
  if (values.length === 1 && typeof only === 'string') return only;
  return sprint(values, run);
}

/** Concatenates values, with a space between two that are not strings. */
function sprint(values: readonly Value[], run: Run): string {
  let text = '';
  for (const [index, value] of values.entries()) {
    const isSpaced = index > 0 && typeof value !== 'string' && typeof values[index - 1] !== 'string';
    text += (isSpaced ? ' ' : '') + textOf(value, run);
  }
  return text;
}

/** Escapes a text for use as a query value, as Go does. */
export function queryEscape(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replaceAll('%20', '+')
    .replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Slices texts by their UTF-8 bytes, as Go does. */
function slice(value: Value, ...limits: readonly Value[]): Value {
  const [from = 0, to, capacity] = limits.map(indexOf);
  if (!isList(value) && typeof value !== 'string') throw new Failure(`cannot slice ${describe(value)}`);
  if (limits.length > 3) throw new Failure('takes at most three limits');
  const items = isList(value) ? value : Buffer.from(value);
  const end = to ?? items.length;
  if (from < 0 || from > end || end > (capacity ?? items.length) || (capacity ?? 0) > items.length) {
    throw new Failure(`out of range: ${from} to ${end}, the length is ${items.length}`);
  }
  return Array.isArray(items) ? items.slice(from, end) : (items as Buffer).subarray(from, end).toString();
}

function lengthOf(value: Value): bigint {
  if (typeof value === 'string') return BigInt(Buffer.byteLength(value));
  if (isList(value)) return BigInt(value.length);
  if (isMap(value)) return BigInt(Object.keys(value).length);
  throw new Failure(`${describe(value)} has no length`);
}
