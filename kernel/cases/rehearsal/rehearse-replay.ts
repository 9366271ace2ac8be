import { ConfigError } from '#contract';
import { ConfigErrors } from '../../contract/internal.ts';
import type { Change } from '../../control/change.ts';
import type { Next } from '../../control/participant.ts';
import type { ReplayChange, ReplayReport } from '../../control/replay-report.ts';
import { endpointId } from '../../runtime/prints/endpoint-prints.ts';
import { causes } from '../replay/compare.ts';
import type { ReplayResult } from '../replay/replay.ts';
import { type RehearsingGateway, rehearseAside } from './rehearse-aside.ts';
import { withoutValues } from './without-values.ts';

/** Replays recorded requests. */
type Run = (next: Next) => Promise<ReplayResult>;

/** Maximum number of differences in a report. */
const MAX_CHANGES = 200;

export interface RehearsalOptions {
  /** Maximum number of requests to replay. */
  readonly count: number;
  /** Rejects the change if responses differ, or if the replay fails. */
  readonly isStrict: boolean;
  /** Differences that are accepted, as `sluice replay` prints them. */
  readonly accepted: ReadonlySet<string>;
}

/**
 * Replays the latest recorded requests over the serving and the new configuration, before the new one serves. The report
 * is kept with the attempt.
 * @param run replays the requests. Default: in a process of its own.
 */
export function rehearseReplay(
  gateway: RehearsingGateway,
  options: RehearsalOptions,
  run: Run = (next) => rehearseAside(gateway, next, { task: 'replay', count: options.count, input: {} }),
): NonNullable<Change['rehearse']> {
  return async (next, attempt) => {
    const report = await reportOf(run, next, options);
    attempt.replay = report;
    if (!options.isStrict) return;
    const errors = [...failures(report), ...report.changes.map((change) => toError(change, next))];
    if (errors.length > 0) throw new ConfigErrors(errors);
  };
}

async function reportOf(run: Run, next: Next, { isStrict: strict, accepted }: RehearsalOptions): Promise<ReplayReport> {
  const startedAt = performance.now();
  const report = (result: Omit<ReplayResult, 'ms'>, failure: string | null = null): ReplayReport => {
    const { requests, incomplete, unfaithful } = result;
    const changes = result.changes.filter(({ key }) => !accepted.has(key));
    const durationMs = Math.round(performance.now() - startedAt);
    const first = changes.slice(0, MAX_CHANGES).map(withoutValues);
    const hidden = changes.length - first.length + result.hidden;
    const found = { changes: first, accepted: result.changes.length - changes.length, hidden };
    return { strict, requests, incomplete, unfaithful, ...found, durationMs, failure };
  };
  try {
    return report(await run(next));
  } catch (error) {
    next.signal.throwIfAborted();
    return report(nothing, (error as Error).message);
  }
}

const nothing = { requests: 0, incomplete: 0, unfaithful: 0, changes: [], hidden: 0 };

function failures({ failure, hidden, changes }: ReplayReport): ConfigError[] {
  if (failure !== null) return [new ConfigError('REPLAY_FAILED', '', `the replay failed: ${failure}`)];
  if (hidden === 0 || changes.length > 0) return [];
  return [new ConfigError('REPLAY_DIFFERENCE', '', `there are ${hidden} differences in addition to the accepted ones`)];
}

/** A difference as the reason of a rejection, at the setting that can be its reason, or at its endpoint. */
function toError({ endpoint, cause, at, requests, settings }: ReplayChange, { runtime }: Next): ConfigError {
  const position = runtime.config.endpoints.findIndex((each) => endpointId(each) === endpoint);
  const what = `${causes[cause as keyof typeof causes]}${at === '' ? '' : `: ${at}`}`;
  const written = settings.find(({ op }) => op !== 'remove');
  const pointer = written?.pointer ?? (position < 0 ? '' : `/endpoints/${position}`);
  const message = `${endpoint}: ${what}, in ${requests} recorded request${requests === 1 ? '' : 's'}`;
  const hint = 'If the difference is intended, accept it with --accept or replay_accept.';
  return new ConfigError('REPLAY_DIFFERENCE', pointer, message, { hint });
}
