/** Kinds of changes that break clients, in the order in which they are reported. */
export const breaks = {
  endpoint: 'endpoint removed',
  status: 'status not in the contract',
  'no-status': 'status no longer returned',
  'content-type': 'content type changed',
  body: 'body is not JSON',
  removed: 'field removed',
  type: 'type changed',
  nullable: 'field became nullable',
  optional: 'field became optional',
  format: 'format changed',
  enum: 'value not in the contract',
  'no-value': 'value no longer returned',
} as const;

export type BreakKind = keyof typeof breaks;

/** A difference between a contract and the responses of a configuration. */
export interface Difference {
  /** `added` for a field that the contract does not contain, which is compatible. */
  readonly kind: BreakKind | 'added';
  /** Endpoint of the contract, for example `GET /users/{id}`. */
  readonly endpoint: string;
  readonly status: number | null;
  /** Path of the field, in the notation of replay; empty for the whole response. */
  readonly at: string;
  /** Contract and response, for example `string → integer`; empty if the kind says everything. */
  readonly shown: string;
  /** Whether the responses before the change have the same difference. */
  readonly isKnown: boolean;
  /** A request that shows the difference; null if no single one does. */
  readonly example: string | null;
}

export function isBreaking({ kind }: Pick<Difference, 'kind'>): boolean {
  return kind !== 'added';
}

/** Text of a difference without its endpoint, for example `200 type changed: id (integer → string)`. */
export function describeDifference({ kind, status, at, shown }: Difference): string {
  const name = kind === 'added' ? 'field added' : breaks[kind];
  return `${status === null ? '' : `${status} `}${name}${at === '' ? '' : `: ${at}`}${shown === '' ? '' : ` (${shown})`}`;
}
