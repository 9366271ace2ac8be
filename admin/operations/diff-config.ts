import { readSnapshot } from '#kernel';
import { acceptedConfigs, demandConfigBody } from '../body.ts';
import { reachOf } from '../caller.ts';
import { compare, differenceSchema, sideOf, streamsAffected } from '../comparing.ts';
import { guessesIn, keepSecrets } from '../keep-secrets.ts';
import type { Operation } from '../operation.ts';
import { queryNumber, queryWord, revealParameter } from '../parameters.ts';
import { configProblems } from '../problem.ts';
import { snapshotOf } from '../revision-at.ts';
import { jsonResponse } from '../schemas.ts';

const levels = ['schema', 'full'] as const;

export const diffConfig: Operation = {
  method: 'POST',
  path: '/v1/config/diff',
  scope: 'check',
  summary: 'Compare a configuration with the active one, or with a revision. Changes nothing.',
  parameters: [
    {
      name: 'against',
      in: 'query',
      description: 'Revision number to compare with. Default: the active revision.',
      schema: { type: 'integer', minimum: 1 },
    },
    {
      name: 'level',
      in: 'query',
      description: 'Builds every component of the configuration in addition, as a reload would.',
      schema: { type: 'string', enum: levels, default: 'schema' },
    },
    revealParameter,
  ],
  accepts: acceptedConfigs,
  responses: { 200: jsonResponse('The difference.', differenceSchema) },
  problems: [...configProblems, 'not-found', 'gone'],
  async handle(ctx, admin) {
    const { gateway } = admin;
    const against = queryNumber(ctx, 'against', { least: 1, whole: true });
    const isFull = queryWord(ctx, 'level', levels) === 'full';
    const given = await demandConfigBody(ctx, admin);
    const before = against === undefined ? gateway.serving.snapshot : await snapshotOf(gateway, against);
    const to = await sideOf(
      gateway,
      await readSnapshot(keepSecrets(given, gateway), undefined, 'aside'),
      reachOf(ctx, isFull),
    );
    const from = await sideOf(gateway, before, reachOf(ctx));
    const difference = compare(ctx, gateway, from, to, guessesIn(ctx, given, gateway));
    ctx.body = { ...difference, streamsAffected: against === undefined ? streamsAffected(gateway, difference) : 0 };
  },
};
