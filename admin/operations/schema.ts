import { nearest } from '#kernel';
import type { Operation } from '../operation.ts';
import { Problem } from '../problem.ts';
import { documentOf, jsonResponse, type ResponseSchema } from '../schemas.ts';

const responses: Readonly<Record<number, ResponseSchema>> = {
  200: jsonResponse('Self-contained JSON Schema, draft 07.', documentOf('JsonSchema', 'JSON Schema, draft 07.')),
};

export const schema: Operation = {
  method: 'GET',
  path: '/v1/schema',
  scope: 'read',
  summary: 'Return the JSON Schema of the configuration, as `sluice schema` prints it.',
  responses,
  async handle(ctx, { gateway }) {
    ctx.body = await gateway.components.schema();
  },
};

export const schemaOfComponent: Operation = {
  method: 'GET',
  path: '/v1/schema/*namespace',
  scope: 'read',
  summary: 'Return the JSON Schema of one component.',
  parameters: [
    {
      name: 'namespace',
      in: 'path',
      description: 'Namespace, as in extra_config. Slashes may be plain or encoded as %2F.',
      schema: { type: 'string' },
      required: true,
    },
  ],
  responses,
  problems: ['not-found'],
  async handle(ctx, { gateway: { components } }) {
    const namespace = (ctx['params'] as { readonly namespace: string }).namespace;
    const match = await components.schemaOf(namespace);
    if (!match) {
      const near = nearest(namespace, components.names);
      const hint = near === undefined || near === namespace ? '' : `; did you mean ${near}?`;
      throw new Problem('not-found', `no component with the namespace ${namespace} has a configuration${hint}`);
    }
    ctx.body = match;
  },
};
