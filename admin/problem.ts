/** Status codes of the problems that any operation may respond with, by slug. */
const statuses = {
  syntax: 400,
  'bad-request': 400,
  unauthorized: 401,
  'insufficient-scope': 403,
  origin: 403,
  'writes-disabled': 403,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'reload-in-progress': 409,
  draining: 409,
  'shadow-running': 409,
  'test-failed': 409,
  'file-is-template': 409,
  'file-changed': 409,
  'file-not-editable': 409,
  gone: 410,
  stale: 412,
  'payload-too-large': 413,
  'unsupported-media-type': 415,
  'misdirected-request': 421,
  validation: 422,
  routes: 422,
  template: 422,
  plugin: 422,
  build: 422,
  replay: 422,
  'idempotency-key-reused': 422,
  warmup: 424,
  'precondition-required': 428,
  'too-many-requests': 429,
  internal: 500,
  timeout: 504,
} as const;

export type ProblemSlug = keyof typeof statuses;

/** Problems of configurations. */
export const configProblems = [
  'syntax',
  'template',
  'validation',
  'routes',
  'build',
] as const satisfies readonly ProblemSlug[];

/** All kinds of problems with their status codes. */
export const problemStatuses: Readonly<Record<ProblemSlug, number>> = statuses;

/** Error that ends an operation, sent to the client as `application/problem+json` (RFC 9457). */
export class Problem extends Error {
  readonly slug: ProblemSlug;
  readonly status: number;
  /** Response headers, such as `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Extension members of the problem. */
  readonly members: Readonly<Record<string, unknown>>;

  constructor(
    slug: ProblemSlug,
    detail: string,
    { headers = {}, members = {} }: { headers?: Record<string, string>; members?: Record<string, unknown> } = {},
  ) {
    super(detail);
    this.slug = slug;
    this.status = statuses[slug];
    this.headers = headers;
    this.members = members;
  }
}
