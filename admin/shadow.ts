import type Koa from 'koa';
import type { ShadowSettings } from '#kernel';
import type { Admin } from './operation.ts';
import { inQuery, queryDuration, queryText, queryWord } from './parameters.ts';
import { Problem } from './problem.ts';

/** Shortest and longest run, in milliseconds. */
const MIN_MS = 1000;
const MAX_MS = 24 * 60 * 60 * 1000;

/** Default sample, as a percentage. */
const DEFAULT_SAMPLE = '5%';

const methods = ['safe', 'any'] as const;

/** Parameters that compare a new configuration with the active one, with copies of requests. */
export const shadowParameters = [
  inQuery(
    'shadow',
    'Duration of a shadow run, for example 10m; at most 24h. The configuration is built but not activated: it receives copies of GET and HEAD requests after their responses have been sent, in a separate process that uses at most 20 % of a processor core. Its responses are compared with the responses of the active configuration. The backends of both receive the copied requests. GET /v1/shadow shows the result.',
    { type: 'string' },
  ),
  inQuery(
    'sample',
    'Share of the GET and HEAD requests to copy, as a percentage such as 5% or a fraction such as 0.05. Requires `shadow`.',
    { type: 'string', default: DEFAULT_SAMPLE },
  ),
  inQuery(
    'shadow_methods',
    'HTTP methods of the requests that a shadow run sends to backends: `safe` refuses all but GET and HEAD, `any` sends all, for example for an endpoint that queries its backend with POST. Requires `shadow`.',
    { type: 'string', enum: methods, default: 'safe' },
  ),
];

/** The shadow run that a request demands; undefined without one. @throws Problem bad-request, shadow-running. */
export function shadowOf(ctx: Koa.Context, { operating }: Pick<Admin, 'operating'>): ShadowSettings | undefined {
  const durationMs = queryDuration(ctx, 'shadow');
  const sendsAnyMethod = queryWord(ctx, 'shadow_methods', methods) === 'any';
  const sample = queryText(ctx, 'sample');
  if (durationMs === undefined) {
    for (const name of ['sample', 'shadow_methods']) {
      if (queryText(ctx, name) !== undefined) throw new Problem('bad-request', `${name} requires shadow`);
    }
    return undefined;
  }
  if (durationMs < MIN_MS || durationMs > MAX_MS) throw new Problem('bad-request', 'shadow must be 1s to 24h');
  if (queryText(ctx, 'guard') !== undefined) {
    throw new Problem('bad-request', 'guard cannot be combined with shadow, which does not activate the configuration');
  }
  if (operating.shadow.isBusy) {
    throw new Problem(
      'shadow-running',
      'a shadow run is in progress: wait for its end, or stop it with DELETE /v1/shadow',
    );
  }
  return { durationMs, sample: sampleOf(sample ?? DEFAULT_SAMPLE), sendsAnyMethod };
}

/** Parses a percentage or a fraction. @throws Problem bad-request. */
function sampleOf(text: string): number {
  const [, digits, percent] = /^(\d{1,3}(?:\.\d{1,6})?)(%?)$/.exec(text) ?? [];
  const sample = Number(digits) / (percent === '%' ? 100 : 1);
  if (sample > 0 && sample <= 1) return sample;
  throw new Problem('bad-request', 'sample must be a percentage such as 5%, above 0 and at most 100%, or a fraction');
}
