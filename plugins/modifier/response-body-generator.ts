import { atBackend, atEndpoint, definePlugin } from '#contract';
import { generatingResponses } from './lib/template/response-body.ts';
import { generatorSchema, responseExample } from './lib/template/schema.ts';

const schema = generatorSchema(responseExample);

/**
 * Makes the data of responses from a template, or with `no-op` their body. Status, headers and completeness stay. It has the
 * last word on the data of its level; a response without any, as of a failed call, is left alone.
 *
 * Faults of the configuration: `TEMPLATE_BASE64`, `TEMPLATE_INVALID`, `TEMPLATE_STREAM`. Errors of a call:
 * `TEMPLATE_EXECUTION`, `TEMPLATE_LIMIT`, `TEMPLATE_OUTPUT`, `TEMPLATE_BODY`.
 */
export const plugin = definePlugin({
  name: 'modifier/response-body-generator',
  description: 'Renders the response body from a template.',
  freeKeys: true,
  leaves: ['requests'],
  places: [
    atEndpoint(schema, (site) => ({ proxy: generatingResponses(site), readsData: 'optional' })),
    atBackend(schema, (site) => ({ backend: generatingResponses(site), readsData: 'optional' })),
  ],
});
