import type { ConfigError } from '#contract';
import { type Document, type IsSecret, type Issue, toIssues } from '../config/index.ts';
import { ConfigErrors, flattenStack, GatewayError } from '../contract/internal.ts';
import type { Phase } from '../runtime/phases.ts';

/** What kind of thing went wrong, as the admin API names it. */
export type Slug =
  | 'syntax'
  | 'template'
  | 'validation'
  | 'routes'
  | 'build'
  | 'warmup'
  | 'timeout'
  | 'reload-in-progress'
  | 'stale'
  | 'internal';

/** Most issues that are made and remembered of one change, and told to one client. */
export const MAX_ISSUES = 200;

/** A configuration that was not applied, or a change that was not tried: what serves is untouched. */
export class Refusal extends ConfigErrors {
  readonly slug: Slug;
  /** The step that failed. */
  readonly phase: Phase;
  /** The first mistakes with their places; `errors` are all of them. */
  readonly issues: readonly Issue[];
  /** Mistakes that would not have refused it, where they were asked for. */
  warnings: readonly Issue[] = [];

  /** @param isSecret which values are masked. Default: by names and texts. */
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

/** What is remembered of a refusal: data of its own, which keeps nothing else alive. */
export interface RefusalRecord extends Pick<Refusal, 'slug' | 'phase' | 'issues' | 'warnings'> {
  /** Why, where there are no issues; empty where there are. */
  readonly message: string;
  /** Issues beyond those that are remembered. */
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

/** The first issues, copied: their texts may be parts of larger ones. */
export function briefly(issues: readonly Issue[]): readonly Issue[] {
  return structuredClone(issues.slice(0, MAX_ISSUES));
}

/** Mistakes in what is written, found at whatever step. */
const written = /^(?:SCHEMA|DURATION|NAMESPACE|CONFIG|ENV|ENCODING|SD)_/;

/** Mistakes between endpoints. */
const collisions: ReadonlySet<string> = new Set(['ROUTE_COLLISION', 'ROUTE_DUPLICATE']);

const slugOfPhase: Readonly<Record<Phase, Slug>> = {
  read: 'syntax',
  validate: 'validation',
  build: 'build',
  warmup: 'warmup',
  prepare: 'timeout',
  swap: 'internal',
};

/** Whatever stopped an attempt, as its refusal. @param isSecret which values are masked. Default: by names and texts. */
export function toRefusal(error: unknown, phase: Phase, document: Document | null, isSecret?: IsSecret): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof ConfigErrors) {
    return new Refusal(slugOf(error.errors, phase), phase, error.errors, document, { isSecret });
  }
  const known = error instanceof GatewayError && phase !== 'build';
  return new Refusal(known ? slugOfPhase[phase] : 'internal', phase, [], document, { cause: error });
}

function slugOfRead({ code }: ConfigError): Slug {
  if (code.startsWith('TEMPLATE_')) return 'template';
  return code === 'CONFIG_READ' ? 'warmup' : 'syntax';
}

function slugOf(errors: readonly ConfigError[], phase: Phase): Slug {
  const [first] = errors;
  if (phase === 'read') return first ? slugOfRead(first) : 'syntax';
  if (errors.every(({ code }) => collisions.has(code))) return 'routes';
  if (errors.some(({ code }) => code === 'LISTENER_BIND')) return 'warmup';
  return phase === 'build' && errors.some(({ code }) => written.test(code)) ? 'validation' : slugOfPhase[phase];
}
