import { canonicalHeaderName, type DataObject, type HeaderBag, isHeaderName, isHopByHop, setKey } from '#contract';
import { luaList, luaTable } from '../data.ts';
import { type LuaState, lauxlib, lua, pushText, raise, textArg } from '../fengari.ts';
import type { Method } from './object.ts';

/** Headers that delimit a message or belong to a connection: setting them would allow a script to split one message into two. */
const framing = new Set(['content-length', 'host']);

/** Validates the name of a header that a script sets. */
export function headerName(L: LuaState, name: string): string {
  if (!isHeaderName(name)) raise(L, `'${name.slice(0, 50)}' is not a valid header name`);
  const lower = name.toLowerCase();
  if (framing.has(lower) || isHopByHop(lower)) raise(L, `the header ${name} cannot be set`);
  return name;
}

/** Converts bytes of a script to a header value; the same bytes are sent. */
export function headerText(L: LuaState, bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  if (/[\0-\x08\n-\x1f\x7f]/.test(text))
    raise(L, 'the value of a header must not contain line breaks or other control characters');
  return text;
}

/** Converts a header value to bytes for a script. */
export function headerBytes(value: string): Uint8Array {
  const { buffer, byteOffset, length } = Buffer.from(value, 'latin1');
  return new Uint8Array(buffer, byteOffset, length);
}

/** Pushes a list of received texts onto the stack. */
export function pushNames(L: LuaState, values: readonly string[]): number {
  luaList.push(L, values.map(textOf));
  return 1;
}

/** `headers` and `headerList` of an object that has headers. */
export function headerMethods<T>(of: (self: T) => HeaderBag): Readonly<Record<string, Method<T>>> {
  return {
    headers(L, self) {
      const bag = of(self);
      if (lua.lua_gettop(L) === 1) return pushAll(L, bag);
      const name = textArg(L, 2);
      if (lua.lua_gettop(L) === 2) {
        const value = bag.get(name.toLowerCase());
        if (value === undefined) pushText(L, '');
        else lua.lua_pushstring(L, headerBytes(value));
        return 1;
      }
      if (lua.lua_type(L, 3) === lua.LUA_TNIL) bag.delete(headerName(L, name));
      else bag.set(headerName(L, name), headerText(L, lauxlib.luaL_checkstring(L, 3)));
      return 0;
    },
    headerList(L, self) {
      const bag = of(self);
      const name = textArg(L, 2);
      if (lua.lua_gettop(L) === 2) return pushNames(L, bag.getAll(name.toLowerCase()));
      const list = luaList.read(L, 3);
      if (!list) return raise(L, 'luaList expected');
      const values = list.map((value) => headerText(L, Buffer.from(typeof value === 'string' ? value : String(value))));
      bag.delete(headerName(L, name));
      for (const value of values) bag.append(name, value);
      return 0;
    },
  };
}

/** Pushes a table that maps canonical header names to lists of values: a copy. */
function pushAll(L: LuaState, bag: HeaderBag): number {
  const all: DataObject = {};
  for (const [name, entries] of Map.groupBy(bag, ([name]) => canonicalHeaderName(name))) {
    setKey(
      all,
      name,
      entries.map(([, value]) => textOf(value)),
    );
  }
  luaTable.push(L, all);
  return 1;
}

/** Decodes a received text for a script: UTF-8. */
function textOf(value: string): string {
  return Buffer.from(value, 'latin1').toString();
}
