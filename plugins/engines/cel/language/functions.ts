import { type CelList, CelScalar, celFunc, celList, celMethod, celUint, listType, objectType } from '@bufbuild/cel';
import { TimestampSchema, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { spend } from './budget.ts';

const { BOOL, DOUBLE, DYN, INT, STRING, UINT } = CelScalar;
const LIST = listType(DYN);

/** Longest string that an operator may produce, in UTF-16 units. */
const MAX_TEXT = 1024 * 1024;

/** Internal names inserted into the syntax tree. Expressions cannot contain them. */
export const TURN = '@turn';
export const PUSH = '@push';

/** Range of timestamps in seconds since 1970: from the year 1 to the end of the year 9999. */
const FIRST_SECOND = -62_135_596_800n;
const LAST_SECOND = 253_402_300_799n;

/** Number of string characters that count as one visited member. */
const TEXT_STEP = 1024;

const integer = /^[+-]?\d{1,100}$/;
const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const special: Readonly<Record<string, number>> = { inf: Infinity, '+inf': Infinity, '-inf': -Infinity, nan: NaN };
const MAX_NUMBER_LENGTH = 400;

/**
 * Replacements for functions where the engine deviates from the language or is unbounded: it parses `''` and `' 1 '` as
 * numbers, takes milliseconds for seconds, and copies strings to count their characters.
 */
export const functions = [
  celFunc('int', [STRING], INT, (text) => {
    const value = readInteger(text);
    if (BigInt.asIntN(64, value) !== value) throw new Error(`'${text}' is not a 64-bit integer`);
    return value;
  }),
  celFunc('uint', [STRING], UINT, (text) => {
    const value = readInteger(text);
    if (BigInt.asUintN(64, value) !== value) throw new Error(`'${text}' is not an unsigned 64-bit integer`);
    return celUint(value);
  }),
  celFunc('double', [STRING], DOUBLE, (text) => {
    const value = special[text.toLowerCase()] ?? (isDecimal(text) ? Number(text) : undefined);
    if (value === undefined) throw new Error(`'${text.slice(0, 50)}' is not a number`);
    return value;
  }),
  celFunc('timestamp', [INT], objectType(TimestampSchema), (seconds) => {
    if (seconds < FIRST_SECOND || seconds > LAST_SECOND) throw new Error('timestamp out of range');
    return timestampFromMs(Number(seconds) * 1000);
  }),
  celFunc('size', [STRING], INT, (text) => countCharacters(text)),
  celMethod('size', STRING, [], INT, function () {
    return countCharacters(this);
  }),
  celFunc('_+_', [STRING, STRING], STRING, (left, right) => {
    if (left.length + right.length > MAX_TEXT) throw new Error(`a text of more than ${MAX_TEXT} characters`);
    return left + right;
  }),
  celFunc(TURN, [DYN], BOOL, (condition) => {
    spend(1);
    return condition === true;
  }),
  celFunc(PUSH, [LIST, LIST], LIST, (made, more) => push(made as CelList, more as CelList)),
];

function readInteger(text: string): bigint {
  if (!integer.test(text)) throw new Error(`'${text.slice(0, 50)}' is not an integer`);
  return BigInt(text);
}

function isDecimal(text: string): boolean {
  return text.length <= MAX_NUMBER_LENGTH && decimal.test(text);
}

function countCharacters(text: string): bigint {
  spend(Math.ceil(text.length / TEXT_STEP));
  let characters = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) !== 0xd800 || (text.charCodeAt(at + 1) & 0xfc00) !== 0xdc00) continue;
    characters--;
    at++;
  }
  return BigInt(characters);
}

const growing = new WeakMap<CelList, unknown[]>();

/** Appends to the list that a `map` or `filter` builds, which is not yet visible elsewhere. */
function push(made: CelList, more: CelList): CelList {
  const own = growing.get(made);
  if (own) {
    for (const member of more) own.push(member);
    return made;
  }
  const members = [...made, ...more];
  const list = celList(members);
  growing.set(list, members);
  return list;
}
