import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort, until } from '../../support/conditions.ts';
import { bundledProgram } from '../../support/programs.ts';
import { createFolder, type Folder } from '../cli/command.ts';
import { type Process, startProgram } from '../cli/running.ts';

const program = bundledProgram('faulty');

interface Response {
  /** Status of the response; 0 if the connection was closed. */
  readonly status: number;
  readonly pid: string | undefined;
}

describe('an internal error of the gateway', function () {
  this.timeout(180_000);
  let folder: Folder;
  let backend: Server;
  /** Delayed responses of the backend. */
  const held: ServerResponse[] = [];
  let gateway: Process;
  let url: string;
  let admin: string;

  beforeEach(async () => {
    folder = createFolder();
    backend = createServer((message: IncomingMessage, response) => {
      response.setHeader('content-type', 'application/json');
      if (message.url!.startsWith('/slow')) held.push(response);
      else response.end('{}');
    }).listen(0, '127.0.0.1');
    await until(() => backend.listening);
  });
  afterEach(async () => {
    await gateway.stop();
    for (const response of held.splice(0)) response.end('{}');
    backend.closeAllConnections();
    backend.close();
    folder.remove();
  });

  /** Starts a gateway in another process. @param flags of the command `run`. */
  const start = async (...flags: string[]): Promise<void> => {
    const host = [`http://127.0.0.1:${(backend.address() as AddressInfo).port}`];
    const endpoint = (path: string) => ({
      endpoint: path,
      timeout: '100s',
      output_encoding: 'no-op',
      input_query_strings: ['act'],
      extra_config: { 'test/faulty': {} },
      backend: [{ host, url_pattern: path }],
    });
    const file = folder.write('gateway.json', {
      version: 3,
      listen_ip: '127.0.0.1',
      endpoints: [endpoint('/slow'), endpoint('/quick')],
    });
    const port = await freePort();
    const adminPort = await freePort();
    const env = {
      GATEWAY_ADMIN_LISTEN: `127.0.0.1:${adminPort}`,
      GATEWAY_STATE_DIR: folder.path('state'),
      GATEWAY_ADMIN_TOKEN: 'sesame',
    };
    gateway = startProgram(program, env, 'run', '-p', String(port), '-c', file, ...flags);
    await gateway.printed(/Listening on port/);
    url = `http://127.0.0.1:${port}`;
    admin = `http://127.0.0.1:${adminPort}`;
    await until(async () => (await ask('/quick')).status === 200);
  };

  const ask = (path: string): Promise<Response> =>
    new Promise((resolve) => {
      const sent = request(`${url}${path}`, { agent: false }, (response) => {
        response.resume();
        response.once('close', () =>
          resolve({
            status: response.complete ? response.statusCode! : 0,
            pid: response.headers['x-pid'] as string | undefined,
          }),
        );
      });
      sent.on('error', () => resolve({ status: 0, pid: undefined }));
      sent.end();
    });
  const fromAdmin = (path: string) => fetch(`${admin}${path}`, { headers: { authorization: 'Bearer sesame' } });
  const status = async () => (await (await fromAdmin('/v1/status')).json()) as Record<string, unknown>;
  const countOf = async (place: string): Promise<number> => {
    const line = new RegExp(`sluice_internal_errors_total\\{place="${place}"\\} (\\d+)`);
    return Number(line.exec(await (await fromAdmin('/metrics')).text())?.[1] ?? 0);
  };

  for (const [act, expected] of [
    ['timer', 500],
    ['tick', 500],
    ['promise', 500],
    ['socket', 500],
    ['finish', 200],
  ] as const) {
    it(`aborts only the request that it belongs to, if it is thrown in: ${act}`, async () => {
      await start();
      const other = ask('/slow');
      await until(() => held.length === 1);
      equal((await ask(`/quick?act=${act}`)).status, expected);
      await gateway.printed(
        /ERROR: internal error in request of GET \/quick: Error: planted\\nError: planted\\n {4}at .*faulty[\w-]*\.js/,
      );
      held.pop()!.end('{}');
      equal((await other).status, 200);
      equal(await countOf('request'), 1);
      const { state, internalErrors } = await status();
      deepEqual({ state, internalErrors }, { state: 'degraded', internalErrors: 1 });
    });
  }

  it('closes the connection of a response that has begun', async () => {
    await start();
    const began = ask('/slow?act=midway');
    await until(() => held.length === 1);
    held[0]!.write('{');
    equal((await began).status, 0);
  });

  it('drains the process and ends it with exit code 70 after more than ten in a minute, if no supervisor replaces it', async () => {
    await start();
    const other = ask('/slow');
    await until(() => held.length === 1);
    for (let count = 0; count < 11; count++) await ask('/quick?act=timer');
    await gateway.printed(/too many internal errors: waiting for \d requests? in flight/);
    held.pop()!.end('{}');
    equal((await other).status, 200);
    equal(await gateway.ended, 70);
  });

  it('has a worker replaced, which first completes its requests', async () => {
    await start('--workers', '1');
    const { pid } = await ask('/quick');
    const other = ask('/slow');
    await until(() => held.length === 1);
    equal((await ask('/quick?act=timer')).status, 500);
    const seen = new Set<string | undefined>();
    await until(async () => {
      const response = await ask('/quick');
      equal(response.status, 200);
      seen.add(response.pid);
      return seen.size === 2;
    });
    match(gateway.output, new RegExp(`WARNING: worker 1 \\(pid ${pid}\\) had an internal error; replaced by pid \\d+`));
    held.pop()!.end('{}');
    deepEqual(await other, { status: 200, pid });
    await until(async () => (await status())['state'] === 'serving');
    await until(async () => (await countOf('request')) === 1);
    await until(() => {
      try {
        return !process.kill(Number(pid), 0);
      } catch {
        return true;
      }
    });
    ok(gateway.isRunning);
  });
});
