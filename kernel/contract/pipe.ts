import { backendSchema, endpointSchema } from './endpoint-schema.ts';
import type { PipeRules, Schema } from './schema.ts';

const {
  concurrent_calls: concurrentCalls,
  output_encoding: outputEncoding,
  timeout,
  extra_config,
} = endpointSchema.properties;

const pipeFields = {
  endpoint: {
    type: 'string',
    description: 'Path pattern that serves as the name in logs. Backends can use its {placeholders} in their URLs.',
    default: '',
    examples: ['/enrich/{id}'],
  },
  backend: {
    type: 'array',
    items: backendSchema,
    minItems: 1,
    description: 'Backend calls whose results form the response.',
  },
  output_encoding: {
    ...outputEncoding,
    description: 'Form of the result: decoded data, or with `no-op` the unchanged bytes of a single backend.',
    default: 'json',
  },
  concurrent_calls: concurrentCalls,
  timeout: {
    ...timeout,
    description: 'Timeout of all backends and processing. Default: the timeout of the surrounding endpoint.',
  },
  extra_config,
} as const satisfies Record<string, Schema>;

/**
 * Schema of an object that a component publishes as an endpoint: backends, and components around them and around the
 * client's request. See `AtService.http2`.
 *
 * @param fields the component's own fields; `name` identifies it in messages, `input_headers` are those of the
 * endpoint.
 */
export function endpointPipeSchema<const Fields extends { readonly [field: string]: Schema }>(
  fields: Fields,
  options: { readonly description: string } & PipeRules,
) {
  const { description, ...pipe } = options;
  const { backend, extra_config: components } = pipeFields;
  return {
    type: 'object',
    description,
    required: ['name', 'backend'],
    pipe,
    properties: { ...fields, backend, extra_config: components },
  } as const satisfies Schema;
}

/**
 * Schema of a pipe inside a component's configuration: backends that are called, merged and reshaped like those of an
 * endpoint, with values inherited from the endpoint and the service. `check`, `routes`, `explain` and `audit` inspect
 * it; `site.pipe` returns the compiled pipe.
 *
 * @param fields the component's own fields next to those of a pipe.
 * @param options contents of its `extra_config`; default: everything that can be placed around backends.
 */
export function pipeSchema<const Fields extends { readonly [field: string]: Schema }>(
  fields: Fields,
  options: { readonly description: string } & PipeRules,
) {
  const { description, ...pipe } = options;
  return {
    type: 'object',
    description,
    required: ['backend'],
    pipe,
    properties: { ...pipeFields, ...fields },
  } as const satisfies Schema;
}
