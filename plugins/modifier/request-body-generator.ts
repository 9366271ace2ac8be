import { atBackend, atEndpoint, definePlugin } from '#contract';
import { generatingRequests } from '../services/templates/request-body.ts';
import { generatorSchema, requestExample } from './lib/template/schema.ts';

const schema = generatorSchema(requestExample);

/**
 * Makes the body of requests from a template: at an endpoint once for all backends, at a backend for that one, from what the
 * endpoint's has made. The method stays. A template that fails ends the call before anybody is asked.
 *
 * Faults of the configuration: `TEMPLATE_BASE64`, `TEMPLATE_INVALID`, `TEMPLATE_TWICE`. Errors of a call:
 * `TEMPLATE_EXECUTION`, `TEMPLATE_LIMIT`.
 */
export const plugin = definePlugin({
  name: 'modifier/request-body-generator',
  description: 'Renders the request body from a template.',
  freeKeys: true,
  leaves: ['data'],
  places: [
    atEndpoint(schema, (site) => ({ proxy: generatingRequests(site) })),
    atBackend(schema, (site) => ({ backend: generatingRequests(site) })),
  ],
});
