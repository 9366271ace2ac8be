import { currentBudget, spendMemory } from '../budget.ts';
import { type LuaState, lauxlib, lua } from '../fengari.ts';

/** Whether the value at one index of the table is ordered before that at another. Indices start at 1. */
type IsBefore = (one: number, other: number) => boolean;

/** Comparisons, or equivalent passes over bytes, between two time checks. */
const STEPS_A_LOOK = 256;
/** Bytes of two strings that are compared in about the time of a call. */
const BYTES_A_STEP = 1024;
/** Bytes that an element takes while its table is sorted. */
const PLACE_BYTES = 16;

/**
 * `table.sort`, a merge sort: regardless of the order of the values and the results of the comparison function, a table
 * of n values takes at most n * log2(n) comparisons, and the sort is stable.
 */
export function sort(L: LuaState): number {
  lauxlib.luaL_checktype(L, 1, lua.LUA_TTABLE);
  const count = lua.lua_rawlen(L, 1);
  const isOrdered = lua.lua_type(L, 2) > lua.LUA_TNIL;
  if (isOrdered) lauxlib.luaL_checktype(L, 2, lua.LUA_TFUNCTION);
  lua.lua_settop(L, 2);
  spendMemory(PLACE_BYTES * count);
  const isBefore = isOrdered ? byFunction(L) : (ofNumbers(L, count) ?? ofTexts(L, count) ?? byOperator(L));
  move(L, sorted(count, isBefore));
  return 0;
}

/** Counts steps, and checks the time periodically. */
function paced(): (steps: number) => void {
  let left = STEPS_A_LOOK;
  return (steps) => {
    left -= steps;
    if (left > 0) return;
    left = STEPS_A_LOOK;
    currentBudget()?.look();
  };
}

/** Creates the comparison of numbers; undefined for a table with other values. */
function ofNumbers(L: LuaState, count: number): IsBefore | undefined {
  const step = paced();
  const numbers = new Float64Array(count + 1);
  for (let at = 1; at <= count; at++) {
    step(1);
    const isNumber = lua.lua_rawgeti(L, 1, at) === lua.LUA_TNUMBER;
    if (isNumber) numbers[at] = lua.lua_tonumber(L, -1);
    lua.lua_pop(L, 1);
    if (!isNumber) return undefined;
  }
  return (one, other) => {
    step(1);
    return numbers[one]! < numbers[other]!;
  };
}

/** Creates the comparison of strings; undefined for a table with other values. */
function ofTexts(L: LuaState, count: number): IsBefore | undefined {
  const step = paced();
  const texts: Uint8Array[] = [new Uint8Array()];
  for (let at = 1; at <= count; at++) {
    step(1);
    const isText = lua.lua_rawgeti(L, 1, at) === lua.LUA_TSTRING;
    if (isText) texts.push(lua.lua_tostring(L, -1)!);
    lua.lua_pop(L, 1);
    if (!isText) return undefined;
  }
  return (one, other) => {
    const [first, second] = [texts[one]!, texts[other]!];
    step(1 + Math.min(first.length, second.length) / BYTES_A_STEP);
    return Buffer.compare(first, second) < 0;
  };
}

function byOperator(L: LuaState): IsBefore {
  const step = paced();
  return (one, other) => {
    step(1);
    lua.lua_rawgeti(L, 1, one);
    lua.lua_rawgeti(L, 1, other);
    const isBefore = lua.lua_compare(L, -2, -1, lua.LUA_OPLT) !== 0;
    lua.lua_pop(L, 2);
    return isBefore;
  };
}

function byFunction(L: LuaState): IsBefore {
  const step = paced();
  return (one, other) => {
    step(1);
    lua.lua_pushvalue(L, 2);
    lua.lua_rawgeti(L, 1, one);
    lua.lua_rawgeti(L, 1, other);
    lua.lua_call(L, 2, 1);
    const isBefore = lua.lua_toboolean(L, -1);
    lua.lua_pop(L, 1);
    return isBefore;
  };
}

/** Sorts by comparisons. @returns the indices in the order of their values. */
function sorted(count: number, isBefore: IsBefore): Uint32Array {
  let from = Uint32Array.from({ length: count }, (_, at) => at + 1);
  let to = new Uint32Array(count);
  for (let width = 1; width < count; width *= 2) {
    for (let start = 0; start < count; start += 2 * width) {
      const middle = Math.min(start + width, count);
      merge(from, to, [start, middle, Math.min(start + 2 * width, count)], isBefore);
    }
    [from, to] = [to, from];
  }
  return from;
}

type Runs = readonly [start: number, middle: number, end: number];

/** Merges two adjacent sorted ranges. */
function merge(from: Uint32Array, to: Uint32Array, [start, middle, end]: Runs, isBefore: IsBefore): void {
  let left = start;
  let right = middle;
  for (let at = start; at < end; at++) {
    const isRight = right < end && (left >= middle || isBefore(from[right]!, from[left]!));
    to[at] = from[isRight ? right++ : left++]!;
  }
}

/** Moves the values of a table to their sorted positions, by following the cycles of the permutation. */
function move(L: LuaState, order: Uint32Array): void {
  const step = paced();
  for (let start = 1; start <= order.length; start++) {
    if (order[start - 1] === start) continue;
    lua.lua_rawgeti(L, 1, start);
    let at = start;
    for (;;) {
      step(1);
      const from = order[at - 1]!;
      order[at - 1] = at;
      if (from === start) break;
      lua.lua_rawgeti(L, 1, from);
      lua.lua_rawseti(L, 1, at);
      at = from;
    }
    lua.lua_rawseti(L, 1, at);
  }
}
