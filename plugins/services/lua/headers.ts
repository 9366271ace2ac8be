import { canonicalHeaderName, type DataObject, type HeaderBag, isHeaderName, isHopByHop, setKey } from '#contract';
import { luaList, luaTable } from './data.ts';
import { type LuaState, lauxlib, lua, pushText, raise, textArg } from './fengari.ts';
import type { Method } from './object.ts';

/** Headers that say where a message ends, or belong to a connection: a script that sets them could make two of one. */
const framing = new Set(['content-length', 'host']);

/** The name of a header that a script may set. */
export function headerName(L: LuaState, name: string): string {
  if (!isHeaderName(name)) raise(L, `'${name.slice(0, 50)}' is not a valid header name`);
  const lower = name.toLowerCase();
  if (framing.has(lower) || isHopByHop(lower)) raise(L, `the header ${name} cannot be set`);
  return name;
}

/** Bytes of a script as the value of one header; on the wire they are the same bytes. */
export function headerText(L: LuaState, bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  if (/[\0-\x08\n-\x1f\x7f]/.test(text)) raise(L, 'the value of a header has no line breaks or other controls');
  return text;
}

/** The value of a header as bytes of a script. */
export function headerBytes(value: string): Uint8Array {
  const { buffer, byteOffset, length } = Buffer.from(value, 'latin1');
  return new Uint8Array(buffer, byteOffset, length);
}

/** Leaves a list of texts of the wire on the stack. */
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

/** Leaves a table on the stack that has each header by its canonical name, as the list of its values: a copy. */
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

/** A text of the wire as a script has it: UTF-8. */
function textOf(value: string): string {
  return Buffer.from(value, 'latin1').toString();
}
