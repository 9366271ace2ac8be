import { deepEqual, equal, match } from 'node:assert/strict';
import { sluiceIn } from '../command.ts';
import { type AdminServer, beginEvents, eventText, startAdminServer } from './admin-server.ts';
import { applied } from './bodies.ts';

const watching = {
  state: 'watching',
  revision: 8,
  attempt: 4,
  endsAt: '2026-11-21T20:06:00.000Z',
  reason: null,
  rolledBackTo: null,
};
const guarded = eventText(1, 'guard.started', watching);
const passed = eventText(2, 'guard.passed', { ...watching, state: 'passed' });

describe('reload --guard', function () {
  this.timeout(30_000);
  let server: AdminServer;

  beforeEach(async () => {
    server = await startAdminServer();
    server.on('POST /v1/reload', [200, { ...applied, guard: watching }]);
  });
  afterEach(() => server.close());

  const reload = (...args: string[]) =>
    sluiceIn(
      { GATEWAY_ADMIN_LISTEN: server.address, GATEWAY_ADMIN_TOKEN: 'sesame' },
      'reload',
      '--guard',
      '60s',
      ...args,
    );

  const sending = (...events: string[]) => {
    server.on('GET /v1/events', (_, response) => void beginEvents(response).write(guarded + events.join('')));
  };

  it('sends its thresholds to the gateway', async () => {
    sending(passed);
    await reload('--guard-errors', '2.5', '--guard-p99', '3');
    equal(server.calls[0]!.line, 'POST /v1/reload?guard=60s&guard_errors=2.5&guard_p99=3');
  });

  it('exits with status 0 when the change has passed its guard period', async () => {
    sending(passed);
    const { code, out, err } = await reload();
    equal(code, 0);
    match(out, /^now serving revision 8 /);
    match(err, /revision 8 has passed its guard period\n$/);
  });

  it('reports the result of the guard even if that was known before the command subscribed to events', async () => {
    sending(passed);
    await reload();
    equal(server.calls[1]!.headers['last-event-id'], '0');
  });

  it('exits with status 0 and a note if too few requests were made to evaluate the change', async () => {
    const reason = '3 calls; every endpoint had fewer than the required 20';
    sending(eventText(2, 'guard.undecided', { ...watching, state: 'undecided', reason }));
    const { code, err } = await reload();
    equal(code, 0);
    match(
      err,
      /\ntoo little traffic for the change guard to evaluate revision 8: 3 calls; every endpoint had fewer than the required 20.*\n$/,
    );
  });

  it('exits with status 1 and the reason if the change was rolled back', async () => {
    const back = { state: 'rolled-back', reason: 'GET /a: errors rose', rolledBackTo: 9 };
    sending(eventText(2, 'guard.failed', { ...watching, ...back }));
    const { code, err } = await reload();
    equal(code, 1);
    match(err, /ERROR revision 8 was rolled back: GET \/a: errors rose; now serving revision 9\n$/);
  });

  it('exits with status 1 if another change replaced this one', async () => {
    const superseded = { state: 'superseded', reason: 'it was replaced by revision 9' };
    sending(eventText(2, 'guard.superseded', { ...watching, ...superseded }));
    const { code, err } = await reload();
    equal(code, 1);
    match(err, /ERROR the guard of revision 8 ended early: it was replaced by revision 9\n$/);
  });

  it('ignores the result of the guard of another change', async () => {
    sending(
      eventText(2, 'guard.passed', { ...watching, state: 'passed', revision: 7, attempt: 3 }),
      eventText(3, 'guard.failed', { ...watching, state: 'rolled-back', reason: 'slow', rolledBackTo: 9 }),
    );
    equal((await reload()).code, 1);
  });

  it('waits for the result of the guard even if the configuration was already active', async () => {
    server.on('POST /v1/reload', [200, { ...applied, result: 'unchanged', guard: watching }]);
    sending(passed);
    const { code, err } = await reload();
    equal(code, 0);
    match(
      err,
      /^the guard is watching revision 8 until 2026-11-21T20:06:00.000Z\nrevision 8 has passed its guard period\n$/,
    );
  });

  it('reports that the change is not guarded if the gateway sets no guard', async () => {
    server.on('POST /v1/reload', [200, { ...applied, result: 'unchanged', guard: null }]);
    const { code, err } = await reload();
    deepEqual([code, server.calls.length], [0, 1]);
    match(err, /the guard is not active: the guard period of revision 8 is over, or it is the first revision/);
  });

  it('prints only the response to standard output with --json', async () => {
    sending(passed);
    equal((await reload('--json')).out, `${JSON.stringify({ ...applied, guard: watching })}\n`);
  });
});
