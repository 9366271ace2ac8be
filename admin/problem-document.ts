import { STATUS_CODES } from 'node:http';
import type { Attempt, Issue, RefusalRecord } from '#kernel';
import { type ProblemSlug, problemStatuses } from './problem.ts';

/** A problem as sent to clients (RFC 9457). */
export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  /** Explanation, in one sentence. */
  readonly detail: string;
  /** The requested path. */
  readonly instance?: string;
  readonly requestId?: string;
  readonly attempt?: number;
  readonly phase?: string;
  /** The revision that remains active. */
  readonly revision?: number;
  readonly errors?: readonly Issue[];
  /** Number of errors omitted from `errors`. */
  readonly errorsTruncated?: number;
  /** Warnings for a configuration that was only checked. */
  readonly warnings?: readonly Issue[];
  readonly [member: string]: unknown;
}

const titles: Readonly<Partial<Record<ProblemSlug, string>>> = {
  syntax: 'The configuration cannot be parsed',
  'insufficient-scope': 'The token lacks the required scope',
  origin: 'Requests from this origin are not allowed',
  'writes-disabled': 'Changes are disabled',
  'reload-in-progress': 'Another change is being applied',
  'shadow-running': 'Another shadow run is in progress',
  draining: 'The gateway is shutting down',
  'test-failed': 'The configuration does not have the state that the patch requires',
  'idempotency-key-reused': 'The Idempotency-Key was used for another request',
  stale: 'The configuration has changed in the meantime',
  template: 'A template of the configuration failed',
  validation: 'The configuration is not valid',
  routes: 'Endpoints of the configuration have conflicting paths',
  plugin: 'A plugin of the configuration cannot be used',
  build: 'The configuration cannot be built',
  replay: 'Recorded requests would receive other responses',
  warmup: 'A file or server that the configuration requires is not available',
  timeout: 'A component was not ready in time',
};

/** Creates a problem of a kind. @param members members in addition to those that follow from the kind. */
export function problemDocument(
  slug: ProblemSlug,
  detail: string,
  members: Readonly<Record<string, unknown>> = {},
): ProblemDocument {
  const status = problemStatuses[slug];
  return { type: typeOf(slug), title: titleOf(slug), status, detail, ...members };
}

/** URI that identifies a kind of problem. */
export function typeOf(slug: ProblemSlug): string {
  return `urn:gateway:problem:${slug}`;
}

/** Short title of a kind of problem. */
export function titleOf(slug: ProblemSlug): string {
  return titles[slug] ?? STATUS_CODES[problemStatuses[slug]]!;
}

/** Problem that explains why a configuration was rejected. @param revision the revision that remains active. */
export function refusalDocument(
  refusal: RefusalRecord,
  revision: number,
  members: Readonly<Record<string, unknown>> = {},
): ProblemDocument {
  const { slug, phase, issues, warnings, hidden } = refusal;
  return problemDocument(slug, detailOf(refusal, revision), {
    phase,
    revision,
    errors: issues,
    ...(hidden > 0 && { errorsTruncated: hidden }),
    ...(warnings.length > 0 && { warnings }),
    ...members,
  });
}

/** Problem that explains why an attempt failed; null when it did not fail. */
export function attemptProblem({ id, revision, problem }: Attempt): ProblemDocument | null {
  return problem && refusalDocument(problem, revision, { attempt: id });
}

function detailOf({ slug, issues, message, hidden }: RefusalRecord, revision: number): string {
  // Details of an internal error are only logged, not sent.
  if (slug === 'internal') return `An internal error; revision ${revision} stays active.`;
  const [first] = issues;
  if (!first) return message;
  const others = issues.length + hidden - 1;
  return others === 0 ? first.message : `${first.message}, and ${others} more`;
}
