import { maskTexts, matchRoute } from '#kernel';
import type { Operation } from '../operation.ts';
import { queryText } from '../parameters.ts';
import { Problem } from '../problem.ts';
import { jsonResponse, listOf, mapOf, objectOf, objectWith, oneOf, text, whole } from '../schemas.ts';
import { servedNow } from '../served.ts';
import { route } from './routes.ts';

const considered = objectOf('ConsideredRoute', { route, why: text });

export const match: Operation = {
  method: 'GET',
  path: '/v1/routes/match',
  scope: 'read',
  summary: 'Show which endpoint would serve a request, and why. No request is sent.',
  parameters: [
    { name: 'method', in: 'query', description: 'Request method.', schema: { ...text, default: 'GET' } },
    {
      name: 'path',
      in: 'query',
      description: 'Path and query, encoded as in a request.',
      schema: text,
      required: true,
    },
  ],
  responses: {
    200: jsonResponse(
      'The matching endpoint.',
      objectOf('Match', {
        match: objectWith(
          'MatchedBy',
          {
            kind: oneOf(['route', 'builtin', 'options', 'redirect', 'method', 'refused', 'none']),
            status: whole,
            route,
            params: mapOf(text),
            location: text,
            allow: listOf(text),
            text,
          },
          'kind',
        ),
        why: text,
        rivals: listOf(considered),
        nearMisses: listOf(considered),
      }),
    ),
  },
  async handle(ctx, { gateway }) {
    const path = queryText(ctx, 'path');
    if (path === undefined) throw new Problem('bad-request', 'the query parameter path is missing');
    const method = (queryText(ctx, 'method') ?? 'GET').toUpperCase();
    const { served, positionOf: position } = servedNow(gateway);
    ctx.body = maskTexts(await matchRoute(served, method, path, position));
  },
};
