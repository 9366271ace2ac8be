import type { Schema } from '#contract';

/** What may stand around the backends of a workflow: what works on requests and data, and needs no client. */
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

/** Backends of a workflow are called one after another where nothing else is written. */
export const workflowDefaults = { proxy: { sequential: true } } as const;

/** @param description what each encoding makes of it. */
export const workflowEncoding = <const Description extends string>(description: Description) =>
  ({
    type: 'string',
    enum: ['json', 'json-collection', 'yaml', 'fast-json', 'xml', 'negotiate', 'string', 'no-op'],
    description,
    default: 'json',
  }) as const satisfies Schema;
