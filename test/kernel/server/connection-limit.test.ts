import { deepEqual, equal, match } from 'node:assert/strict';
import { until } from '../../support/conditions.ts';
import { rememberingSinks } from '../../support/gateway.ts';
import { bundledProgram } from '../../support/programs.ts';
import { openRaw, type RawClient } from './raw.ts';
import { ask, once, Secure } from './secure.ts';

const get = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n';
const program = bundledProgram();

describe('client connections', () => {
  let secure: Secure;
  const clients: RawClient[] = [];
  before(() => {
    secure = new Secure();
  });
  afterEach(async () => {
    for (const { socket } of clients.splice(0)) socket.destroy();
    await secure.close();
  });
  after(() => secure.made.remove());

  const open = async (port: number): Promise<RawClient> => {
    const client = await openRaw(port);
    clients.push(client);
    return client;
  };
  const serve = async (client: RawClient): Promise<void> => {
    const { length } = client.received;
    client.write(get);
    await client.until((received) => received.slice(length).includes('{"a":1}'));
  };

  it('beyond max_connections are closed with a log line, while the others are served', async () => {
    const sinks = rememberingSinks();
    const { port } = await secure.listen({ max_connections: 2 }, { sinks });
    const [first, second] = [await open(port), await open(port)];
    await serve(first);
    await serve(second);
    for (const _more of [1, 2, 3]) equal(await (await open(port)).ended(), '');
    await serve(first);
    const lines = sinks.lines.filter((line) => line.includes('max_connections'));
    match(lines[0]!, /WARNING.*max_connections reached: closing new connections, 2 are open/);
    second.socket.destroy();
    await until(async () => {
      const client = await open(port);
      client.write(get);
      return client
        .until((received) => received.includes('200 OK'))
        .then(
          () => true,
          () => false,
        );
    });
  });

  it('beyond max_connections are closed by each worker separately', async function () {
    this.timeout(60_000);
    const { port } = await secure.listen({ max_connections: 1 }, { workers: { count: 2, program, args: [] } });
    const several = [await open(port), await open(port), await open(port)];
    await until(() => several.some(({ socket }) => socket.destroyed));
  });

  it('are subject to the max_connections of the next configuration', async () => {
    const fields = { max_connections: 1, debug_endpoint: true };
    const { port, gateway } = await secure.listen(fields);
    await serve(await open(port));
    equal(await (await open(port)).ended(), '');
    await gateway.reload({ version: 3, ...fields, max_connections: 0 });
    const client = await open(port);
    client.write('GET /__debug/ HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.until((received) => received.startsWith('HTTP/1.1 200 OK'));
  });

  it('end with the response to the last request that max_requests_per_connection allows', async () => {
    const { port } = await secure.listen({ max_requests_per_connection: 2 });
    const client = await open(port);
    client.write(get + get + get);
    const received = await client.ended();
    const heads = received.match(/HTTP\/1.1 200 OK|connection: close/gi);
    deepEqual(
      heads?.map((text) => text.toLowerCase()),
      ['http/1.1 200 ok', 'http/1.1 200 ok', 'connection: close'],
    );
  });

  it('end over HTTP/2 with GOAWAY after max_requests_per_connection, when pending responses are complete', async () => {
    const { port } = await secure.listen({ max_requests_per_connection: 2, use_h2c: true });
    const session = secure.session(port, 'http');
    const closed = once(session, 'close');
    deepEqual([(await ask(session, { ':path': '/a' })).body, session.closed], ['{"a":1}', false]);
    equal((await ask(session, { ':path': '/a' })).body, '{"a":1}');
    await closed;
  });
});
