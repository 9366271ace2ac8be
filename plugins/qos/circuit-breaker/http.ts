import { atBackend, definePlugin, type Schema } from '#contract';
import { breakerSchema, guard } from './guard.ts';

const schema = {
  ...breakerSchema,
  examples: [{ ...breakerSchema.examples[0], valid_status_codes: [200, 201, 204] }],
  required: [...breakerSchema.required, 'valid_status_codes'],
  properties: {
    ...breakerSchema.properties,
    valid_status_codes: {
      type: 'array',
      items: { type: 'integer', minimum: 100, maximum: 599 },
      minItems: 1,
      uniqueItems: true,
      description: 'Backend status codes that count as success. All others count as failures.',
      examples: [[200, 201, 204]],
    },
  },
} as const satisfies Schema;

const plainForms = ['qos/circuit-breaker', 'github.com/devopsfaith/krakend-circuitbreaker/gobreaker'];

/** Evaluates the backend's own status code before anything is decoded, and therefore also works with `no-op`. */
export const plugin = definePlugin({
  name: 'qos/circuit-breaker/http',
  description: 'Stops calling a backend that keeps returning unexpected status codes.',
  leaves: ['requests', 'data'],
  places: [
    atBackend(schema, (site) => {
      if (plainForms.some((name) => Object.hasOwn(site.backend.extra_config, name))) {
        site.warn('CIRCUIT_TWICE', '', 'the backend has both qos/circuit-breaker and qos/circuit-breaker/http', {
          hint: 'use one of the two',
        });
      }
      const valid = new Set(site.config.valid_status_codes);
      const guarded = guard(site, (reply) => reply.errors.length === 0 && valid.has(reply.status));
      return guarded ? { transport: guarded.wrap, state: guarded.state } : {};
    }),
  ],
});
