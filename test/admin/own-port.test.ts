import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { freePort, until } from '../support/conditions.ts';
import { startBackend, type TestBackend } from '../support/gateway.ts';
import { bundledProgram } from '../support/programs.ts';
import { openAdmin, type TestAdmin } from './support.ts';

const program = bundledProgram();

describe("a backend request to the gateway's own admin port", function () {
  this.timeout(60_000);
  let one: TestAdmin | null = null;
  let backend: TestBackend | null = null;
  afterEach(async () => {
    await one?.close();
    await backend?.close();
    one = null;
    backend = null;
  });

  /** A backend that redirects every request to the address in its query. */
  async function redirecting(): Promise<TestBackend> {
    backend = await startBackend(({ target }, response) => {
      response.writeHead(302, { Location: decodeURIComponent(target.split('?to=')[1]!) }).end();
    });
    return backend;
  }

  const over = (host: string, settings: object = {}) => ({
    version: 3,
    endpoints: [
      {
        endpoint: '/a',
        output_encoding: 'no-op',
        input_query_strings: ['to'],
        input_headers: ['Authorization'],
        backend: [{ host: [host], url_pattern: '/metrics' }],
      },
    ],
    ...settings,
  });

  /** Response of the endpoint if it is redirected to the admin port. */
  const askThrough = async ({ gateway }: TestAdmin, address: string) => {
    const to = encodeURIComponent(`http://${address}/metrics`);
    const { statusCode, body } = await gateway.inject(`/a?to=${to}`);
    return { statusCode, body };
  };

  it('is rejected if a redirect leads to that port', async () => {
    one = await openAdmin(over((await redirecting()).url));
    const { statusCode, body } = await askThrough(one, one.admin.address!);
    deepEqual([statusCode, body], [500, '']);
    ok(
      one.lines.some((line) => line.includes('the gateway does not call its own admin port')),
      one.lines.join('\n'),
    );
  });

  it('is rejected at request time if check could not know the admin address', async () => {
    one = await openAdmin();
    await one.gateway.reload(over(`http://${one.admin.address}`));
    equal((await one.gateway.inject('/a')).statusCode, 500);
    const port = one.admin.address!.split(':')[1];
    await one.gateway.reload(over(`http://localhost:${port}`));
    equal((await one.gateway.inject('/a')).statusCode, 500);
  });

  it('is rejected by check if the configuration contains both addresses', async () => {
    one = await openAdmin();
    const settings = { extra_config: { 'admin/api': { listen: '127.0.0.1:7000' } } };
    await rejects(one.gateway.reload(over('http://localhost:7000', settings)), /ADMIN_BACKEND|is the admin port/);
  });

  it('is rejected at the new address of the admin port after a change, and accepted at the old address once that is closed', async () => {
    const [first, second] = [await freePort(), await freePort()];
    const listen = (port: number) => ({ extra_config: { 'admin/api': { listen: `127.0.0.1:${port}` } } });
    const { url } = await redirecting();
    one = await openAdmin(over(url, listen(first)), { listen: undefined });
    equal((await askThrough(one, `127.0.0.1:${first}`)).statusCode, 500);
    await one.gateway.reload(over(url, listen(second)));
    equal((await askThrough(one, `127.0.0.1:${second}`)).statusCode, 500);
    // The old address is still served for some time, during which it is rejected as a backend.
    equal((await askThrough(one, `127.0.0.1:${first}`)).statusCode, 500);
    await one.admin.close();
    const other = await startBackend((_seen, response) => response.end('mine'));
    try {
      equal((await askThrough(one, other.host)).body, 'mine');
    } finally {
      await other.close();
    }
  });

  it('is rejected by workers, including a replaced worker', async () => {
    const { url } = await redirecting();
    one = await openAdmin(over(url), { gateway: { workers: { count: 2, program, args: [] } } });
    const { gateway, admin } = one;
    const port = gateway.processes.port ?? (await gateway.listen()).port;
    const to = encodeURIComponent(`http://${admin.address}/metrics`);
    const statuses = async () => {
      const responses = Array.from({ length: 8 }, () =>
        fetch(`http://127.0.0.1:${port}/a?to=${to}`, { headers: { connection: 'close' } }),
      );
      return (await Promise.all(responses)).map(({ status }) => status);
    };
    deepEqual(await statuses(), Array(8).fill(500));
    const pids = gateway.processes.workers.map(({ pid }) => pid!);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    await until(
      () => gateway.processes.converged && gateway.processes.workers.every(({ pid }) => !pids.includes(pid!)),
    );
    deepEqual(await statuses(), Array(8).fill(500));
  });
});
