import type { AppliedBody } from './bodies.ts';
import type { Described } from './show.ts';

const outcomes: Readonly<Record<AppliedBody['result'], (body: AppliedBody) => string>> = {
  applied: ({ revision, previous, hash, durationMs }) =>
    `revision ${revision} serves (${hash.slice(0, 12)}), ${previous} before; ${durationMs} ms`,
  unchanged: ({ revision }) => `unchanged: revision ${revision} serves on`,
  dry_run: ({ revision, hash, durationMs }) =>
    `dry run: it could be applied (${hash.slice(0, 12)}); revision ${revision} serves on; ${durationMs} ms`,
};

const marks = { added: '+', changed: '~', removed: '-' } as const;

/** What a change did: what serves, then an endpoint a line. */
export function describeChange(body: AppliedBody): Described {
  const { changes, rebound, requiresRestart = [], warnings } = body;
  const kinds = Object.entries(marks) as [keyof typeof marks, string][];
  const lines = [
    outcomes[body.result](body),
    ...kinds.flatMap(([kind, mark]) => changes[kind].map((endpoint) => `${mark} ${endpoint}`)),
    ...rebound.map((address) => `listens at ${address}`),
    ...requiresRestart.map((setting) => `needs a restart: ${setting}`),
  ];
  return { lines, issues: warnings };
}
