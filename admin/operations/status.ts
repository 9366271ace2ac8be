import { type Operations, toIssues, version } from '#kernel';
import type { Operation } from '../operation.ts';
import { attemptProblem } from '../problem-document.ts';
import {
  flag,
  guardSchema,
  issueSchema,
  jsonResponse,
  listOf,
  objectOf,
  oneOf,
  orNull,
  problemSchema,
  text,
  whole,
} from '../schemas.ts';

const storeSchema = objectOf('ConfigurationStore', {
  address: text,
  state: oneOf(['current', 'unreachable', 'older', 'absent', 'unusable']),
  reason: orNull(text),
  version: orNull(text),
  readAt: orNull(text),
});

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
  summary: 'Show the active configuration, its source and the outcome of the last change.',
  responses: {
    200: jsonResponse(
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
        store: orNull(storeSchema),
        drift: flag,
        converged: flag,
        workers: whole,
        endpoints: whole,
        internalErrors: whole,
        lastReload: orNull(lastReload),
        guard: orNull(guardSchema),
        watch: objectOf('Watch', { enabled: flag, files: whole, mode: orNull(oneOf(['events', 'poll'])) }),
        secrets: objectOf('SecretsState', {
          inUse: whole,
          failing: listOf(objectOf('FailingSecret', { secret: text, reason: text })),
        }),
        requiresRestart: listOf(text),
        warnings: listOf(issueSchema),
        warningsTotal: whole,
      }),
    ),
  },
  async handle(ctx, { gateway }) {
    const { processes, source, startedAt, status: serving, watcher } = gateway;
    const drift = await gateway.hasDrifted();
    ctx.body = {
      product: 'Sluice',
      version,
      state: stateOf(gateway),
      startedAt: new Date(startedAt).toISOString(),
      revision: serving.revision,
      hash: serving.hash,
      source: sourceOf(gateway),
      sourceFile: typeof source === 'string' ? source : null,
      store: storeOf(gateway),
      drift,
      converged: processes.converged,
      workers: processes.workers.length,
      endpoints: gateway.config.endpoints.length,
      internalErrors: gateway.internalErrors.counts.reduce((sum, [, count]) => sum + count, 0),
      lastReload: lastReloadOf(gateway),
      guard: gateway.guard,
      watch: { enabled: watcher !== null, files: 0, mode: null, ...watcher?.status },
      secrets: { inUse: gateway.secrets.inUse, failing: gateway.secrets.failing },
      requiresRestart: [],
      warnings: warningsOf(gateway),
      warningsTotal: serving.warnings.length,
    };
  },
};

/** The store that the configuration is copied from; null without one. */
function storeOf({ store }: Operations): object | null {
  if (store === null) return null;
  const { readAt } = store.status;
  return { ...store.status, readAt: readAt === null ? null : new Date(readAt).toISOString() };
}

/** Maximum number of warnings in a response. */
const MAX_WARNINGS = 50;

/** Warnings of the active configuration. */
function warningsOf({ status: { warnings }, serving: { snapshot }, components }: Operations): object[] {
  return toIssues(snapshot.document, warnings.slice(0, MAX_WARNINGS), 'warning', components.isSecret);
}

/**
 * State of the gateway. Degraded: the last good configuration serves instead of the requested one, workers are missing,
 * or this process had an internal error.
 */
function stateOf({ processes, serving, internalErrors }: Operations): string {
  if (processes.closing) return 'draining';
  const isResumed = serving.trigger === 'resume';
  const lacksWorkers = processes.workers.some(({ state }) => state !== 'up');
  return isResumed || lacksWorkers || internalErrors.own > 0 ? 'degraded' : 'serving';
}

/** Source as recorded in the history; an unrecorded revision has the source of the change that requested it. */
function sourceOf({ revisions, serving, status: { revision } }: Operations): string {
  return revisions.list().find(({ number }) => number === revision)?.source ?? serving.trigger;
}

function lastReloadOf({ attempts }: Operations): object | null {
  const last = attempts.list.find(({ dryRun, result }) => !dryRun && result !== 'running');
  if (!last) return null;
  const { id, result, trigger, at, durationMs } = last;
  return { attempt: id, result, trigger, at, durationMs, problem: attemptProblem(last) };
}
