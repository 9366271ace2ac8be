import { maskTexts } from '#kernel';
import type { Operation } from '../operation.ts';
import { queryText } from '../parameters.ts';
import { documentOf, jsonResponse } from '../schemas.ts';

const openApiSchema = documentOf('OpenApi', 'An OpenAPI 3.1 document.');

export const openapi: Operation = {
  method: 'GET',
  path: '/v1/openapi',
  scope: 'read',
  summary: 'Return the OpenAPI 3.1 document of the served API.',
  parameters: [
    {
      name: 'audience',
      in: 'query',
      description: 'Includes only endpoints for this audience, as set in documentation/openapi.',
      schema: { type: 'string' },
    },
  ],
  responses: { 200: jsonResponse('The description.', openApiSchema) },
  async handle(ctx, { gateway }) {
    ctx.body = maskTexts(await gateway.describe(queryText(ctx, 'audience')));
  },
};

export const adminOpenapi: Operation = {
  method: 'GET',
  path: '/v1/admin-openapi',
  scope: 'read',
  summary: 'Return the OpenAPI 3.1 document of this admin API.',
  responses: { 200: jsonResponse('The description.', openApiSchema) },
  handle(ctx, { describe }) {
    ctx.body = describe(`${ctx.protocol}://${ctx.host}`);
  },
};
