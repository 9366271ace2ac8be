import { atBackend, atEndpoint, definePlugin } from '#contract';
import { generatingRequests } from '../engines/templates/request-body.ts';
import { generatorSchema, requestExample } from './lib/template/schema.ts';

const schema = generatorSchema(requestExample);

/**
 * Generates the body of requests from a template: at an endpoint once for all backends, at a backend for that backend,
 * based on the endpoint's result. The method is unchanged. If a template fails, the call ends before any backend is
 * called.
 * Configuration errors: `TEMPLATE_BASE64`, `TEMPLATE_INVALID`, `TEMPLATE_TWICE`. Errors of a call:
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
