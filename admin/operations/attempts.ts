import type { Attempt } from '#kernel';
import type { Operation } from '../operation.ts';
import { pageOf, pageParameters } from '../paging.ts';
import { numberInPath, pathNumber } from '../parameters.ts';
import { Problem } from '../problem.ts';
import { attemptProblem } from '../problem-document.ts';
import {
  guardSchema,
  jsonResponse,
  listOf,
  mapOf,
  objectOf,
  oneOf,
  orNull,
  problemSchema,
  replaySchema,
  shadowSchema,
  text,
  whole,
} from '../schemas.ts';

const attemptSchema = objectOf('Attempt', {
  id: whole,
  trigger: oneOf(['start', 'watch', 'signal', 'api', 'rollback', 'guard', 'resume', 'secret']),
  actor: orNull(text),
  at: text,
  result: oneOf(['running', 'applied', 'unchanged', 'dry_run', 'failed']),
  revision: whole,
  durationMs: whole,
  phases: mapOf({ type: 'number' }),
  problem: orNull(problemSchema),
  guard: orNull(guardSchema),
  replay: orNull(replaySchema),
  shadow: orNull(shadowSchema),
});

export const listAttempts: Operation = {
  method: 'GET',
  path: '/v1/attempts',
  scope: 'read',
  summary: 'List the last attempts to apply a configuration, newest first.',
  parameters: pageParameters,
  responses: {
    200: jsonResponse('A page.', objectOf('AttemptPage', { attempts: listOf(attemptSchema), cursor: orNull(text) })),
  },
  handle(ctx, { gateway }) {
    const { items, cursor } = pageOf(ctx, gateway.attempts.list, ({ id }) => String(id));
    ctx.body = { attempts: items.map(view), cursor };
  },
};

export const readAttempt: Operation = {
  method: 'GET',
  path: '/v1/attempts/:id',
  scope: 'read',
  summary: 'Show the outcome of an attempt.',
  parameters: [numberInPath('id', 'The attempt.')],
  responses: { 200: jsonResponse('The attempt.', attemptSchema) },
  problems: ['not-found'],
  handle(ctx, { gateway }) {
    const id = pathNumber(ctx, 'id');
    const attempt = gateway.attempts.get(id);
    if (!attempt) throw new Problem('not-found', `attempt ${id} does not exist or is no longer stored`);
    ctx.body = view(attempt);
  },
};

function view(attempt: Attempt): object {
  const { id, trigger, actor, at, result, revision, durationMs, phases, guard, replay, shadow } = attempt;
  return {
    id,
    trigger,
    actor,
    at,
    result,
    revision,
    durationMs,
    phases,
    problem: attemptProblem(attempt),
    guard,
    replay,
    shadow,
  };
}
