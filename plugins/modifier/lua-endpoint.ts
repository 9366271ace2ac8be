import {
  atEndpoint,
  atService,
  type ClientRequest,
  definePlugin,
  httpSigners,
  Reply,
  type Site,
  type Wrap,
} from '#contract';
import { personalHeaders } from '../shared/http-headers/personal.ts';
import { contextKind, ScriptedClient } from './lib/lua-context.ts';
import { aroundFields, type ScriptConfig, scriptFields } from './lib/lua-schema.ts';
import { Script } from './lib/lua-script.ts';

const schema = {
  type: 'object',
  description: "Lua script that processes the client's request.",
  examples: [{ pre: "ctx.load():headers('X-Team', 'checkout')" }],
  properties: {
    ...scriptFields,
    post: {
      ...aroundFields.post,
      unused: { because: 'no script of this component runs after the call', unless: [''] },
    },
    skip_next: {
      ...aroundFields.skip_next,
      unused: {
        because: 'scripts of endpoints run before the request is processed and cannot skip a call',
        unless: [false],
      },
    },
  },
} as const;

/**
 * Runs a script on the client's request: before routing, or at an endpoint before everything except authentication.
 * Configuration errors: `LUA_SYNTAX`, `LUA_CHECKSUM`. Errors of a call: `LUA_ERROR`, `LUA_CUSTOM_ERROR`.
 */
export const plugin = definePlugin({
  name: 'modifier/lua-endpoint',
  description: 'Runs Lua scripts on client requests, for the whole service or one endpoint.',
  offers: [personalHeaders],
  takes: [httpSigners],
  independent: true,
  places: [
    atService(schema, (site) => {
      const { wrap, offers } = scripted(site, []);
      return { request: wrap, offers };
    }),
    atEndpoint(schema, (site) => {
      const names = [...site.endpoint.endpoint.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name!);
      const { wrap, offers } = scripted(site, names);
      return { endpoint: wrap, offers };
    }),
  ],
});

function scripted(site: Site<ScriptConfig>, names: readonly string[]) {
  const script = new Script(site);
  const wrap: Wrap<ClientRequest> = (next) => (request, call) => {
    const client = new ScriptedClient(request, names);
    const ended = script.before(script.newRun(call, { ctx: (L) => contextKind.push(L, client) }));
    const goOn = (error: Awaited<typeof ended>): Reply | Promise<Reply> =>
      error ? Reply.failed(error) : next(client.changed, call);
    return ended instanceof Promise ? ended.then(goOn) : goOn(ended);
  };
  return { wrap, offers: script.offers };
}
