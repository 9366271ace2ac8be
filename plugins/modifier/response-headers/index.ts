import { atService, definePlugin } from '#contract';
import { compileChanges } from './changes.ts';
import { schema } from './schema.ts';

/**
 * Changes the headers of every response of the gateway, as the last step: of endpoints in any encoding, rejections,
 * failures, streams and upgraded connections, 404 and 405, health and debug.
 * Configuration errors: `HEADERS_EMPTY`, `HEADERS_NAME`, `HEADERS_VALUE`; warnings `HEADERS_FRAMING`, `HEADERS_DATE`.
 */
export const plugin = definePlugin({
  name: 'modifier/response-headers',
  description: 'Adds, replaces, renames and deletes response headers.',
  freeKeys: true,
  leaves: ['requests', 'data'],
  places: [
    atService(schema, (site) => {
      const changes = compileChanges(site);
      if (changes.length === 0) return {};
      // The date header cannot be deleted, because Node.js adds one to every response without it.
      const isUndated = site.config.delete?.some((name) => name.toLowerCase() === 'date') ?? false;
      return {
        head: ({ headers }, { raw }) => {
          for (const change of changes) change(headers);
          if (isUndated && raw) raw.response.sendDate = false;
        },
      };
    }),
  ],
});
