import { type DataObject, type PipeRequest, paramKey, Query, RequestBody, setKey } from '#contract';
import { luaTable } from '../../engines/lua/data.ts';
import { type LuaState, lauxlib, lua, pushText, raise, textArg } from '../../engines/lua/fengari.ts';
import { headerMethods } from '../../engines/lua/gateway/headers.ts';
import { defineObject } from '../../engines/lua/gateway/object.ts';
import { currentRun } from '../../engines/lua/run.ts';
import { paramOf } from '../../shared/parameters/value.ts';

/** A pipe request in the form that scripts see. */
export interface ScriptedRequest {
  readonly request: PipeRequest;
  /** Path as set by the script; it has no effect on routing. */
  path: string;
  /** The backend has been selected: its address is available and can be changed. */
  readonly isAddressed: boolean;
}

/** Returns whether a script sets a value: the call then has an additional argument. */
export function sets(L: LuaState, arg: number): boolean {
  return lua.lua_gettop(L) >= arg && lua.lua_type(L, arg) !== lua.LUA_TNIL;
}

/** Reads a method or a host name; the pattern excludes characters that would terminate it. */
export function wordArg(L: LuaState, arg: number, what: string, pattern: RegExp): string {
  const text = textArg(L, arg);
  if (!pattern.test(text)) raise(L, `invalid ${what}`);
  return text;
}

export const METHOD = /^[A-Za-z]{1,20}$/;

/** Pushes the bytes of a body to the stack, waiting for them if they have not arrived. */
export function pushBody(L: LuaState, body: RequestBody | null): number {
  const bytes = body ? body.bytesToParse() : new Uint8Array();
  const push = (thread: LuaState, settled: unknown): number => {
    lua.lua_pushstring(thread, settled as Uint8Array);
    return 1;
  };
  return bytes instanceof Promise ? currentRun().wait(L, bytes, push) : push(L, bytes);
}

/** Pushes a copy of the texts to the stack, as a table. */
export function pushTexts(L: LuaState, entries: Iterable<readonly [string, string]>): number {
  const texts: DataObject = {};
  for (const [key, value] of entries) setKey(texts, key, value);
  luaTable.push(L, texts);
  return 1;
}

export const requestKind = defineObject<ScriptedRequest>('request', {
  method(L, { request }) {
    if (!sets(L, 2)) return pushOne(L, request.method);
    request.method = wordArg(L, 2, 'method', METHOD);
    return 0;
  },
  path(L, self) {
    if (!sets(L, 2)) return pushOne(L, self.path);
    self.path = textArg(L, 2);
    return 0;
  },
  query(L, { request, isAddressed }) {
    if (!sets(L, 2)) return pushOne(L, request.query.toString());
    request.query = Query.parse(textArg(L, 2));
    if (isAddressed) {
      const [path] = request.target.split('?', 1);
      const search = request.query.toString();
      request.target = search === '' ? path! : `${path}?${search}`;
    }
    return 0;
  },
  url(L, { request, isAddressed }) {
    if (!sets(L, 2)) return pushOne(L, isAddressed ? request.origin + request.target : '');
    const text = textArg(L, 2);
    if (!URL.canParse(text) || !/^https?:/i.test(text)) raise(L, `'${text.slice(0, 100)}' is not an http or https URL`);
    if (!isAddressed) return 0;
    const { origin, pathname, search } = new URL(text);
    request.origin = origin;
    request.target = pathname + search;
    return 0;
  },
  body(L, { request }) {
    if (!sets(L, 2)) return pushBody(L, request.body);
    request.body = RequestBody.of(lauxlib.luaL_checkstring(L, 2).slice());
    return 0;
  },
  params(L, { request }) {
    if (lua.lua_gettop(L) === 1) return pushTexts(L, Object.entries(request.params));
    const name = textArg(L, 2);
    if (!sets(L, 3)) return pushOne(L, paramOf(request, name) ?? paramOf(request, paramKey(name)) ?? '');
    const key = Object.hasOwn(request.params, name) ? name : paramKey(name);
    request.params = { ...request.params, [key]: textArg(L, 3) };
    return 0;
  },
  ...headerMethods<ScriptedRequest>(({ request }) => request.headers),
});

export function pushOne(L: LuaState, text: string): number {
  pushText(L, text);
  return 1;
}
