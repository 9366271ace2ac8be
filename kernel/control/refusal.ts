import type { ConfigError } from '#contract';
import { type Document, type IsSecret, type Issue, toIssues, withoutSecrets } from '../config/index.ts';
import { ConfigErrors, flattenStack, GatewayError } from '../contract/internal.ts';
import type { Phase } from '../runtime/build/phases.ts';

/** Kind of failure, as named by the admin API. */
export type Slug =
  | 'syntax'
  | 'template'
  | 'validation'
  | 'routes'
  | 'build'
  | 'warmup'
  | 'timeout'
  | 'replay'
  | 'reload-in-progress'
  | 'stale'
  | 'internal';

/** Maximum number of issues created and kept per change, and shown to one client. */
export const MAX_ISSUES = 200;

/** A configuration that was not applied, or a change that was not attempted: the serving configuration is untouched. */
export class Refusal extends ConfigErrors {
  readonly slug: Slug;
  /** The step that failed. */
  readonly phase: Phase;
  /** The first errors with their locations; `errors` has all of them. */
  readonly issues: readonly Issue[];
  /** Warnings about the configuration, which alone would not have caused a rejection. Empty unless they were requested. */
  warnings: readonly Issue[] = [];

  /** @param isSecret selects the values to mask. Default: by names and texts. */
  constructor(
    slug: Slug,
    phase: Phase,
    errors: readonly ConfigError[],
    document: Document | null,
    { cause, isSecret }: { readonly cause?: unknown; readonly isSecret?: IsSecret | undefined } = {},
  ) {
    super(errors);
    this.name = ConfigErrors.name;
    this.slug = slug;
    this.phase = phase;
    this.issues = toIssues(document, errors.slice(0, MAX_ISSUES), 'error', isSecret);
    if (errors.length === 0) this.message = cause instanceof Error ? cause.message : String(cause);
    this.cause = cause;
    flattenStack(this);
  }
}

/** Record of a rejection: copied data that keeps no other objects in memory. */
export interface RefusalRecord extends Pick<Refusal, 'slug' | 'phase' | 'issues' | 'warnings'> {
  /** The reason of a rejection without issues; otherwise empty. */
  readonly message: string;
  /** Number of issues that are not recorded. */
  readonly hidden: number;
}

export function recordOf({ slug, phase, issues, errors, warnings, message }: Refusal): RefusalRecord {
  return {
    slug,
    phase,
    message: issues.length === 0 ? message : '',
    issues: briefly(issues),
    warnings: briefly(warnings),
    hidden: Math.max(0, errors.length - MAX_ISSUES),
  };
}

/** Copies the first issues, because their texts may be slices that keep long strings in memory. */
export function briefly(issues: readonly Issue[]): readonly Issue[] {
  return structuredClone(issues.slice(0, MAX_ISSUES));
}

/** Errors in the document itself, found at any step. */
const written = /^(?:SCHEMA|DURATION|NAMESPACE|CONFIG|ENV|ENCODING|SD)_/;

/** Conflicts between endpoints. */
const collisions: ReadonlySet<string> = new Set(['ROUTE_COLLISION', 'ROUTE_DUPLICATE']);

const slugOfPhase: Readonly<Record<Phase, Slug>> = {
  read: 'syntax',
  validate: 'validation',
  build: 'build',
  warmup: 'warmup',
  rehearse: 'replay',
  prepare: 'timeout',
  swap: 'internal',
};

/** Converts any error that stopped an attempt into a rejection. @param isSecret selects the values to mask. Default: by names and texts. */
export function toRefusal(error: unknown, phase: Phase, document: Document | null, isSecret?: IsSecret): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof ConfigErrors) {
    return new Refusal(slugOf(error.errors, phase), phase, error.errors.map(withoutSecrets), document, { isSecret });
  }
  const known = error instanceof GatewayError && phase !== 'build';
  return new Refusal(known ? slugOfPhase[phase] : 'internal', phase, [], document, { cause: error });
}

/** Kinds of failure of the step that reads the document, by the beginning of their error codes. */
const slugsOfRead: readonly (readonly [beginning: string, slug: Slug])[] = [
  ['TEMPLATE_', 'template'],
  ['CONFIG_READ', 'warmup'],
  ['SECRET_FETCH', 'warmup'],
  ['SECRET_', 'validation'],
  ['SCHEMA_', 'validation'],
];

function slugOfRead({ code }: ConfigError): Slug {
  return slugsOfRead.find(([beginning]) => code.startsWith(beginning))?.[1] ?? 'syntax';
}

function slugOf(errors: readonly ConfigError[], phase: Phase): Slug {
  const [first] = errors;
  if (phase === 'read') return first ? slugOfRead(first) : 'syntax';
  if (errors.every(({ code }) => collisions.has(code))) return 'routes';
  if (errors.some(({ code }) => code === 'LISTENER_BIND')) return 'warmup';
  return phase === 'build' && errors.some(({ code }) => written.test(code)) ? 'validation' : slugOfPhase[phase];
}
