import { equal, match } from 'node:assert/strict';
import { sluiceIn } from '../command.ts';
import { type AdminServer, beginEvents, eventText, startAdminServer } from './admin-server.ts';
import { applied } from './bodies.ts';

const guarded = eventText(1, 'guard.started', { revision: 8, attempt: 4 });
const watched = { revision: 8, attempt: 4, endsAt: 0 };

describe('reload --guard', function () {
  this.timeout(30_000);
  let server: AdminServer;

  beforeEach(async () => {
    server = await startAdminServer();
    server.on('POST /v1/reload', [200, applied]);
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

  const telling = (...events: string[]) => {
    server.on('GET /v1/events', (_, response) => void beginEvents(response).write(guarded + events.join('')));
  };

  it('says what the guard is to look for', async () => {
    telling(eventText(2, 'guard.passed', watched));
    await reload('--guard-errors', '2.5', '--guard-p99', '3');
    equal(server.calls[0]!.line, 'POST /v1/reload?guard=60s&guard_errors=2.5&guard_p99=3');
  });

  it('ends with 0 when the change has passed', async () => {
    telling(eventText(2, 'guard.passed', watched));
    const { code, out, err } = await reload();
    equal(code, 0);
    match(out, /^revision 8 serves/);
    match(err, /revision 8 has passed its guard\n$/);
  });

  it('sees a verdict that has come before it could listen', async () => {
    telling(eventText(2, 'guard.passed', watched));
    await reload();
    equal(server.calls[1]!.headers['last-event-id'], '0');
  });

  it('ends with 1 and the reason when the change was taken back', async () => {
    telling(
      eventText(2, 'reload.started', { attempt: 5, trigger: 'guard' }),
      eventText(3, 'reload.succeeded', { result: 'applied', attempt: 5, revision: 9 }),
      eventText(4, 'guard.failed', { ...watched, reason: 'GET /a: errors rose', rolledBackTo: 9 }),
    );
    const { code, err } = await reload();
    equal(code, 1);
    match(err, /ERROR revision 8 was taken back: GET \/a: errors rose; revision 9 serves\n$/);
  });

  it('ends with 1 when another change came in between', async () => {
    telling(
      eventText(2, 'reload.started', { attempt: 5, trigger: 'watch' }),
      eventText(3, 'reload.succeeded', { result: 'applied', attempt: 5, revision: 9 }),
    );
    const { code, err } = await reload();
    equal(code, 1);
    match(err, /ERROR revision 9 took the place of 8 before the guard was done/);
  });

  it('does not take the verdict over another change for its own', async () => {
    telling(
      eventText(2, 'guard.passed', { ...watched, revision: 7 }),
      eventText(3, 'guard.failed', { ...watched, reason: 'slow', rolledBackTo: 9 }),
    );
    equal((await reload()).code, 1);
  });

  it('waits for nothing when nothing was changed', async () => {
    server.on('POST /v1/reload', [200, { ...applied, result: 'unchanged' }]);
    equal((await reload()).code, 0);
    equal(server.calls.length, 1);
  });

  it('prints nothing but the answer on standard output with --json', async () => {
    telling(eventText(2, 'guard.passed', watched));
    equal((await reload('--json')).out, `${JSON.stringify(applied)}\n`);
  });
});
