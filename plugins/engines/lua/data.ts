import { type Data, type DataObject, getKey, isObject, setKey } from '#contract';
import { currentBudget } from './budget.ts';
import { type LuaFunction, type LuaState, lauxlib, lua, pushText, raise, textArg, textOfBytes } from './fengari.ts';
import { defineObject } from './gateway/object.ts';

/** Deepest native table that can be converted to data, and longest list that a script may create by setting an index. */
const MAX_DEPTH = 100;
const MAX_LIST = 100_000;

/** Estimated memory for a member of a list or an object, in bytes. */
const MEMBER_BYTES = 64;

/** A data object; changes by the script apply to the original. */
export const luaTable = defineObject<DataObject>('luaTable', {
  get(L, object) {
    const value = getKey(object, textArg(L, 2));
    return value === undefined ? 0 : pushData(L, value);
  },
  set(L, object) {
    const key = textArg(L, 2);
    const value = readData(L, 3, true);
    refuseCycle(L, value, object);
    currentBudget()?.made(MEMBER_BYTES + key.length);
    if (value !== undefined) setKey(object, key, value);
    return 0;
  },
  len: (L, object) => pushNumber(L, Object.keys(object).length),
  del(L, object) {
    delete object[textArg(L, 2)];
    return 0;
  },
  keys(L, object) {
    luaList.push(L, Object.keys(object).sort());
    return 1;
  },
  keyExists(L, object) {
    lua.lua_pushboolean(L, Object.hasOwn(object, textArg(L, 2)));
    return 1;
  },
});

/** A data list; indices start at 0. */
export const luaList = defineObject<Data[]>('luaList', {
  get(L, list) {
    const value = list[wholeArg(L, 2)];
    return value === undefined ? 0 : pushData(L, value);
  },
  set(L, list) {
    const at = wholeArg(L, 2);
    const value = readData(L, 3, true);
    // Writing past the end extends the list; negative indices are ignored.
    if (value === undefined || at < 0) return 0;
    refuseCycle(L, value, list);
    if (at >= Math.max(MAX_LIST, list.length + 1)) raise(L, `a list of more than ${MAX_LIST} values`);
    currentBudget()?.made(MEMBER_BYTES * Math.max(at + 1 - list.length, 1));
    while (list.length < at) list.push(null);
    list[at] = value;
    return 0;
  },
  len: (L, list) => pushNumber(L, list.length),
  del(L, list) {
    const at = wholeArg(L, 2);
    if (at >= 0 && at < list.length) list.splice(at, 1);
    return 0;
  },
});

/** An explicit null in data. */
export const luaNil = defineObject<object>('luaNil', {});
const NIL = Object.freeze({});

/** `luaTable.new()` and similar constructors. */
export const dataTables: Readonly<Record<string, Readonly<Record<string, LuaFunction>>>> = {
  luaTable: {
    new(L) {
      luaTable.push(L, {});
      return 1;
    },
  },
  luaList: {
    new(L) {
      luaList.push(L, []);
      return 1;
    },
  },
  luaNil: {
    new(L) {
      luaNil.push(L, NIL);
      return 1;
    },
  },
};

/** Truncates a number argument; -1 for anything else. */
function wholeArg(L: LuaState, arg: number): number {
  const at = Math.trunc(lauxlib.luaL_checknumber(L, arg));
  return Number.isNaN(at) ? -1 : at;
}

function pushNumber(L: LuaState, value: number): number {
  lua.lua_pushnumber(L, value);
  return 1;
}

/** Pushes data onto the stack: objects and lists are passed by reference, so that changes apply to the original. */
export function pushData(L: LuaState, data: Data): number {
  if (typeof data === 'string') pushText(L, data);
  else if (typeof data === 'number') lua.lua_pushnumber(L, data);
  else if (typeof data === 'boolean') lua.lua_pushboolean(L, data);
  else if (data === null) luaNil.push(L, NIL);
  else if (Array.isArray(data)) luaList.push(L, data);
  else if (isObject(data)) luaTable.push(L, data);
  else lua.lua_pushnumber(L, Number((data as { readonly rawJSON: string }).rawJSON));
  return 1;
}

/** Rejects cycles, because cyclic data could not be encoded. */
function refuseCycle(L: LuaState, value: Data | undefined, holder: Data): void {
  const waiting: Data[] = value === undefined ? [] : [value];
  for (let data = waiting.pop(); data !== undefined; data = waiting.pop()) {
    if (data === holder) raise(L, 'data cannot contain itself');
    if (!Array.isArray(data) && !isObject(data)) continue;
    for (const member of Array.isArray(data) ? data : Object.values(data)) {
      currentBudget()?.made(1);
      waiting.push(member);
    }
  }
}

/**
 * Converts an argument to data; undefined for nil. A native table becomes an object; inside another table, a list if
 * all its keys are integers.
 * @param isOuter whether the table is at the top level.
 */
export function readData(L: LuaState, arg: number, isOuter: boolean, depth = 0): Data | undefined {
  const { LUA_TBOOLEAN, LUA_TNONE, LUA_TNIL, LUA_TNUMBER, LUA_TSTRING, LUA_TTABLE } = lua;
  const type = lua.lua_type(L, arg);
  switch (type) {
    case LUA_TNONE:
    case LUA_TNIL:
      return undefined;
    case LUA_TBOOLEAN:
      return lua.lua_toboolean(L, arg);
    case LUA_TNUMBER: {
      const value = lua.lua_tonumber(L, arg);
      if (!Number.isFinite(value)) raise(L, 'a number that is not finite cannot be converted to data');
      return Object.is(value, -0) ? 0 : value;
    }
    case LUA_TSTRING:
      return textOfBytes(lua.lua_tostring(L, arg)!);
    case LUA_TTABLE:
      return readTable(L, arg, isOuter, depth);
  }
  const held = luaTable.read(L, arg) ?? luaList.read(L, arg);
  if (held) return held;
  if (luaNil.read(L, arg)) return null;
  return raise(L, `a ${textOfBytes(lua.lua_typename(L, type))} cannot be converted to data`);
}

function readTable(L: LuaState, arg: number, isOuter: boolean, depth: number): Data {
  if (depth >= MAX_DEPTH || !lua.lua_checkstack(L, 4)) raise(L, `a table nested more than ${MAX_DEPTH} levels deep`);
  const table = arg < 0 ? lua.lua_gettop(L) + 1 + arg : arg;
  const members: [key: string | number, value: Data][] = [];
  lua.lua_pushnil(L);
  while (lua.lua_next(L, table)) {
    currentBudget()?.made(MEMBER_BYTES);
    const key = readKey(L);
    const value = readData(L, -1, false, depth + 1);
    if (value !== undefined) members.push([key, value]);
    lua.lua_pop(L, 1);
  }
  if (!isOuter && members.length > 0 && members.every(([key]) => typeof key === 'number')) {
    return members.sort(([one], [other]) => (one as number) - (other as number)).map(([, value]) => value);
  }
  const object: DataObject = {};
  for (const [key, value] of members) setKey(object, String(key), value);
  return object;
}

/** Reads the key below the value on top of the stack; the key must not be converted to a string in place. */
function readKey(L: LuaState): string | number {
  if (lua.lua_type(L, -2) === lua.LUA_TNUMBER) return lua.lua_tonumber(L, -2);
  if (lua.lua_type(L, -2) === lua.LUA_TSTRING) return textOfBytes(lua.lua_tostring(L, -2)!);
  return raise(L, 'keys of data must be strings or numbers');
}
