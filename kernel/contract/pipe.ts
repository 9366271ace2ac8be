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
    description: 'Name in logs. Backends can use its {placeholders}.',
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
    description: 'Response encoding: data, or with `no-op` the bytes of a single backend.',
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
 * The schema of an object that a component publishes as an endpoint: backends, and components around them and around the
 * client's request. See `AtService.http2`.
 *
 * @param fields the component's own fields; `name` stands for it in messages, `input_headers` are those of the endpoint.
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
 * The schema of an object that is a pipe inside a component's configuration: backends that are called, merged and
 * reshaped as those of an endpoint, with what an endpoint and the service leave open filled in. `check`, `routes`,
 * `explain` and `audit` look into it; `site.pipe` gives what it was compiled to.
 *
 * @param fields the component's own fields beside those of a pipe.
 * @param options what its `extra_config` may hold, by default everything that stands around backends, and says unwritten.
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
