import type { Flags } from '#contract';
import type { AppliedBody } from './bodies.ts';
import { describeReplay } from './replay.ts';
import type { Described } from './show.ts';

/** Flags of every command that changes the active configuration. */
export const changeFlags = {
  message: { type: 'string', value: 'TEXT', about: 'Message recorded in the history.' },
  'if-match': {
    type: 'string',
    value: 'REVISION-HASH',
    about: 'Apply the change only if this revision is active. The status command prints it.',
  },
} as const satisfies Flags;

/** Returns the headers of a change. @param flags include the revision it is based on, as printed by `status`. */
export function changeHeaders(flags: { readonly 'if-match'?: string | undefined }): Record<string, string | undefined> {
  const tag = flags['if-match'];
  return { 'if-match': tag === undefined || /^(?:\*|".*")$/.test(tag) ? tag : `"${tag}"` };
}

const outcomes: Readonly<Record<AppliedBody['result'], (body: AppliedBody) => string>> = {
  applied: ({ revision, previous, hash, durationMs }) =>
    `now serving revision ${revision} (${hash.slice(0, 12)}), replacing ${previous}; took ${durationMs} ms`,
  unchanged: ({ revision }) => `unchanged: revision ${revision} stays active`,
  dry_run: ({ revision, hash, durationMs }) =>
    `dry run: the configuration (${hash.slice(0, 12)}) could be applied; revision ${revision} stays active; took ${durationMs} ms`,
};

const marks = { added: '+', changed: '~', removed: '-' } as const;

/** Describes the result of a change: the active revision, then one line per endpoint. */
export function describeChange(body: AppliedBody): Described {
  const { changes, rebound, requiresRestart = [], warnings, replay } = body;
  const kinds = Object.entries(marks) as [keyof typeof marks, string][];
  const lines = [
    outcomes[body.result](body),
    ...kinds.flatMap(([kind, mark]) => changes[kind].map((endpoint) => `${mark} ${endpoint}`)),
    ...rebound.map((address) => `now listening on ${address}`),
    ...(replay ? describeReplay(replay) : []),
    ...requiresRestart.map((setting) => `takes effect after a restart: ${setting}`),
  ];
  return { lines, issues: warnings };
}
