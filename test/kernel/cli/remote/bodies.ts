/** Response bodies of the admin API. */
export const status = {
  product: 'Sluice',
  version: '0.1.0',
  state: 'serving',
  startedAt: '2026-11-21T20:00:00.000Z',
  revision: 7,
  hash: '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
  source: 'file',
  sourceFile: 'gateway.json',
  drift: false,
  converged: true,
  workers: 4,
  endpoints: 120,
  lastReload: {
    attempt: 3,
    result: 'applied',
    trigger: 'watch',
    at: '2026-11-21T20:05:00.000Z',
    durationMs: 54,
    problem: null,
  },
  watch: { enabled: true, files: 14, mode: 'events' },
  requiresRestart: [],
};

export const applied = {
  result: 'applied',
  revision: 8,
  previous: 7,
  hash: 'fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210',
  attempt: 4,
  durationMs: 54,
  phases: { read: 1, render: 0, validate: 12, build: 40, warmup: 1, swap: 0 },
  changes: { added: ['GET /new'], changed: ['GET /users/{id}'], removed: ['POST /old'] },
  rebound: [],
  requiresRestart: [],
  warnings: [],
  workers: { prepared: 4, committed: 4 },
};

export const invalid = {
  type: 'urn:gateway:problem:validation',
  title: 'The configuration is not valid',
  status: 422,
  detail: 'must be an array of strings',
  revision: 7,
  errors: [
    {
      pointer: '/endpoints/0/backend/0/host',
      file: 'gateway.json',
      line: 41,
      column: 17,
      endLine: 41,
      endColumn: 30,
      severity: 'error',
      code: 'SCHEMA_TYPE',
      namespace: 'core',
      message: 'must be an array of strings',
      hint: 'wrap it in [ ]',
    },
  ],
};

export const stale = {
  type: 'urn:gateway:problem:stale',
  title: 'Stale',
  status: 412,
  detail: 'revision 8 serves, not 7',
  revision: 8,
};

const revision = {
  hash: status.hash,
  source: 'file',
  actor: null,
  message: null,
  result: 'applied',
  reason: null,
  pinned: false,
  format: 'json',
  files: ['gateway.json'],
  active: false,
};

export const revisions = {
  revisions: [
    { ...revision, number: 3, at: '2026-11-21T20:10:00.000Z', source: 'api', actor: 'ci', active: true },
    {
      ...revision,
      number: 2,
      at: '2026-11-21T20:05:00.000Z',
      result: 'rolled-back',
      reason: 'GET /a: errors rose from 0.0 % to 40.0 % (16 of 40 calls)',
      message: 'longer timeouts',
    },
    { ...revision, number: 1, at: '2026-11-21T20:00:00.000Z', source: 'start', pinned: true },
  ],
};
