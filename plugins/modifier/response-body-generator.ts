import { atBackend, atEndpoint, definePlugin } from '#contract';
import { generating } from './lib/template/generating.ts';
import { generatorSchema, responseExample } from './lib/template/schema.ts';

const schema = generatorSchema(responseExample);

/**
 * Generates the data of responses, or of each message of a stream, from a template, or the body with `no-op`. Status, headers and completeness are
 * unchanged. It runs last among the changes to the data of its level; responses without data, such as those of failed
 * calls, are not changed.
 * Configuration errors: `TEMPLATE_BASE64`, `TEMPLATE_INVALID`, `TEMPLATE_STREAM`. Errors of a call:
 * `TEMPLATE_EXECUTION`, `TEMPLATE_LIMIT`, `TEMPLATE_OUTPUT`, `TEMPLATE_BODY`.
 */
export const plugin = definePlugin({
  name: 'modifier/response-body-generator',
  description: 'Renders the response body from a template.',
  freeKeys: true,
  leaves: ['requests'],
  places: [
    atEndpoint(schema, (site) => generating(site, 'proxy')),
    atBackend(schema, (site) => generating(site, 'backend')),
  ],
});
