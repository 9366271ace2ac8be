import type { Schema } from '#contract';

/** Components allowed around the backends of a workflow: those that process requests and data, and need no client. */
export const workflowComponents: readonly string[] = [
  'modifier/jmespath',
  'modifier/lua-proxy',
  'modifier/request-body-generator',
  'modifier/response-body-generator',
  'plugin/req-resp-modifier',
  'proxy',
  'security/policies',
  'validation/cel',
  'validation/json-schema',
];

/** Backends of a workflow are called one after another by default. */
export const workflowDefaults = { proxy: { sequential: true } } as const;

/** @param description effect of each encoding. */
export const workflowEncoding = <const Description extends string>(description: Description) =>
  ({
    type: 'string',
    enum: ['json', 'json-collection', 'yaml', 'fast-json', 'xml', 'negotiate', 'string', 'no-op'],
    description,
    default: 'json',
  }) as const satisfies Schema;
