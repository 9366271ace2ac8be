import { nearest } from '#kernel';
import type { Operation } from '../operation.ts';
import { Problem } from '../problem.ts';
import { type Answer, documentOf, jsonAnswer } from '../schemas.ts';

const answers: Readonly<Record<number, Answer>> = {
  200: jsonAnswer(
    'JSON Schema, draft 07, that refers to nothing outside itself.',
    documentOf('JsonSchema', 'JSON Schema, draft 07.'),
  ),
};

export const schema: Operation = {
  method: 'GET',
  path: '/v1/schema',
  scope: 'read',
  summary: 'Print the JSON Schema of the configuration, as `sluice schema` does.',
  answers,
  async handle(ctx, { gateway }) {
    ctx.body = await gateway.components.schema();
  },
};

export const schemaOfComponent: Operation = {
  method: 'GET',
  path: '/v1/schema/*namespace',
  scope: 'read',
  summary: 'Print the JSON Schema of one component.',
  parameters: [
    {
      name: 'namespace',
      in: 'path',
      description: 'As in extra_config; its slashes may be written %2F or plain.',
      schema: { type: 'string' },
      required: true,
    },
  ],
  answers,
  problems: ['not-found'],
  async handle(ctx, { gateway: { components } }) {
    const namespace = (ctx['params'] as { readonly namespace: string }).namespace;
    const found = await components.schemaOf(namespace);
    if (!found) {
      const near = nearest(namespace, components.names);
      const hint = near === undefined || near === namespace ? '' : `; did you mean ${near}?`;
      throw new Problem('not-found', `no component named ${namespace} has a configuration${hint}`);
    }
    ctx.body = found;
  },
};
