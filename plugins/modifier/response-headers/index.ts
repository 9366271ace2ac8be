import { atService, definePlugin } from '#contract';
import { compileChanges } from './changes.ts';
import { schema } from './schema.ts';

/**
 * Changes the head of everything the gateway answers, last of all: of endpoints in any encoding, refusals, failures, streams
 * and connections that go on in another protocol, of 404 and 405, of health and debug.
 *
 * Faults of the configuration: `HEADERS_EMPTY`, `HEADERS_NAME`, `HEADERS_VALUE`; warnings `HEADERS_FRAMING`, `HEADERS_DATE`.
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
      // Node writes a date of its own into every response that has none.
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
