import { atEndpoint, definePlugin, httpSigners } from '#contract';
import { personalHeaders } from '../shared/http-headers/personal.ts';
import { around } from './lib/lua-around.ts';
import { aroundSchema } from './lib/lua-schema.ts';

const schema = {
  ...aroundSchema,
  examples: [
    { pre: "request.load():headers('X-Team', 'checkout')" },
    { post: "local d = response.load():data(); d:set('count', d:get('items'):len())", allow_open_libs: true },
  ],
} as const;

/**
 * Runs scripts around the backends of an endpoint: `pre` sees the request before any backend is called, `post` the
 * merged response.
 * Configuration errors: `LUA_SYNTAX`, `LUA_CHECKSUM`; warning `LUA_UNUSED`. Errors of a call: `LUA_ERROR`,
 * `LUA_CUSTOM_ERROR`.
 */
export const plugin = definePlugin({
  name: 'modifier/lua-proxy',
  description: 'Runs Lua scripts before and after the backend calls of an endpoint.',
  offers: [personalHeaders],
  takes: [httpSigners],
  places: [
    atEndpoint(schema, (site) => {
      const raw = site.encoding(site.endpoint.output_encoding)?.raw === true;
      const { wrap, traits } = around(site, { isAddressed: false, raw });
      return { proxy: wrap, ...traits };
    }),
  ],
});
