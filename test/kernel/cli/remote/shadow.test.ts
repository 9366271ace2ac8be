import { deepEqual, equal, match } from 'node:assert/strict';
import type { ShadowReport } from '../../../../kernel/control/shadow-report.ts';
import { sluiceIn } from '../command.ts';
import { type AdminServer, beginEvents, eventText, startAdminServer } from './admin-server.ts';
import { applied } from './bodies.ts';

const change = {
  endpoint: 'GET /users/{id}',
  cause: 'visible',
  at: 'email',
  requests: 3,
  settings: [{ op: 'remove' as const, pointer: '/endpoints/0/backend/0/allow' }],
};

const running: ShadowReport = {
  state: 'running',
  attempt: 4,
  revision: 7,
  sample: 0.05,
  startedAt: '2026-11-21T20:00:00.000Z',
  endsAt: '2026-11-21T20:10:00.000Z',
  compared: 0,
  different: 0,
  unstable: 0,
  refused: 0,
  refusals: [],
  skipped: { busy: 0, incomplete: 0, unsuitable: 0, budget: 0, limited: 0 },
  changes: [],
  hidden: 0,
  cpuMs: 300,
  reason: null,
};
const finished: ShadowReport = { ...running, state: 'finished', compared: 120 };
const different: ShadowReport = {
  ...finished,
  different: 3,
  unstable: 1,
  refused: 2,
  refusals: ['POST http://tokens:8000'],
  skipped: { ...running.skipped, budget: 40, incomplete: 1 },
  changes: [change],
};

describe('the commands for shadow runs', function () {
  this.timeout(30_000);
  let server: AdminServer;

  beforeEach(async () => {
    server = await startAdminServer();
    server.on('POST /v1/reload', [200, { ...applied, result: 'dry_run', shadow: running }]);
  });
  afterEach(() => server.close());

  const call = (...args: string[]) =>
    sluiceIn({ GATEWAY_ADMIN_LISTEN: server.address, GATEWAY_ADMIN_TOKEN: 'sesame' }, ...args);
  const sending = (...events: string[]) =>
    server.on('GET /v1/events', (_, response) => void beginEvents(response).write(events.join('')));

  it('send the settings of a run and wait for its end', async () => {
    sending(eventText(1, 'shadow.started', running), eventText(2, 'shadow.finished', finished));
    const { code, out, err } = await call('reload', '--shadow', '10m', '--sample', '5%', '--shadow-methods', 'any');
    equal(code, 0, err);
    equal(server.calls[0]!.line, 'POST /v1/reload?shadow=10m&sample=5%25&shadow_methods=any');
    match(err, /^the shadow run of attempt 4 runs until 2026-11-21T20:10:00.000Z; sluice shadow shows its progress/);
    match(out, /^dry run: .*\n[\s\S]*compared 120 responses with revision 7: 0 with differences\n$/);
  });

  it('print differences as they are found, and exit with status 1', async () => {
    sending(
      eventText(1, 'shadow.difference', { attempt: 3, ...change, at: 'of another run' }),
      eventText(2, 'shadow.difference', { attempt: 4, ...change, requests: 1 }),
      eventText(3, 'shadow.finished', different),
    );
    const { code, out, err } = await call('reload', '--shadow', '10m');
    equal(code, 1);
    deepEqual(err.split('\n').slice(1), [
      '  GET /users/{id}: field became visible: email, in 1 request',
      '    removed /endpoints/0/backend/0/allow',
      '',
    ]);
    deepEqual(out.split('\n').slice(-10), [
      'the shadow run of attempt 4 ended at 2026-11-21T20:10:00.000Z',
      'compared 120 responses with revision 7: 3 with differences',
      '  GET /users/{id}: field became visible: email, in 3 requests',
      '    removed /endpoints/0/backend/0/allow',
      '40 requests not copied: the candidate had used 20 % of a processor core',
      '1 request not copied: the client disconnected',
      '1 request with differences that also occur without the change',
      '2 requests that cannot be judged: the candidate was refused',
      '  POST http://tokens:8000',
      '',
    ]);
  });

  it('exit with status 1 if the run fails, and print the result as JSON on request', async () => {
    const failed = { ...running, state: 'failed', reason: 'its process has ended' };
    sending(eventText(1, 'shadow.finished', failed));
    const { code, out } = await call('reload', '--shadow', '10m', '--json');
    equal(code, 1);
    deepEqual(JSON.parse(out.trim().split('\n').at(-1)!), failed);
  });

  it('do not wait with --no-wait', async () => {
    const { code, err } = await call('reload', '--shadow', '10m', '--no-wait');
    equal(code, 0);
    match(err, /^the shadow run of attempt 4 runs until .*; sluice shadow shows its progress/);
    equal(server.calls.length, 1);
  });

  it('show the progress of a run, and end it', async () => {
    server.on('GET /v1/shadow', [200, { ...running, compared: 7 }]);
    server.on('DELETE /v1/shadow', [200, { ...running, state: 'stopped', reason: 'stopped by an operator' }]);
    const shown = await call('shadow');
    deepEqual(shown.out.split('\n').slice(0, 2), [
      'the shadow run of attempt 4 runs until 2026-11-21T20:10:00.000Z',
      'compared 7 responses with revision 7: 0 with differences',
    ]);
    match((await call('shadow', '--stop')).out, /attempt 4 was ended early: stopped by an operator\n/);
  });

  it('exit with status 1 if no run was started', async () => {
    server.on('GET /v1/shadow', [404, { title: 'Not Found', detail: 'no shadow run has been started', status: 404 }]);
    const { code, err } = await call('shadow');
    equal(code, 1);
    match(err, /ERROR no shadow run has been started/);
  });

  it('reject arguments that are not valid', async () => {
    const wrong = [
      ['--sample', '5%'],
      ['--shadow-methods', 'any'],
      ['--no-wait'],
      ['--shadow', 'x'],
      ['--shadow', '1m', '--shadow-methods', 'all'],
    ];
    for (const args of wrong) equal((await call('reload', ...args)).code, 2, args.join(' '));
    equal(server.calls.length, 0);
  });
});
