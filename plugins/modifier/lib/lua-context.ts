import { type ClientRequest, type Params, paramKey, Query, RequestBody } from '#contract';
import { lauxlib, lua, raise, textArg } from '../../engines/lua/fengari.ts';
import { headerMethods } from '../../engines/lua/gateway/headers.ts';
import { defineObject } from '../../engines/lua/gateway/object.ts';
import { METHOD, pushBody, pushOne, pushTexts, sets, wordArg } from './lua-request.ts';

/** A client's request in the form that scripts see, with the script's changes. */
export class ScriptedClient {
  readonly request: ClientRequest;
  method: string;
  path: string;
  search: string;
  host: string;
  params: Params;
  /** Names of the path variables, in the endpoint's spelling. */
  readonly names: readonly string[];

  constructor(request: ClientRequest, names: readonly string[]) {
    const { method, path, search, host, params } = request;
    this.request = request;
    this.method = method;
    this.path = path;
    this.search = search;
    this.host = host;
    this.params = params;
    this.names = names;
  }

  /** The request to continue with. Headers and body have been changed in place. */
  get changed(): ClientRequest {
    const { request, method, path, search, host, params } = this;
    const isSame =
      method === request.method &&
      path === request.path &&
      search === request.search &&
      host === request.host &&
      params === request.params;
    return isSame ? request : request.with({ method, path, search, host, params });
  }
}

export const contextKind = defineObject<ScriptedClient>('ctx', {
  method(L, self) {
    if (!sets(L, 2)) return pushOne(L, self.method);
    self.method = wordArg(L, 2, 'method', METHOD);
    return 0;
  },
  url(L, self) {
    if (!sets(L, 2)) return pushOne(L, self.search === '' ? self.path : `${self.path}?${self.search}`);
    const text = wordArg(L, 2, 'url: path and query', /^\/[^\s#\\\0-\x1f\x7f]*$/);
    const { pathname, search } = new URL(`http://client.invalid${text}`);
    self.path = pathname;
    self.search = search.slice(1);
    return 0;
  },
  host(L, self) {
    if (!sets(L, 2)) return pushOne(L, self.host);
    self.host = wordArg(L, 2, 'host', /^[\w.:[\]-]{1,255}$/);
    return 0;
  },
  query(L, self) {
    if (lua.lua_gettop(L) === 1) raise(L, 'need the name of a parameter');
    const query = Query.parse(self.search);
    const name = textArg(L, 2);
    if (!sets(L, 3)) return pushOne(L, query.get(name) ?? '');
    query.set(name, textArg(L, 3));
    self.search = query.toString();
    return 0;
  },
  params(L, self) {
    if (lua.lua_gettop(L) === 1) {
      const written = (key: string) => self.names.find((name) => paramKey(name) === key) ?? key;
      return pushTexts(
        L,
        Object.entries(self.params).map(([key, value]) => [written(key), value] as const),
      );
    }
    const key = paramKey(textArg(L, 2));
    if (!sets(L, 3)) return pushOne(L, Object.hasOwn(self.params, key) ? self.params[key]! : '');
    self.params = { ...self.params, [key]: textArg(L, 3) };
    return 0;
  },
  body(L, { request }) {
    if (!sets(L, 2)) return pushBody(L, request.body);
    request.body = RequestBody.of(lauxlib.luaL_checkstring(L, 2).slice());
    return 0;
  },
  ...headerMethods<ScriptedClient>(({ request }) => request.headers),
});
