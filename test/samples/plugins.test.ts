import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { sluice, sluiceProcess } from '../kernel/cli/command.ts';
import { until } from '../support/conditions.ts';
import { json, startBackend } from '../support/gateway.ts';
import { type ServedCopy, serveCopy } from './serve-copy.ts';

const home = process.cwd();
const names = readdirSync('samples/plugins', { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

describe('the sample plugins', function () {
  this.timeout(180_000);
  const environment = { ACME_MOBILE_KEY: 'open-sesame', ACME_SIGNING_KEY: 'secret' };
  let served: ServedCopy | null = null;

  before(() => Object.assign(process.env, environment));
  after(() => {
    for (const name of Object.keys(environment)) delete process.env[name];
  });
  afterEach(async () => {
    process.chdir(home);
    await served?.close();
    served = null;
  });

  const serve = async (...given: Parameters<typeof serveCopy>): Promise<ServedCopy> => {
    served = await serveCopy(...given);
    return served;
  };

  it('consist of a plugin, its test and a configuration each', () => {
    equal(names.length, 11);
    for (const name of names) {
      for (const file of [`${name}.ts`, `${name}.test.ts`, 'gateway.json']) {
        ok(existsSync(`samples/plugins/${name}/${file}`), `${name}/${file}`);
      }
    }
  });

  it('pass their tests', async () => {
    const { code, out, err } = await sluiceProcess({}, 'plugin', 'test', 'samples/plugins');
    equal(code, 0, out + err);
  });

  it('can be loaded, and all their examples attached, without warnings', async () => {
    const folders = names.map((name) => `samples/plugins/${name}`);
    const { code, out, err } = await sluice('plugin', 'check', ...folders);
    deepEqual([code, err, out.match(/^OK /gm)?.length], [0, '', names.length]);
    ok(!existsSync('inbox'), 'the agent has run');
  });

  it('have configurations that pass check without warnings', async () => {
    for (const name of names) {
      process.chdir(`${home}/samples/plugins/${name}`);
      for (const flags of [[], ['-t']]) {
        const { code, err } = await sluice('check', ...flags, '-c', 'gateway.json');
        deepEqual([name, code, err], [name, 0, '']);
      }
    }
  });

  it('include header-injector, which sets a header on responses', async () => {
    const { get } = await serve('header-injector');
    const { headers, statusCode } = await get('/users/1');
    deepEqual([statusCode, headers['x-team']], [200, 'accounts']);
  });

  it('include custom-auth, which accepts requests with the key', async () => {
    const { get } = await serve('custom-auth');
    const refused = await get('/users/1', { authorization: 'Bearer wrong' });
    deepEqual([refused.statusCode, refused.headers['www-authenticate']], [401, 'Bearer realm="acme"']);
    equal((await get('/users/1', { authorization: 'Bearer open-sesame' })).statusCode, 200);
  });

  it('include header-injector, which sets a header on requests to a backend', async () => {
    const seen = await startBackend(json({}));
    const { get } = await serve('header-injector', { '127.0.0.1:8081': seen.host });
    await get('/users/1');
    await seen.close();
    equal(seen.requests[0]!.headers['x-caller'], 'gateway');
  });

  it("include custom-auth, which sends the user's name to the backend", async () => {
    const seen = await startBackend(json({}));
    const { get } = await serve('custom-auth', { '127.0.0.1:8081': seen.host });
    await get('/users/1', { authorization: 'Bearer open-sesame', 'x-client': 'admin' });
    await seen.close();
    equal(seen.requests[0]!.headers['x-client'], 'mobile');
  });

  it('include compress, which compresses long responses for clients that accept it', async () => {
    const text = 'x'.repeat(5000);
    const backend = await startBackend(json({ text }));
    const { get } = await serve('compress', { '127.0.0.1:8081': backend.host });
    equal((await get('/users/1')).headers['content-encoding'], undefined);
    const { headers, rawPayload } = await get('/users/1', { 'accept-encoding': 'gzip' });
    await backend.close();
    equal(headers['content-encoding'], 'gzip');
    deepEqual(JSON.parse(gunzipSync(rawPayload).toString()), { text });
  });

  it('include response-signer, which signs responses, including streams', async () => {
    const { get } = await serve('response-signer');
    for (const path of ['/users/1', '/raw/1']) {
      const { headers, rawPayload } = await get(path);
      match(rawPayload.toString(), /Ada/);
      equal(headers['x-signature'], `sha256=${createHmac('sha256', 'secret').update(rawPayload).digest('hex')}`);
    }
  });

  it('include response-signer, which answers 502 for a response too long to be signed', async () => {
    const { get } = await serve('response-signer', { '65536': '8' });
    for (const path of ['/users/1', '/raw/1']) {
      const { statusCode, headers, body } = await get(path);
      deepEqual([path, statusCode, body, headers['x-signature']], [path, 502, '', undefined]);
    }
  });

  it('include csv, which writes JSON as comma-separated values', async () => {
    const { get } = await serve('csv');
    const { headers, body } = await get('/users/1/posts');
    equal(headers['content-type'], 'text/csv; charset=utf-8');
    equal(body, 'id,title,draft\r\n10,Notes,false\r\n11,Bernoulli numbers,true\r\n');
  });

  it('include csv, which reads comma-separated values, including the ones that it writes', async () => {
    const { get, gateway, path, write } = await serve('csv');
    const { port } = await gateway.listen();
    const text = readFileSync(path('gateway.json'), 'utf8').replace('/stock.csv', '/users/1/posts');
    write('gateway.json', text.replace('"encoding": "csv"', `"host": ["http://127.0.0.1:${port}"], "encoding": "csv"`));
    await gateway.reload();
    deepEqual((await get('/stock')).json()[1], { id: '11', title: 'Bernoulli numbers', draft: 'true' });
  });

  it('include lines, which calls a TCP server, and fails like any backend if that is down', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (line) => socket.write(`{"key":"${String(line).trim()}"}\n`));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    let connections = 0;
    server.on('connection', () => connections++);
    const { port } = server.address() as AddressInfo;
    const { get, gateway } = await serve('lines', { '127.0.0.1:7000': `127.0.0.1:${port}` });
    deepEqual((await get('/lines/a')).json(), { key: '/a' });
    await gateway.reload();
    deepEqual((await get('/lines/b')).json(), { key: '/b' });
    equal(connections, 1, 'the connection goes on over a reload');
    await served!.close();
    served = null;
    await new Promise((resolve) => server.close(resolve));
    const away = await serve('lines', { '127.0.0.1:7000': '127.0.0.1:1' });
    equal((await away.get('/lines/a')).statusCode, 500);
  });

  it('include hosts-file, which watches its file, and ignores invalid content', async () => {
    const { get, gateway, path, write } = await serve('hosts-file');
    await gateway.watch();
    equal((await get('/users/1')).statusCode, 200);
    const hosts = readFileSync(path('hosts.json'), 'utf8');
    write('hosts.json', '{');
    await until(() => gateway.attempts.list[0]?.result === 'failed');
    equal((await get('/users/1')).statusCode, 200);
    write('hosts.json', '{"users":["http://127.0.0.1:1"]}');
    await until(async () => (await get('/users/1')).statusCode === 500);
    write('hosts.json', hosts);
    await until(async () => (await get('/users/1')).statusCode === 200);
  });

  it('include secret-store, whose secrets a configuration refers to', async () => {
    const { get } = await serve('secret-store');
    equal((await get('/users/1', { authorization: 'Bearer ada@example.test' })).statusCode, 200);
    equal((await get('/users/1', { authorization: 'Bearer other' })).statusCode, 401);
  });

  it('include inbox, which sends files from its folder, and moves them', async () => {
    const { gateway, path, write } = await serve('inbox', { '"1s"': '"5ms"' });
    await gateway.listen();
    await until(() => existsSync(path('inbox/done')));
    write('inbox/1.json', '{"order":1}');
    await until(() => existsSync(path('inbox/done/1.json')));
  });

  it('include metrics-sink, which counts requests, and shows metrics of other components', async () => {
    const measuring = `import { atEndpoint, before, definePlugin, meterOf, meters } from 'sluice/plugin';
export const plugin = definePlugin({
  name: 'acme/measuring', contract: 1, description: 'Counts.', takes: [meters],
  places: [atEndpoint({ type: 'object', properties: {} }, (site) => {
    const seen = meterOf(site)!.counter('seen', { description: 'Requests that came so far.' });
    return { endpoint: before(() => seen.add(2, { endpoint: site.endpoint.endpoint })) };
  })],
});`;
    const { get } = await serve(
      'metrics-sink',
      { '"qos/ratelimit/router"': '"acme/measuring": {}, "qos/ratelimit/router"' },
      { 'measuring.ts': measuring },
    );
    const statuses = [];
    for (let count = 0; count < 3; count++) statuses.push((await get('/users/1')).statusCode);
    deepEqual(statuses, [200, 200, 503]);
    const measured = (await get('/__measured')).json();
    deepEqual(measured['requests{endpoint="/users/{id}",status=200}'], { count: 2, sum: 2 });
    deepEqual(measured['requests{endpoint="/users/{id}",status=503}'], { count: 1, sum: 1 });
    deepEqual(measured['seen{endpoint="/users/{id}"}'], { count: 2, sum: 4 });
  });
});
