import { readFileSync } from 'node:fs';
import { type Ask, config, type TestAdmin } from '../support.ts';
import type { SetupName } from './setups.ts';

/** A call of an operation that results in a certain status. */
export interface Call {
  readonly path: string;
  readonly ask?: Ask;
  /** Setup for the call. Default: a new gateway. */
  readonly at?: SetupName;
  /** Preparation before the call. */
  readonly first?: (one: TestAdmin) => unknown;
}

/** Calls of one operation, by resulting status. */
type Calls = Readonly<Record<number, Call | readonly Call[]>>;

const body = config('/b');
const invalid = { version: 3, timeout: '2', endpoints: [{ endpoint: 'a', backend: [] }], prot: 1 };
const colliding = config('/user/{a}', '/user/{b}/x');
const merge = { 'content-type': 'application/merge-patch+json', 'if-match': '*' };
const patch = (change: unknown, headers = {}) => ({
  method: 'PATCH',
  headers: { ...merge, ...headers },
  body: change as object,
});
const put = (one: TestAdmin, path: string) => one.ask('/v1/config', { method: 'PUT', body: config(path) });

/** Calls that apply a configuration and fail because of the state of the gateway. */
const changing = (path: string, ask: Ask, conflicts: readonly Call[] = []): Calls => ({
  202: { path, ask: { ...ask, headers: { ...ask.headers, prefer: 'respond-async' } } },
  409: [{ path: `${path}?wait=0`, ask, at: 'busy' }, { path, ask, at: 'ending' }, ...conflicts],
  422: { path: `${path}?force=true`, ask, at: 'refusing' },
  424: { path: `${path}?force=true`, ask, at: 'lacking' },
  504: { path: `${path}?force=true`, ask, at: 'late' },
});

/** Calls for a revision that does not exist. */
const missing = (path: (revision: number) => string, ask: Ask = {}): Calls => ({
  404: { path: path(99), ask },
  410: { path: path(1), ask, at: 'forgetful' },
});

/** A call with an idempotency key that another call has used. */
const spent = (path: string, method: string): Call => {
  const headers = { 'idempotency-key': 'k' };
  return { path, ask: { method, headers }, first: (one) => one.ask('/v1/reload', { method: 'POST', headers }) };
};

/** Expected statuses of each operation, except those of requests that are rejected before the operation runs. */
export const calls: Readonly<Record<string, Calls>> = {
  'GET /live': { 200: { path: '/live' } },
  'GET /ready': {
    200: { path: '/ready' },
    503: { path: '/ready', first: (one) => one.ask('/v1/drain', { method: 'POST' }) },
  },
  'GET /metrics': { 200: { path: '/metrics' } },
  'GET /v1/status': {
    200: [
      { path: '/v1/status' },
      { path: '/v1/status', first: (one) => one.ask('/v1/config', { method: 'PUT', body: invalid }) },
    ],
  },
  'GET /v1/routes': {
    200: [{ path: '/v1/routes' }, { path: '/v1/routes', at: 'sample' }, { path: '/v1/routes?streaming=true' }],
  },
  // The stream itself is read by a test of its own.
  'GET /v1/routes/observation': {
    400: { path: '/v1/routes/observation' },
    404: { path: '/v1/routes/observation?endpoint=GET%20/nothing' },
  },
  'GET /v1/routes/match': {
    200: ['/a', '/b', '/a/', '/__health', '/__debug/', '/%zz'].map((path) => ({
      path: `/v1/routes/match?path=${encodeURIComponent(path)}`,
      at: 'sample' as const,
    })),
  },
  'GET /v1/plugins': { 200: (['plain', 'sample', 'failing'] as const).map((at) => ({ path: '/v1/plugins', at })) },
  'DELETE /v1/plugins/{name}/suspension': {
    204: { path: '/v1/plugins/acme/test/suspension', ask: { method: 'DELETE' }, at: 'failing' },
    404: { path: '/v1/plugins/acme%2Ftest/suspension', ask: { method: 'DELETE' } },
  },
  'GET /v1/agents': { 200: (['plain', 'agents'] as const).map((at) => ({ path: '/v1/agents', at })) },
  'GET /v1/schema': { 200: { path: '/v1/schema' } },
  'GET /v1/schema/{namespace}': {
    200: { path: '/v1/schema/qos/circuit-breaker' },
    404: { path: '/v1/schema/nothing' },
  },
  'GET /v1/audit': { 200: [{ path: '/v1/audit' }, { path: '/v1/audit', at: 'sample' }] },
  'GET /v1/openapi': { 200: { path: '/v1/openapi' } },
  'GET /v1/admin-openapi': { 200: { path: '/v1/admin-openapi' } },
  'GET /v1/workers': { 200: [{ path: '/v1/workers' }, { path: '/v1/workers', at: 'workers' }] },
  'GET /v1/traffic': { 200: { path: '/v1/traffic' }, 400: { path: '/v1/traffic?interval=2s' } },
  'GET /v1/token': { 200: { path: '/v1/token' } },
  'POST /v1/dashboard/codes': { 200: { path: '/v1/dashboard/codes', ask: { method: 'POST' } } },
  'POST /v1/dashboard/sessions': {
    401: { path: '/v1/dashboard/sessions', ask: { method: 'POST' } },
  },
  'POST /v1/explain': {
    200: { path: '/v1/explain', ask: { method: 'POST', body: { path: '/a' } } },
    400: { path: '/v1/explain', ask: { method: 'POST', body: { path: 'a' } } },
  },
  'POST /v1/try': {
    200: { path: '/v1/try', ask: { method: 'POST', body: { path: '/__health', headers: { a: ['1', '2'] } } } },
    400: { path: '/v1/try', ask: { method: 'POST', body: { path: 'a' } } },
  },
  'GET /v1/generations': { 200: [{ path: '/v1/generations' }, { path: '/v1/generations', at: 'workers' }] },
  'GET /v1/logging': { 200: { path: '/v1/logging' } },
  'PUT /v1/logging': { 200: { path: '/v1/logging', ask: { method: 'PUT', body: { level: 'DEBUG' } } } },
  'POST /v1/drain': { 202: { path: '/v1/drain', ask: { method: 'POST' } } },
  'POST /v1/resume': {
    202: { path: '/v1/resume', ask: { method: 'POST' } },
    409: { path: '/v1/resume', ask: { method: 'POST' }, at: 'ending' },
  },
  'POST /v1/stop': { 202: { path: '/v1/stop', ask: { method: 'POST' } } },
  'GET /v1/recordings': {
    200: { path: '/v1/recordings?limit=5', at: 'recording' },
    404: { path: '/v1/recordings' },
  },
  'DELETE /v1/caches/{name}': {
    204: { path: '/v1/caches/http', ask: { method: 'DELETE' }, at: 'caching' },
    404: { path: '/v1/caches/http', ask: { method: 'DELETE' } },
  },
  'POST /v1/check': {
    200: [
      { path: '/v1/check?audit=true', ask: { method: 'POST' }, at: 'sample' },
      { path: '/v1/check?level=syntax', ask: { method: 'POST', body: '// odd\n{"version": 3}' } },
      { path: '/v1/check', ask: { method: 'POST', body: '// odd\n{"version": 3, "endpoints": []}' } },
    ],
    400: { path: '/v1/check', ask: { method: 'POST', body: '{"version": 3,\n "endpoints": [}' } },
    422: [
      { path: '/v1/check', ask: { method: 'POST', body: invalid } },
      { path: '/v1/check', ask: { method: 'POST', body: colliding } },
      { path: '/v1/check', ask: { method: 'POST', body: '// odd\n{"version": 3, "timeout": "2"}' } },
    ],
  },
  'POST /v1/fix': {
    200: { path: '/v1/fix', ask: { method: 'POST', body: invalid } },
    400: { path: '/v1/fix', ask: { method: 'POST', body: '{"version": 3,\n "endpoints": [}' } },
  },
  'POST /v1/reload': {
    200: { path: '/v1/reload', ask: { method: 'POST' } },
    ...changing('/v1/reload', { method: 'POST' }),
  },
  'GET /v1/config': {
    200: [
      { path: '/v1/config' },
      { path: '/v1/config?form=source', ask: { headers: { accept: 'application/yaml' } }, at: 'sample' },
    ],
    304: { path: '/v1/config', ask: { headers: { 'if-none-match': '*' } } },
    404: { path: '/v1/config?pointer=/nothing' },
  },
  'PUT /v1/config': {
    200: [
      ...['', '?dry_run=true', '?force=true&guard=1h'].map((query) => ({
        path: `/v1/config${query}`,
        ask: { method: 'PUT', body },
      })),
      { path: '/v1/config?replay=1', ask: { method: 'PUT', body }, at: 'recording' },
      { path: '/v1/config?shadow=1h&sample=5%', ask: { method: 'PUT', body }, at: 'recording' },
    ],
    ...changing('/v1/config', { method: 'PUT', body }, [
      { path: '/v1/config?shadow=1h', ask: { method: 'PUT', body }, at: 'shadowing' },
    ]),
  },
  'PATCH /v1/config': {
    200: { path: '/v1/config', ask: patch({ timeout: '3s' }) },
    ...changing('/v1/config', patch({ timeout: '3s' })),
  },
  'POST /v1/config/diff': {
    200: [
      { path: '/v1/config/diff', ask: { method: 'POST', body } },
      {
        path: '/v1/config/diff',
        ask: { method: 'POST', body: readFileSync(new URL('sample.json', import.meta.url)) },
        at: 'sample',
      },
    ],
    ...missing((revision) => `/v1/config/diff?against=${revision}`, { method: 'POST', body }),
    422: { path: '/v1/config/diff', ask: { method: 'POST', body: colliding } },
  },
  'GET /v1/revisions': {
    200: { path: '/v1/revisions?content=true', first: (one) => put(one, '/b') },
  },
  'GET /v1/revisions/{number}': {
    200: ['', '?content=true'].map((query) => ({ path: `/v1/revisions/1${query}` })),
    ...missing((revision) => `/v1/revisions/${revision}`),
  },
  'GET /v1/revisions/{from}/diff/{to}': {
    200: { path: '/v1/revisions/1/diff/2', first: (one) => put(one, '/b') },
    ...missing((revision) => `/v1/revisions/${revision}/diff/1`),
  },
  'POST /v1/revisions/{number}/rollback': {
    200: { path: '/v1/revisions/1/rollback', ask: { method: 'POST' }, first: (one) => put(one, '/b') },
    ...changing('/v1/revisions/1/rollback', { method: 'POST' }),
    ...missing((revision) => `/v1/revisions/${revision}/rollback`, { method: 'POST' }),
  },
  'PUT /v1/revisions/{number}/pin': {
    204: { path: '/v1/revisions/1/pin', ask: { method: 'PUT' } },
    422: spent('/v1/revisions/1/pin', 'PUT'),
    ...missing((revision) => `/v1/revisions/${revision}/pin`, { method: 'PUT' }),
  },
  'DELETE /v1/revisions/{number}/pin': {
    204: { path: '/v1/revisions/1/pin', ask: { method: 'DELETE' } },
    422: spent('/v1/revisions/1/pin', 'DELETE'),
    ...missing((revision) => `/v1/revisions/${revision}/pin`, { method: 'DELETE' }),
  },
  'GET /v1/shadow': {
    200: { path: '/v1/shadow', at: 'shadowing' },
    404: { path: '/v1/shadow' },
  },
  'DELETE /v1/shadow': {
    200: { path: '/v1/shadow', ask: { method: 'DELETE' }, at: 'shadowing' },
    404: { path: '/v1/shadow', ask: { method: 'DELETE' } },
  },
  'GET /v1/attempts': {
    200: { path: '/v1/attempts', first: (one) => one.ask('/v1/config', { method: 'PUT', body: invalid }) },
  },
  'GET /v1/attempts/{id}': {
    200: [
      { path: '/v1/attempts/1' },
      { path: '/v1/attempts/2', first: (one) => one.ask('/v1/config', { method: 'PUT', body: colliding }) },
    ],
    404: { path: '/v1/attempts/99' },
  },
};
