import type { Tables } from '../engine.ts';
import { type LuaState, lauxlib, lua, pushText, raise, textArg, textOfBytes } from '../fengari.ts';
import { currentRun, type ScriptRequest, type ScriptResponse } from '../run.ts';
import { headerBytes, headerName, headerText, pushNames } from './headers.ts';
import { defineObject } from './object.ts';

const response = defineObject<ScriptResponse>('http_response', {
  statusCode(L, { status }) {
    lua.lua_pushnumber(L, status);
    return 1;
  },
  headers(L, { headers }) {
    const name = textArg(L, 2).toLowerCase();
    const [, value] = headers.find(([key]) => key.toLowerCase() === name) ?? [];
    if (value === undefined) pushText(L, '');
    else lua.lua_pushstring(L, headerBytes(value));
    return 1;
  },
  headerList(L, { headers }) {
    const name = textArg(L, 2).toLowerCase();
    return pushNames(
      L,
      headers.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value),
    );
  },
  body(L, { body }) {
    lua.lua_pushstring(L, body);
    return 1;
  },
  // Has no effect, because the body has already been read.
  close: () => 0,
});

/** `http_response.new(url)`, `new(url, method, body)` and `new(url, method, body, headers)`. */
export const httpTables: Tables = {
  http_response: {
    new(L) {
      const count = lua.lua_gettop(L);
      if (count === 0 || count === 2) raise(L, 'need url, or url, method and body, or these and headers');
      const run = currentRun();
      const { host } = run;
      const sent = host.http(requestOf(L, count), host.call);
      return run.wait(L, sent, (thread, settled) => {
        response.push(thread, settled as ScriptResponse);
        return 1;
      });
    },
  },
};

function requestOf(L: LuaState, count: number): ScriptRequest {
  const url = textArg(L, 1);
  if (!URL.canParse(url) || !/^https?:/i.test(url)) raise(L, `'${url.slice(0, 100)}' is not an http or https URL`);
  if (count === 1) return { url, method: 'GET', body: null, headers: [] };
  const method = textArg(L, 2).toUpperCase();
  if (!/^[A-Z]{1,20}$/.test(method) || method === 'CONNECT') raise(L, 'invalid method');
  const body = lua.lua_type(L, 3) <= 0 ? null : lauxlib.luaL_checkstring(L, 3).slice();
  return { url, method, body: body?.length === 0 ? null : body, headers: count > 3 ? headersOf(L, 4) : [] };
}

/** Reads a table of strings, or of lists of strings. */
function headersOf(L: LuaState, arg: number): [string, string][] {
  lauxlib.luaL_checktype(L, arg, lua.LUA_TTABLE);
  const headers: [string, string][] = [];
  lua.lua_pushnil(L);
  while (lua.lua_next(L, arg)) {
    const key = lua.lua_type(L, -2) === lua.LUA_TSTRING ? textOfBytes(lua.lua_tostring(L, -2)!) : '';
    const name = headerName(L, key);
    if (lua.lua_type(L, -1) === lua.LUA_TTABLE) {
      for (let at = 1; at <= lua.lua_rawlen(L, -1); at++) {
        lua.lua_rawgeti(L, -1, at);
        headers.push([name, headerText(L, lauxlib.luaL_checkstring(L, -1))]);
        lua.lua_pop(L, 1);
      }
    } else headers.push([name, headerText(L, lauxlib.luaL_checkstring(L, -1))]);
    lua.lua_pop(L, 1);
  }
  return headers;
}
