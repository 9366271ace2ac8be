import { currentBudget, MAX_STRING_BYTES, spendMemory } from '../budget.ts';
import {
  bytesOf,
  type LuaFunction,
  type LuaState,
  lauxlib,
  lua,
  lualib,
  nameBytes,
  raise,
  textArg,
} from '../fengari.ts';
import { MAX_NUMERAL_BYTES } from '../numbers.ts';
import { format } from './format.ts';
import { mathFunctions } from './math.ts';
import { sort } from './sort.ts';
import { stringFunctions } from './strings.ts';
import { date } from './time.ts';

type Functions = Readonly<Record<string, LuaFunction>>;

/** A library: the engine functions that are kept, and the functions that replace or supplement them. */
export interface Library {
  /** Name of the library's table; empty for global functions. */
  readonly name: string;
  readonly open: LuaFunction;
  readonly kept: readonly string[];
  /** @param engine all functions of the engine's library. */
  readonly own: (engine: Functions) => Functions;
}

/** Bytes that the stack of a coroutine takes. */
const COROUTINE_BYTES = 4096;
/** Longest source text that a script can load at run time, in bytes. */
const MAX_SOURCE_BYTES = 256 * 1024;

const base: Library = {
  name: '',
  open: lualib.luaopen_base!,
  kept: words('assert error getmetatable ipairs next pairs rawequal rawget select setmetatable tostring type _VERSION'),
  own: ({ tonumber }) => ({ pcall, xpcall, load, loadstring: load, collectgarbage, tonumber: ofNumeral(tonumber!) }),
};

const tables: Library = {
  name: 'table',
  open: lualib.luaopen_table!,
  kept: [],
  own: ({ concat, insert, remove, unpack }) => ({
    insert: looking(insert!),
    remove: looking(remove!),
    unpack: looking(unpack!),
    concat(L) {
      let length = 0;
      const separator = lua.lua_type(L, 2) === lua.LUA_TSTRING ? lua.lua_rawlen(L, 2) : 0;
      const last = lua.lua_type(L, 4) <= 0 ? lengthOf(L) : lauxlib.luaL_checkinteger(L, 4);
      for (let at = lua.lua_type(L, 3) <= 0 ? 1 : lauxlib.luaL_checkinteger(L, 3); at <= last; at++) {
        lua.lua_rawgeti(L, 1, at);
        length += separator + (lua.lua_type(L, -1) === lua.LUA_TSTRING ? lua.lua_rawlen(L, -1) : 20);
        lua.lua_pop(L, 1);
        if (length > MAX_STRING_BYTES) currentBudget()!.stop(`a string of more than ${MAX_STRING_BYTES} bytes`);
      }
      return concat!(L);
    },
    sort,
    getn: (L) => pushNumber(L, lengthOf(L)),
    maxn,
  }),
};

const strings: Library = {
  name: 'string',
  open: lualib.luaopen_string!,
  kept: words('byte char len lower reverse sub upper'),
  own: () => ({ ...stringFunctions, gfind: stringFunctions.gmatch!, format }),
};

const math: Library = {
  name: 'math',
  open: lualib.luaopen_math!,
  kept: words('abs acos asin atan ceil cos deg exp floor fmod huge max min modf pi rad sin sqrt tan'),
  own: ({ fmod }) => ({
    ...mathFunctions,
    mod: fmod!,
    random,
    // Each script gets random numbers of its own, so that no script can predict those of another.
    randomseed: () => 0,
  }),
};

/** The only operating system functions available to scripts: time. */
const time: Library = {
  name: 'os',
  open: lualib.luaopen_os!,
  kept: words('clock difftime time'),
  own: (engine) => ({ date: date(engine.date!) }),
};

const coroutines: Library = {
  name: 'coroutine',
  open: lualib.luaopen_coroutine!,
  kept: words('running status yield'),
  own: ({ create, wrap, resume }) => ({
    create(L) {
      spendMemory(COROUTINE_BYTES);
      return create!(L);
    },
    wrap(L) {
      spendMemory(COROUTINE_BYTES);
      return wrap!(L);
    },
    resume(L) {
      const count = resume!(L);
      refuseToCatch();
      return count;
    },
  }),
};

export const closedLibraries: readonly Library[] = [base, tables];
export const openLibraries: readonly Library[] = [...closedLibraries, strings, math, time, coroutines];

function words(text: string): readonly string[] {
  return text.split(' ');
}

function pushNumber(L: LuaState, value: number): number {
  lua.lua_pushnumber(L, value);
  return 1;
}

/** The largest numeric key of a table; 0 without one. */
function maxn(L: LuaState): number {
  lauxlib.luaL_checktype(L, 1, lua.LUA_TTABLE);
  let greatest = 0;
  lua.lua_pushnil(L);
  for (let seen = 1; lua.lua_next(L, 1); seen++) {
    lua.lua_pop(L, 1);
    if (lua.lua_type(L, -1) === lua.LUA_TNUMBER) greatest = Math.max(greatest, lua.lua_tonumber(L, -1));
    if (seen % LONG_TABLE === 0) currentBudget()!.look();
  }
  return pushNumber(L, greatest);
}

/** Number of values from which on processing a table takes noticeable time. */
const LONG_TABLE = 200;

/** Wraps a function so that the time is checked before it processes a long table. */
function looking(f: LuaFunction): LuaFunction {
  return (L) => {
    const isSmall = lua.lua_type(L, 1) === lua.LUA_TTABLE && lua.lua_rawlen(L, 1) < LONG_TABLE && lua.lua_gettop(L) < 3;
    if (!isSmall) currentBudget()?.look();
    return f(L);
  };
}

/** `tonumber` that returns nil for texts longer than any numeral. */
function ofNumeral(tonumber: LuaFunction): LuaFunction {
  return (L) => {
    if (lua.lua_type(L, 1) !== lua.LUA_TSTRING || lua.lua_rawlen(L, 1) <= MAX_NUMERAL_BYTES) return tonumber(L);
    lua.lua_pushnil(L);
    return 1;
  };
}

function lengthOf(L: LuaState): number {
  lauxlib.luaL_checktype(L, 1, lua.LUA_TTABLE);
  return lua.lua_rawlen(L, 1);
}

/** Wraps a function that catches errors, so that a script cannot catch an error that ends it. */
function refuseToCatch(): void {
  currentBudget()!.refuse();
}

function pcall(L: LuaState): number {
  lauxlib.luaL_checkany(L, 1);
  lua.lua_pushboolean(L, true);
  lua.lua_insert(L, 1);
  return caught(L, lua.lua_pcallk(L, lua.lua_gettop(L) - 2, lua.LUA_MULTRET, 0, 0, caught), 0);
}

function xpcall(L: LuaState): number {
  const args = lua.lua_gettop(L) - 2;
  lauxlib.luaL_checktype(L, 2, lua.LUA_TFUNCTION);
  lua.lua_pushboolean(L, true);
  lua.lua_pushvalue(L, 1);
  lua.lua_rotate(L, 3, 2);
  return caught(L, lua.lua_pcallk(L, args, lua.LUA_MULTRET, 2, 2, caught), 2);
}

/** @param extra number of values below the results on the stack. */
function caught(L: LuaState, status: number, extra: number): number {
  // The engine disables hooks when it recovers from an error, so they are enabled again.
  (L as { allowhook?: number }).allowhook = 1;
  const isError = status !== lua.LUA_OK && status !== lua.LUA_YIELD;
  // Checks the time, because the engine's recovery takes as long as many instructions.
  if (isError) currentBudget()!.look();
  refuseToCatch();
  if (!isError) return lua.lua_gettop(L) - extra;
  lua.lua_pushboolean(L, false);
  lua.lua_pushvalue(L, -2);
  return 2;
}

/** `load` and `loadstring`, for source text only: bytecode can crash the engine. */
function load(L: LuaState): number {
  const name = lua.lua_type(L, 2) <= 0 ? '=(load)' : textArg(L, 2);
  let text: Uint8Array;
  if (lua.lua_type(L, 1) === lua.LUA_TFUNCTION) text = collected(L);
  else text = lauxlib.luaL_checkstring(L, 1);
  if (text.length > MAX_SOURCE_BYTES) raise(L, `source text of more than ${MAX_SOURCE_BYTES} bytes is not loaded`);
  if (lauxlib.luaL_loadbufferx(L, text, text.length, bytesOf(name), nameBytes('t')) === lua.LUA_OK) {
    // The loaded code gets the globals of the run that calls the function.
    currentGlobals(L);
    lua.lua_setupvalue(L, -2, 1);
    return 1;
  }
  refuseToCatch();
  lua.lua_pushnil(L);
  lua.lua_insert(L, -2);
  return 2;
}

/** Collects the text that a function returns in pieces. */
function collected(L: LuaState): Uint8Array {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    lua.lua_pushvalue(L, 1);
    lua.lua_call(L, 0, 1);
    const piece = lua.lua_tostring(L, -1);
    if (piece === null || piece.length === 0) break;
    length += piece.length;
    if (length > MAX_STRING_BYTES) currentBudget()!.stop(`a string of more than ${MAX_STRING_BYTES} bytes`);
    pieces.push(piece);
    lua.lua_pop(L, 1);
  }
  return Uint8Array.from(Buffer.concat(pieces, length));
}

let currentGlobals: (L: LuaState) => void = () => {};

/** @param push pushes the globals of the current run onto the stack. */
export function setGlobals(push: (L: LuaState) => void): void {
  currentGlobals = push;
}

/** Implements `collectgarbage`. Always returns 0, because the host manages memory. */
function collectgarbage(L: LuaState): number {
  lua.lua_pushnumber(L, 0);
  return 1;
}

function random(L: LuaState): number {
  const count = lua.lua_gettop(L);
  if (count === 0) {
    lua.lua_pushnumber(L, Math.random());
    return 1;
  }
  const from = count === 1 ? 1 : lauxlib.luaL_checknumber(L, 1);
  const to = lauxlib.luaL_checknumber(L, count === 1 ? 1 : 2);
  if (from > to) raise(L, 'interval is empty');
  lua.lua_pushnumber(L, Math.floor(from) + Math.floor(Math.random() * (Math.floor(to) - Math.floor(from) + 1)));
  return 1;
}
