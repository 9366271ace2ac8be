import type { AppliedBody } from './bodies.ts';
import type { Described } from './show.ts';

const outcomes: Readonly<Record<AppliedBody['result'], (body: AppliedBody) => string>> = {
  applied: ({ revision, previous, hash, durationMs }) =>
    `now serving revision ${revision} (${hash.slice(0, 12)}), replacing ${previous}; took ${durationMs} ms`,
  unchanged: ({ revision }) => `unchanged: revision ${revision} stays active`,
  dry_run: ({ revision, hash, durationMs }) =>
    `dry run: it could be applied (${hash.slice(0, 12)}); revision ${revision} stays active; took ${durationMs} ms`,
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
