import { createRequire } from 'node:module';
import './gateway/adapted.ts';

/** A thread of the virtual machine. */
export type LuaState = { readonly lua: 'state' };

/** A function that scripts can call; returns the number of results it pushed onto the stack. */
export type LuaFunction = (L: LuaState) => number;

type Continuation = (L: LuaState, status: number, context: number) => number;

/** Functions of the Lua engine that the gateway uses, with their names in Lua's C API. */
export interface Lua {
  readonly LUA_OK: number;
  readonly LUA_YIELD: number;
  readonly LUA_MULTRET: number;
  readonly LUA_MASKCOUNT: number;
  readonly LUA_TNONE: number;
  readonly LUA_TNIL: number;
  readonly LUA_TBOOLEAN: number;
  readonly LUA_TNUMBER: number;
  readonly LUA_TSTRING: number;
  readonly LUA_TTABLE: number;
  readonly LUA_TFUNCTION: number;
  readonly LUA_TUSERDATA: number;
  readonly LUA_OPLT: number;
  lua_atnativeerror(L: LuaState, handler: LuaFunction): void;
  lua_call(L: LuaState, args: number, results: number): void;
  lua_checkstack(L: LuaState, extra: number): boolean;
  lua_compare(L: LuaState, index: number, other: number, operator: number): number;
  lua_getfield(L: LuaState, index: number, key: Uint8Array): number;
  lua_gettable(L: LuaState, index: number): number;
  lua_gettop(L: LuaState): number;
  lua_insert(L: LuaState, index: number): void;
  lua_isyieldable(L: LuaState): boolean;
  lua_newtable(L: LuaState): void;
  lua_newthread(L: LuaState): LuaState;
  lua_newuserdata(L: LuaState, size: number): { value: unknown };
  lua_next(L: LuaState, index: number): number;
  lua_pcallk(L: LuaState, args: number, results: number, handler: number, context: number, then: Continuation): number;
  lua_pop(L: LuaState, count: number): void;
  lua_pushboolean(L: LuaState, value: boolean): void;
  lua_pushcfunction(L: LuaState, f: LuaFunction): void;
  lua_pushnil(L: LuaState): void;
  lua_pushnumber(L: LuaState, value: number): void;
  lua_pushstring(L: LuaState, text: Uint8Array): void;
  lua_pushvalue(L: LuaState, index: number): void;
  lua_rawgeti(L: LuaState, index: number, at: number): number;
  lua_rawlen(L: LuaState, index: number): number;
  lua_rawset(L: LuaState, index: number): void;
  lua_rawseti(L: LuaState, index: number, at: number): void;
  lua_resume(L: LuaState, from: LuaState | null, args: number): number;
  lua_rotate(L: LuaState, index: number, by: number): void;
  lua_setfield(L: LuaState, index: number, key: Uint8Array): void;
  lua_sethook(L: LuaState, hook: ((L: LuaState) => void) | null, mask: number, count: number): void;
  lua_setmetatable(L: LuaState, index: number): void;
  lua_settop(L: LuaState, index: number): void;
  lua_setupvalue(L: LuaState, index: number, upvalue: number): Uint8Array | null;
  lua_tocfunction(L: LuaState, index: number): LuaFunction | null;
  lua_toboolean(L: LuaState, index: number): boolean;
  lua_tonumber(L: LuaState, index: number): number;
  lua_topointer(L: LuaState, index: number): object | null;
  /** Keeps a value beyond its stack position: calling the result with a thread pushes the value. */
  lua_toproxy(L: LuaState, index: number): (L: LuaState) => void;
  lua_tostring(L: LuaState, index: number): Uint8Array | null;
  lua_touserdata(L: LuaState, index: number): { value: unknown } | null;
  lua_type(L: LuaState, index: number): number;
  lua_typename(L: LuaState, type: number): Uint8Array;
  lua_yieldk(L: LuaState, results: number, context: number, then: Continuation): number;
}

/** Functions of Lua's auxiliary library, `lauxlib`. */
export interface LuaAux {
  luaL_checkany(L: LuaState, arg: number): void;
  luaL_checkinteger(L: LuaState, arg: number): number;
  luaL_checknumber(L: LuaState, arg: number): number;
  luaL_checkstring(L: LuaState, arg: number): Uint8Array;
  luaL_checktype(L: LuaState, arg: number, type: number): void;
  luaL_error(L: LuaState, message: Uint8Array): never;
  luaL_loadbufferx(L: LuaState, text: Uint8Array, size: number, name: Uint8Array, mode: Uint8Array): number;
  luaL_newstate(): LuaState;
  luaL_requiref(L: LuaState, name: Uint8Array, open: LuaFunction, global: number): void;
  luaL_tolstring(L: LuaState, index: number): Uint8Array;
}

type Openers = Readonly<Record<string, LuaFunction>>;

const require = createRequire(import.meta.url);

const engine = require('fengari') as { readonly lua: Lua; readonly lauxlib: LuaAux; readonly lualib: Openers };

export const { lua, lauxlib, lualib } = engine;

const names = new Map<string, Uint8Array>();

/** Encodes a name as a Lua string in UTF-8. Each name is encoded once. */
export function nameBytes(name: string): Uint8Array {
  let bytes = names.get(name);
  if (!bytes) {
    bytes = Uint8Array.from(Buffer.from(name));
    names.set(name, bytes);
  }
  return bytes;
}

export function bytesOf(text: string): Uint8Array {
  const { buffer, byteOffset, length } = Buffer.from(text);
  return new Uint8Array(buffer, byteOffset, length);
}

/** Decodes bytes of a script; invalid UTF-8 becomes U+FFFD. */
export function textOfBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}

/** Pushes a string onto the stack. */
export function pushText(L: LuaState, text: string): void {
  lua.lua_pushstring(L, bytesOf(text));
}

/** Ends the function with a script error, including its position. */
export function raise(L: LuaState, message: string): never {
  return lauxlib.luaL_error(L, bytesOf(message.replaceAll('%', '%%')));
}

/** Reads a string argument. */
export function textArg(L: LuaState, arg: number): string {
  return textOfBytes(lauxlib.luaL_checkstring(L, arg));
}
