import { type Flags, timerMs } from '#contract';
import { readDuration } from '../../config/index.ts';
import type { ReplayChange } from '../../control/replay-report.ts';
import type { ShadowReport } from '../../control/shadow-report.ts';
import { oneOf, UsageError } from '../arguments.ts';
import { counted } from '../formats/counted.ts';
import { printable } from '../formats/excerpt.ts';
import type { Terminal } from '../terminal.ts';
import { type AdminClient, exitCodes } from './client.ts';
import { followEvents } from './follow-events.ts';
import { describeChanges } from './replay.ts';

/** Flags of commands that compare a new configuration with the active one, with copies of requests. */
export const shadowFlags = {
  shadow: {
    type: 'string',
    value: 'DURATION',
    otherwise: 'no shadow run',
    about:
      'Do not activate the configuration: send it copies of GET and HEAD requests for this duration, for example 10m, and compare its responses with the responses of the active configuration.',
  },
  sample: {
    type: 'string',
    value: 'PERCENT',
    otherwise: '5%',
    about: 'Share of the GET and HEAD requests that a shadow run copies.',
  },
  'shadow-methods': {
    type: 'string',
    value: 'METHODS',
    otherwise: 'safe',
    about: 'safe refuses requests of a shadow run to backends with methods other than GET and HEAD, any sends them.',
  },
  wait: { type: 'boolean', default: true, about: 'Return as soon as the shadow run has started.' },
} as const satisfies Flags;

interface ShadowValues {
  readonly shadow?: string | undefined;
  readonly sample?: string | undefined;
  readonly 'shadow-methods'?: string | undefined;
  readonly wait: boolean;
}

/** Converts the flags to query parameters. @throws UsageError. */
export function shadowQuery(flags: ShadowValues): Record<string, string | undefined> {
  const { shadow, sample, 'shadow-methods': methods } = flags;
  if (shadow === undefined) {
    if (sample !== undefined) throw new UsageError('--sample requires --shadow');
    if (methods !== undefined) throw new UsageError('--shadow-methods requires --shadow');
    if (!flags.wait) throw new UsageError('--no-wait requires --shadow');
    return {};
  }
  if (!readDuration(shadow)) throw new UsageError(`not a duration such as 10m: ${shadow}`);
  const shadow_methods = methods === undefined ? undefined : oneOf('shadow-methods', methods, ['safe', 'any']);
  return { shadow, sample, shadow_methods };
}

const states: Readonly<Record<ShadowReport['state'], (report: ShadowReport) => string>> = {
  running: ({ endsAt }) => `runs until ${endsAt}`,
  finished: ({ endsAt }) => `ended at ${endsAt}`,
  stopped: ({ reason }) => `was ended early: ${reason}`,
  superseded: ({ reason }) => `ended early: ${reason}`,
  failed: ({ reason }) => `failed: ${reason}`,
};

/** Describes the state of a shadow run in a sentence. */
export function shadowWords(report: ShadowReport): string {
  return `the shadow run of attempt ${report.attempt} ${states[report.state](report)}`;
}

/** Descriptions of skipped requests, by reason. */
const skips: Readonly<Record<keyof ShadowReport['skipped'], string>> = {
  budget: 'the candidate had used 20 % of a processor core',
  busy: 'too many were in progress',
  incomplete: 'the client disconnected',
  unsuitable: 'they cannot be repeated',
  limited: 'a limit of the active configuration rejected them',
};

/** Describes the progress or the result of a shadow run. */
export function describeShadow(report: ShadowReport): string[] {
  const { compared, different, unstable, refused, refusals, skipped, changes, hidden, revision } = report;
  const reasons = Object.entries(skips) as [keyof typeof skips, string][];
  const notes = [
    ...reasons.map(([reason, why]) => [skipped[reason], `not copied: ${why}`] as const),
    [unstable, 'with differences that also occur without the change'] as const,
    [refused, 'that cannot be judged: the candidate was refused'] as const,
  ];
  return [
    shadowWords(report),
    `compared ${counted(compared, 'response')} with revision ${revision}: ${different} with differences`,
    ...describeChanges(changes),
    ...(hidden > 0 ? [`${counted(hidden, 'further difference')} not listed`] : []),
    ...notes.filter(([count]) => count > 0).map(([count, what]) => `${counted(count, 'request')} ${what}`),
    ...refusals.map((refusal) => `  ${refusal}`),
  ];
}

/** Line for a run that has started, with what to do next. */
export function startedLine(report: ShadowReport): string {
  return `${shadowWords(report)}; sluice shadow shows its progress, and sluice shadow --stop ends it\n`;
}

/** Additional time to wait for the end of a run, in milliseconds. */
const GRACE_MS = 30_000;

/**
 * Waits until a shadow run has ended. Differences are printed on standard error as they are found, and the result on
 * standard output.
 * @returns the exit code: 0 without differences. @throws Unreachable.
 */
export async function awaitShadow(
  client: AdminClient,
  terminal: Terminal,
  started: ShadowReport,
  json: boolean,
): Promise<number> {
  const { stdout, stderr } = terminal;
  const waitMs = Date.parse(started.endsAt) - Date.parse(started.startedAt) + GRACE_MS;
  stderr.write(startedLine(started));
  const report = await resultOf(client, started, AbortSignal.timeout(timerMs(waitMs)), (change) =>
    stderr.write(
      describeChanges([change])
        .map((line) => `${printable(line)}\n`)
        .join(''),
    ),
  );
  if (!report) {
    stderr.write(`ERROR the gateway has not reported the end of the shadow run of attempt ${started.attempt}\n`);
    return exitCodes.refused;
  }
  const lines = json ? [JSON.stringify(report)] : describeShadow(report).map(printable);
  stdout.write(`${lines.join('\n')}\n`);
  const isGood = report.different === 0 && (report.state === 'finished' || report.state === 'stopped');
  return isGood ? exitCodes.ok : exitCodes.refused;
}

async function resultOf(
  client: AdminClient,
  { attempt, startedAt }: ShadowReport,
  signal: AbortSignal,
  onDifference: (change: ReplayChange) => void,
): Promise<ShadowReport | null> {
  // The run may have found differences already: stored events come first.
  for await (const { type, data } of followEvents(client, { types: 'shadow.*', after: '0', signal })) {
    const reported = JSON.parse(data) as ShadowReport & ReplayChange;
    if (reported.attempt !== attempt) continue;
    if (type === 'shadow.difference') onDifference(reported);
    else if (type === 'shadow.finished' && reported.startedAt === startedAt) return reported;
  }
  return null;
}
