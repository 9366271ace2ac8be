import { isObject } from '#contract';

const sources = ['start', 'file', 'api', 'rollback', 'guard', 'resume', 'secret'] as const;
const results = ['applied', 'rolled-back'] as const;
const formats = ['json', 'yaml', 'toml'] as const;

/** History entry of a configuration that served, without its content. */
export interface RevisionSummary {
  /** Increases by at least one with every revision. */
  readonly number: number;
  /** Fingerprint of the effective configuration. */
  readonly hash: string;
  /** Time at which the configuration began to serve, in ISO 8601. */
  readonly at: string;
  /** Trigger of the revision: `resume` is the last good one restored at startup, `guard` a rollback by the guard, `secret` a rotated secret. */
  readonly source: (typeof sources)[number];
  /** The requester, as the id of a token; null if unknown. */
  readonly actor: string | null;
  readonly message: string | null;
  readonly result: (typeof results)[number];
  /** Reason for the rollback of the configuration; null unless it was rolled back. */
  readonly reason: string | null;
  /** True for a pinned revision, which is never pruned. */
  readonly pinned: boolean;
  /** Format of the content. */
  readonly format: (typeof formats)[number];
  /** Paths of the files that the configuration was built from. */
  readonly files: readonly string[];
}

export interface Revision extends RevisionSummary {
  /** The content. */
  readonly text: string;
}

const isString = (value: unknown): boolean => typeof value === 'string';
const isStringOrNull = (value: unknown): boolean => value === null || isString(value);
const isOneOf = (names: readonly string[]) => (value: unknown) => names.includes(value as string);

const members: { readonly [Key in keyof Revision]: (value: unknown) => boolean } = {
  number: Number.isSafeInteger,
  hash: isString,
  at: isString,
  source: isOneOf(sources),
  actor: isStringOrNull,
  message: isStringOrNull,
  result: isOneOf(results),
  reason: isStringOrNull,
  pinned: (value) => typeof value === 'boolean',
  format: isOneOf(formats),
  files: (value) => Array.isArray(value) && value.every(isString),
  text: isString,
};

/**
 * Parses a revision as serialized by `JSON.stringify`.
 * @param number the number it must have.
 * @throws Error when the text is not that revision; the message gives the reason and never quotes the text.
 */
export function parseRevision(text: string, number: number): Revision {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw new Error('the JSON is incomplete');
  }
  if (!isObject(data)) throw new Error('no revision');
  for (const [key, fits] of Object.entries(members)) {
    if (!fits(data[key])) throw new Error(`"${key}" is missing or wrong`);
  }
  const revision = data as unknown as Revision;
  if (revision.number !== number) throw new Error(`it contains revision ${revision.number}`);
  return revision;
}

/** A revision without its content. */
export function summaryOf({ text: _, ...summary }: Revision): RevisionSummary {
  return summary;
}
