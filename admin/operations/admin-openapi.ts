import type { Operation } from '../operation.ts';
import { jsonAnswer } from '../schemas.ts';
import { openApiSchema } from './openapi.ts';

export const adminOpenapi: Operation = {
  method: 'GET',
  path: '/v1/admin-openapi',
  scope: 'read',
  summary: 'Describe this API, as OpenAPI 3.1.',
  answers: { 200: jsonAnswer('The description.', openApiSchema) },
  handle(ctx, { describe }) {
    ctx.body = describe(`${ctx.protocol}://${ctx.host}`);
  },
};
