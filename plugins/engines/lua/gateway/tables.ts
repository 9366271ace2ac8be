import { createHash } from 'node:crypto';
import { CallError, type Data, isObject, printJson } from '#contract';
import { currentBudget } from '../budget.ts';
import { dataTables, readData } from '../data.ts';
import type { Tables } from '../engine.ts';
import { type LuaFunction, type LuaState, lauxlib, lua, pushText, raise, textArg } from '../fengari.ts';
import { currentRun, loader, print } from '../run.ts';
import { documentTables } from './documents.ts';
import { httpTables } from './http.ts';

/** Functions available to scripts in addition to the Lua libraries. */
export const gatewayTables: Tables = {
  '': { print, custom_error: customError },
  ...dataTables,
  ...httpTables,
  ctx: { load: loader('ctx') },
  request: { load: loader('request') },
  response: { load: loader('response') },
  ...documentTables,
  base64: {
    encode: (L) => pushBytes(L, Buffer.from(bytesArg(L).toString('base64'))),
    decode: (L) => pushBytes(L, Buffer.from(textArg(L, 1), 'base64')),
  },
  hash: {
    ...Object.fromEntries(
      ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'].map((name): [string, LuaFunction] => [
        name,
        (L) => pushTextOf(L, createHash(name).update(bytesArg(L)).digest('hex')),
      ]),
    ),
    fnv32: (L) => pushTextOf(L, fnv32(bytesArg(L))),
  },
  time: {
    now(L) {
      lua.lua_pushnumber(L, Date.now() / 1000);
      return 1;
    },
    rfc3339(L) {
      const seconds = lua.lua_type(L, 1) <= 0 ? Date.now() / 1000 : lauxlib.luaL_checknumber(L, 1);
      const date = new Date(seconds * 1000);
      if (Number.isNaN(date.getTime())) raise(L, 'no time');
      return pushTextOf(L, date.toISOString());
    },
    /** Returns the seconds since 1970; nil unless the text is an RFC 3339 time. */
    parse(L) {
      const text = textArg(L, 1);
      const at = rfc3339.test(text) ? Date.parse(text) : Number.NaN;
      if (Number.isNaN(at)) lua.lua_pushnil(L);
      else lua.lua_pushnumber(L, at / 1000);
      return 1;
    },
  },
  debug: { dump },
};

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[-+]\d\d:\d\d)$/i;

function bytesArg(L: LuaState): Buffer {
  const { buffer, byteOffset, length } = lauxlib.luaL_checkstring(L, 1);
  return Buffer.from(buffer, byteOffset, length);
}

/** Bytes of text between two time checks. */
const BYTES_A_LOOK = 64 * 1024;

/** 32-bit FNV-1a hash, in hexadecimal. */
function fnv32(bytes: Uint8Array): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < bytes.length; at++) {
    if (at % BYTES_A_LOOK === 0) currentBudget()?.look();
    hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}

function pushBytes(L: LuaState, bytes: Uint8Array): number {
  lua.lua_pushstring(L, new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length));
  return 1;
}

function pushTextOf(L: LuaState, text: string): number {
  pushText(L, text);
  return 1;
}

/** `custom_error(message [, status [, content_type]])`: ends the script and the call. */
function customError(L: LuaState): number {
  if (lua.lua_gettop(L) === 0) raise(L, 'need arguments');
  const message = textArg(L, 1);
  const status = lua.lua_type(L, 2) <= 0 ? 500 : lauxlib.luaL_checknumber(L, 2);
  if (!Number.isInteger(status) || status < 200 || status > 599) raise(L, `${status} is not a status from 200 to 599`);
  const contentType = lua.lua_type(L, 3) <= 0 ? undefined : textArg(L, 3);
  if (contentType !== undefined && !/^[\t\x20-\x7e]+$/.test(contentType)) raise(L, 'invalid content type');
  const view = { status, body: message, ...(contentType !== undefined && { contentType }) };
  return currentRun().end(new CallError('LUA_CUSTOM_ERROR', message, { view }));
}

/** Longest dump, in lines. */
const DUMP_LINES = 200;

/** `debug.dump(value [, comment])`: logs the value with its types. */
function dump(L: LuaState): number {
  const data = readData(L, 1, false) ?? null;
  const comment = lua.lua_type(L, 2) <= 0 ? '' : ` ${textArg(L, 2)}`;
  currentRun().host.log.debug(() => `[Lua] Dumping${comment}\n${treeOf(data, '').slice(0, DUMP_LINES).join('\n')}`);
  return 0;
}

function treeOf(data: Data, indent: string): string[] {
  const members = Array.isArray(data) ? [...data.entries()] : isObject(data) ? Object.entries(data) : null;
  if (!members) return [`${indent}(${data === null ? 'null' : typeof data}) ${printJson(data)}`];
  const name = Array.isArray(data) ? 'list' : 'table';
  const lines = [`${indent}(${name}, ${members.length})`];
  for (const [key, member] of members) {
    if (lines.length > DUMP_LINES) break;
    const [first = '', ...more] = treeOf(member, `${indent}  `);
    lines.push(`${indent}  ${key}: ${first.trimStart()}`);
    for (const line of more) lines.push(line);
  }
  return lines;
}
