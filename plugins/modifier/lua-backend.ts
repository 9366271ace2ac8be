import { atBackend, definePlugin, httpSigners } from '#contract';
import { personalHeaders } from '../shared/http-headers/personal.ts';
import { around } from './lib/lua-around.ts';
import { aroundSchema } from './lib/lua-schema.ts';

const schema = {
  ...aroundSchema,
  examples: [
    { pre: "local r = request.load(); r:url(r:url() .. '?source=gateway')" },
    { skip_next: true, post: "local r = response.load(); r:data():set('planned', true); r:isComplete(true)" },
  ],
} as const;

/**
 * Runs scripts around one backend: `pre` sees its request, including the address, `post` its response.
 * Configuration errors: `LUA_SYNTAX`, `LUA_CHECKSUM`; warning `LUA_UNUSED`. Errors of a call: `LUA_ERROR`,
 * `LUA_CUSTOM_ERROR`.
 */
export const plugin = definePlugin({
  name: 'modifier/lua-backend',
  description: 'Runs Lua scripts before and after a backend call.',
  offers: [personalHeaders],
  takes: [httpSigners],
  places: [
    atBackend(schema, (site) => {
      const isRaw = (encoding: string) => site.encoding(encoding)?.raw === true;
      const raw = isRaw(site.endpoint.output_encoding);
      const { wrap, traits } = around(site, { isAddressed: true, raw });
      return { backend: wrap, ...traits };
    }),
  ],
});
