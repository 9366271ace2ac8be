import { createRequire } from 'node:module';
import { currentBudget, LONG_STRING_BYTES, spendMemory } from '../budget.ts';
import { MAX_NUMERAL_BYTES, numberText } from '../numbers.ts';

// The engine implements Lua 5.3 without limits. Its parts are loaded and adapted one by one, before other parts import
// their functions: numbers behave as in Lua 5.1, and allocations are counted.
const require = createRequire(import.meta.url);

/** Maximum number of values on the stack of a thread. Beyond it, the script fails with "stack overflow". */
const STACK_LIMIT = 20_000;

// The stack limit is set before the engine is loaded, because the engine reads it only once.
process.env.FENGARICONF = JSON.stringify({ LUA_COMPAT_FLOATSTRING: true, LUAI_MAXSTACK: STACK_LIMIT });
require('fengari/src/defs.js');
const conf = require('fengari/src/luaconf.js') as { lua_number2str(value: number): string };
delete process.env.FENGARICONF;
conf.lua_number2str = numberText;

/** Bytes that an empty table takes. */
const TABLE_BYTES = 512;

/** Creates a string that takes ownership of the bytes. */
type MakeString = (L: unknown, bytes: Uint8Array) => object;
interface Strings {
  luaS_bless: MakeString;
  luaS_new: MakeString;
  /** Hash key of a string in tables. */
  luaS_hash(bytes: Uint8Array): string;
  luaS_hashlongstr(string: { hash: string | null; readonly realstring: Uint8Array }): string;
}
const strings = require('fengari/src/lstring.js') as Strings;

// Counts every created string. The hash keys are replaced as well: the engine's own keys take a pass of JavaScript for
// each byte.
const { luaS_bless: bless } = strings;
strings.luaS_bless = (L, bytes) => {
  spendMemory(bytes.length);
  return bless(L, bytes);
};
strings.luaS_new = countedCopy;
strings.luaS_hash = (bytes) => `|${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')}`;
strings.luaS_hashlongstr = (string) => {
  string.hash ??= strings.luaS_hash(string.realstring);
  return string.hash;
};

/** The engine also calls this function with `new`. */
function countedCopy(L: unknown, bytes: Uint8Array): object {
  spendMemory(bytes.length);
  return bless(L, bytes.slice());
}

interface Api {
  lua_pushinteger(L: unknown, value: number): void;
  lua_pushnumber(L: unknown, value: number): void;
}
const api = require('fengari/src/lapi.js') as Api;
api.lua_pushinteger = api.lua_pushnumber;

interface Slot {
  readonly value: number;
  setfltvalue(value: number): void;
}
interface Values {
  readonly TValue: {
    readonly prototype: {
      ttisinteger(): boolean;
      ttisfloat(): boolean;
      ttisnumber(): boolean;
      setivalue(value: number): void;
      setfltvalue(value: number): void;
    };
  };
  luaO_str2num(text: Uint8Array, slot: Slot): number;
}

// The engine has 32-bit integers in addition to floating-point numbers; Lua 5.1 has one number type, which never
// overflows.
const values = require('fengari/src/lobject.js') as Values;
const { prototype } = values.TValue;
prototype.ttisinteger = () => false;
prototype.ttisfloat = prototype.ttisnumber;
prototype.setivalue = prototype.setfltvalue;

/** Maximum length of a hexadecimal number that fits into the engine's integers, including `0x` and the end mark. */
const SHORT_HEX = 9;
const hexadecimal = /^\s*([-+]?)(0x[\da-f]+)\s*$/i;

const { luaO_str2num: readNumber } = values;
values.luaO_str2num = (text, slot) => {
  if (text.length > MAX_NUMERAL_BYTES) return 0;
  const length = readNumber(text, slot);
  if (length <= SHORT_HEX) return length;
  const [, sign, digits] = hexadecimal.exec(Buffer.from(text.subarray(0, length - 1)).toString('latin1')) ?? [];
  if (digits !== undefined) slot.setfltvalue(sign === '-' ? -Number(digits) : Number(digits));
  return length;
};

interface Entry {
  n: Entry | undefined;
  p: Entry | undefined;
}
/** A table: its entries by key, and in iteration order. */
interface Table {
  readonly strong: Map<unknown, Entry>;
  f: Entry | undefined;
  l: Entry | undefined;
}
interface Key {
  readonly value: unknown;
  ttisnumber(): boolean;
}
interface Tables {
  luaH_new(L: unknown): object;
  luaH_setint(table: Table, key: number, value: unknown): void;
  luaH_setfrom(L: unknown, table: Table, key: Key, value: unknown): void;
}
const tables = require('fengari/src/ltable.js') as Tables;
const { luaH_new: makeTable, luaH_setint: setInteger, luaH_setfrom: setAny } = tables;
tables.luaH_new = (L) => {
  spendMemory(TABLE_BYTES);
  return makeTable(L);
};

// The engine iterates over tables in insertion order, but scripts expect list elements first, in list order.
tables.luaH_setint = (table, key, value) => {
  const { size } = table.strong;
  setInteger(table, key, value);
  if (table.strong.size > size) placeInList(table, key);
};
tables.luaH_setfrom = (L, table, key, value) => {
  const { size } = table.strong;
  setAny(L, table, key, value);
  if (table.strong.size > size && key.ttisnumber()) placeInList(table, key.value as number);
};

/** Moves the newest entry after the previous list element, or before the next one. */
function placeInList(table: Table, key: number): void {
  const entry = table.l!;
  const before = table.strong.get(key - 1);
  if (before) return moveBetween(table, entry, before, before.n);
  const after = key === 1 ? table.f : table.strong.get(key + 1);
  if (after) moveBetween(table, entry, after.p, after);
}

function moveBetween(table: Table, entry: Entry, before: Entry | undefined, after: Entry | undefined): void {
  if (before === entry || after === entry) return;
  table.l = entry.p;
  entry.p!.n = undefined;
  entry.p = before;
  entry.n = after;
  if (before) before.n = entry;
  else table.f = entry;
  if (after) after.p = entry;
  else table.l = entry;
}

/** Number of source tokens between two time checks. The number is small because the compiler may revisit all code generated so far for a single token. */
const TOKENS_A_LOOK = 32;

interface Lexer {
  luaX_next(source: unknown): void;
}
const lexer = require('fengari/src/llex.js') as Lexer;
const { luaX_next: nextToken } = lexer;
let tokens = 0;
lexer.luaX_next = (source) => {
  if (++tokens % TOKENS_A_LOOK === 0) currentBudget()?.look();
  nextToken(source);
};

interface Arguments {
  luaL_checklstring(L: unknown, arg: number): Uint8Array;
  luaL_checkstring(L: unknown, arg: number): Uint8Array;
  luaL_checkinteger(L: unknown, arg: number): number;
  luaL_optinteger(L: unknown, arg: number, otherwise: number): number;
  luaL_checknumber(L: unknown, arg: number): number;
  luaL_opt(L: unknown, check: (L: unknown, arg: number) => number, arg: number, otherwise: number): number;
}
const args = require('fengari/src/lauxlib.js') as Arguments;
// Integer arguments are truncated to integers.
args.luaL_checkinteger = (L, arg) => Math.trunc(args.luaL_checknumber(L, arg)) || 0;
args.luaL_optinteger = (L, arg, otherwise) => args.luaL_opt(L, args.luaL_checkinteger, arg, otherwise);

// The time is also checked in library functions, because they may process long strings and the engine checks it only
// between instructions.
const { luaL_checklstring: textArgument } = args;
args.luaL_checklstring = (L, arg) => {
  const text = textArgument(L, arg);
  if (text.length >= LONG_STRING_BYTES) currentBudget()?.look();
  return text;
};
args.luaL_checkstring = args.luaL_checklstring;
