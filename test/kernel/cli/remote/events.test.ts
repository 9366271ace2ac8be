import { deepEqual, equal, match } from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { sluiceIn } from '../command.ts';
import { type Running, startCommand, startProcess } from '../running.ts';
import { type AdminServer, beginEvents, eventText, startAdminServer } from './admin-server.ts';

const started = eventText(4, 'reload.started', { attempt: 2, trigger: 'watch' });
const failed = eventText(5, 'reload.failed', { attempt: 2, message: 'no good', problem: { errors: [] } });

describe('events of a running gateway', function () {
  this.timeout(30_000);
  let server: AdminServer;
  let following: Running | null = null;

  beforeEach(async () => {
    server = await startAdminServer();
  });
  afterEach(async () => {
    following?.kill('SIGINT');
    await following?.ended;
    following = null;
    await server.close();
  });

  const env = () => ({ GATEWAY_ADMIN_LISTEN: server.address, GATEWAY_ADMIN_TOKEN: 'sesame' });

  /** Starts the command and waits for the given number of lines. */
  const start = (...args: string[]) => {
    following = startCommand(env(), 'events', ...args);
    const { printed } = following;
    return async (lines: number): Promise<string> => (await printed(new RegExp(`^(.*\\n){${lines}}`)))[0];
  };

  it('are printed one per line, with a summary', async () => {
    server.on('GET /v1/events', (_, response) => void beginEvents(response).write(started + failed));
    deepEqual((await start()(2)).split('\n'), [
      '    4  reload.started    attempt=2 trigger=watch',
      '    5  reload.failed     attempt=2 message="no good"',
      '',
    ]);
  });

  it('are printed unchanged with --json', async () => {
    server.on('GET /v1/events', (_, response) => void beginEvents(response).write(started));
    equal(await start('--json')(1), '{"id":4,"type":"reload.started","data":{"attempt":2,"trigger":"watch"}}\n');
  });

  it('are requested by type', async () => {
    server.on('GET /v1/events', (_, response) => void beginEvents(response).write(started));
    await start('--types', 'reload.*,worker.up')(1);
    equal(server.calls[0]!.line, 'GET /v1/events?types=reload.*%2Cworker.up');
  });

  it('continue after the last event when the connection is lost', async () => {
    const replies = [
      (response: ServerResponse) => beginEvents(response).write(started, () => server.cut()),
      (response: ServerResponse) => beginEvents(response).write(failed),
    ];
    server.on('GET /v1/events', (_, response) => void replies.shift()!(response));
    match(await start()(2), /reload\.started.*\n.*reload\.failed/);
    deepEqual(
      server.calls.map(({ headers }) => headers['last-event-id']),
      [undefined, '4'],
    );
  });

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`end with exit code 0 after ${signal}`, async () => {
      server.on('GET /v1/events', (_, response) => void beginEvents(response).write(started));
      await start()(1);
      following!.kill(signal);
      equal(await following!.ended, 0);
    });
  }

  it('end with exit code 0 when their reader has closed', async () => {
    server.on('GET /v1/events', (_, response) => {
      beginEvents(response).write(started);
      const more = setInterval(() => response.write(started), 5);
      response.once('close', () => clearInterval(more));
    });
    const process = startProcess(env(), 'events');
    following = process;
    await process.printed(/reload\.started/);
    process.closeOutput();
    equal(await process.ended, 0);
  });

  it('end with exit code 3 if the gateway does not respond', async () => {
    const gone = { GATEWAY_ADMIN_LISTEN: 'unix:/nowhere/admin.sock' };
    equal((await sluiceIn(gone, 'events')).code, 3);
  });

  it('end with exit code 1 if the gateway rejects the request', async () => {
    server.on('GET /v1/events', [403, { title: 'Forbidden', detail: 'the token lacks the scope read' }]);
    deepEqual(await sluiceIn(env(), 'events'), { code: 1, out: '', err: 'ERROR the token lacks the scope read\n' });
  });
});
