import type { Flags } from '#contract';
import { type Cause, causes } from '../../cases/replay/compare.ts';
import type { ReplayChange, ReplayReport } from '../../control/replay-report.ts';
import { oneOf, parseCount, UsageError } from '../arguments.ts';
import { readAccepted } from '../files/accepted-differences.ts';
import { counted } from '../formats/counted.ts';

/** Flags of commands that replay recorded requests before a change. */
export const replayFlags = {
  replay: {
    type: 'string',
    value: 'NUMBER',
    otherwise: 'no replay',
    about:
      'Number of recorded requests to replay with the active and the new configuration before the change; strict replays 200 and rejects the change if responses differ.',
  },
  'replay-mode': {
    type: 'string',
    value: 'MODE',
    otherwise: 'report',
    about: 'report lists differences, strict rejects the change because of them.',
  },
  accept: {
    type: 'string',
    value: 'FILE',
    otherwise: 'no difference is accepted',
    about: 'File with accepted differences, one per line, as sluice replay prints them after "accept:".',
  },
} as const satisfies Flags;

/** Converts the flags to query parameters. @throws UsageError. */
export function replayQuery(flags: {
  readonly replay?: string | undefined;
  readonly 'replay-mode'?: string | undefined;
  readonly accept?: string | undefined;
}): Record<string, string | number | undefined> {
  const { replay, 'replay-mode': mode, accept } = flags;
  if (replay === undefined && mode !== undefined) throw new UsageError('--replay-mode requires --replay');
  if (replay === undefined && accept !== undefined) throw new UsageError('--accept requires --replay');
  if (replay === undefined) return {};
  return {
    replay: replay === 'strict' ? replay : parseCount(replay, 'a number of requests or strict'),
    replay_mode: mode === undefined ? undefined : oneOf('replay-mode', mode, ['report', 'strict']),
    replay_accept: accept === undefined ? undefined : [...readAccepted(accept)].join('\n'),
  };
}

const words = { add: 'added', replace: 'changed', remove: 'removed' } as const;

/** Describes differences: an indented line for each, followed by the settings that can be its reason. */
export function describeChanges(changes: readonly ReplayChange[]): string[] {
  return changes.flatMap(({ endpoint, cause, at, requests, settings }) => {
    const what = Object.hasOwn(causes, cause) ? causes[cause as Cause] : cause;
    return [
      `  ${endpoint}: ${what}${at === '' ? '' : `: ${at}`}, in ${counted(requests, 'request')}`,
      ...settings.map(({ op, pointer }) => `    ${words[op]} ${pointer}`),
    ];
  });
}

/** Describes the outcome of a replay. */
export function describeReplay(report: ReplayReport): string[] {
  const { requests, incomplete, unfaithful, changes, accepted, hidden, durationMs, failure } = report;
  if (failure !== null) return [`the replay failed: ${failure}`];
  const notes = [
    incomplete > 0 ? `${counted(incomplete, 'request')} not replayed: the recording is incomplete` : '',
    unfaithful > 0
      ? `${counted(unfaithful, 'request')} got a status other than the recorded one from the active configuration`
      : '',
    accepted > 0 ? `${counted(accepted, 'difference')} accepted` : '',
    hidden > 0 ? `${counted(hidden, 'further difference')} not listed` : '',
  ];
  return [
    `replayed ${counted(requests, 'request')} in ${durationMs} ms: ${counted(changes.length + hidden, 'difference')}`,
    ...describeChanges(changes),
    ...notes.filter((note) => note !== ''),
  ];
}
