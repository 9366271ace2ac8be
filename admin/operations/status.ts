import { type Gateway, version } from '#kernel';
import type { Operation } from '../operation.ts';
import { attemptProblem } from '../problem-document.ts';
import { processesOf } from '../processes.ts';
import {
  flag,
  guardSchema,
  jsonAnswer,
  listOf,
  objectOf,
  oneOf,
  orNull,
  problemSchema,
  text,
  whole,
} from '../schemas.ts';

const lastReload = objectOf('LastReload', {
  attempt: whole,
  result: oneOf(['applied', 'unchanged', 'failed']),
  trigger: text,
  at: text,
  durationMs: whole,
  problem: orNull(problemSchema),
});

export const status: Operation = {
  method: 'GET',
  path: '/v1/status',
  scope: 'read',
  summary: 'Tell what serves, where it came from and how the last change went.',
  answers: {
    200: jsonAnswer(
      'What serves.',
      objectOf('Status', {
        product: text,
        version: text,
        state: oneOf(['serving', 'draining', 'degraded']),
        startedAt: text,
        revision: whole,
        hash: text,
        source: text,
        sourceFile: orNull(text),
        drift: flag,
        converged: flag,
        workers: whole,
        endpoints: whole,
        lastReload: orNull(lastReload),
        guard: orNull(guardSchema),
        watch: objectOf('Watch', { enabled: flag, files: whole, mode: orNull(oneOf(['events', 'poll'])) }),
        requiresRestart: listOf(text),
      }),
    ),
  },
  async handle(ctx, { gateway }) {
    const { control, crew, startedAt, status: serving, watcher } = gateway;
    const drift = await control.hasDrifted();
    ctx.body = {
      product: 'Sluice',
      version,
      state: stateOf(gateway),
      startedAt: new Date(startedAt).toISOString(),
      revision: serving.revision,
      hash: serving.hash,
      source: sourceOf(gateway),
      sourceFile: typeof control.source === 'string' ? control.source : null,
      drift,
      converged: crew?.converged ?? true,
      workers: crew?.workers.length ?? 1,
      endpoints: gateway.config.endpoints.length,
      lastReload: lastReloadOf(gateway),
      guard: gateway.guard.state,
      watch: { enabled: watcher !== null, files: 0, mode: null, ...watcher?.status },
      requiresRestart: [],
    };
  },
};

/** Degraded is what serves although it is not what was wanted: the last good configuration, or too few workers. */
function stateOf(gateway: Gateway): string {
  if (processesOf(gateway).closing) return 'draining';
  const isResumed = gateway.control.current.trigger === 'resume';
  const lacksWorkers = gateway.crew?.workers.some(({ state }) => state !== 'up') ?? false;
  return isResumed || lacksWorkers ? 'degraded' : 'serving';
}

/** As the history tells it; what is not recorded there was brought by whatever asked for it. */
function sourceOf({ revisions, control, status: { revision } }: Gateway): string {
  return revisions.list().find(({ number }) => number === revision)?.source ?? control.current.trigger;
}

function lastReloadOf({ control }: Gateway): object | null {
  const last = control.attempts.list.find(({ dryRun, result }) => !dryRun && result !== 'running');
  if (!last) return null;
  const { id, result, trigger, at, durationMs } = last;
  return { attempt: id, result, trigger, at, durationMs, problem: attemptProblem(last) };
}
