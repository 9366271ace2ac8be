import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type EndpointConfig, HeaderBag, makeRequest, PipeRequest, Query } from '#contract';
import { readRecording } from '../../../../kernel/cases/recording.ts';
import { Recording } from '../../../../plugins/telemetry/recorder/recording.ts';
import { until } from '../../../support/conditions.ts';
import { type Answering, json, rememberingSinks } from '../../../support/gateway.ts';
import { type Entry, RecordingStage } from './fixture.ts';

const user = { name: 'Ada', password: 'hunter2', nested: [{ api_key: 'k-1', email: 'a@b.test' }] };

const answer: Answering = (seen, response) => {
  const path = seen.target.split('?')[0]!;
  if (path === '/v1/orders') return json({ orders: [1, 2] })(seen, response);
  response.writeHead(200, { 'Content-Type': 'application/json', 'Set-Cookie': 'sid=1', 'X-Trace': 'abc' });
  response.end(JSON.stringify(user));
};

const headersOf = (pairs: readonly { name: string; value: string }[]) =>
  Object.fromEntries(pairs.map(({ name, value }) => [name.toLowerCase(), value]));

describe('telemetry/recorder', () => {
  let stage: RecordingStage;
  beforeEach(() => {
    stage = new RecordingStage();
  });
  afterEach(() => stage.close());

  it('records the request, the calls of all backends and the response as linked entries', async () => {
    await stage.start(answer);
    equal((await stage.gateway.inject('/users/7?full=1')).statusCode, 200);
    const entries = await stage.recorded();
    const [client, ...calls] = entries;
    deepEqual(
      calls.map(({ request, _sluice }) => [request.url, _sluice.backend]).sort(),
      [
        [`${stage.backend.url}/v1/users/7?full=1`, 0],
        [`${stage.backend.url}/v1/orders?full=1`, 1],
      ].sort(),
    );
    deepEqual(new Set(entries.map(({ _sluice }) => `${_sluice.id} ${_sluice.endpoint}`)).size, 1);
    equal(client!._sluice.endpoint, 'GET /users/{id}');
    equal(client!._sluice.backend, undefined);
    deepEqual(client!.request.queryString, [{ name: 'full', value: '1' }]);
    deepEqual(JSON.parse(client!.response.content.text!).orders, [1, 2]);
    equal(headersOf(client!.response.headers)['x-gateway-completed'], 'true');
  });

  it('masks credentials in headers, queries and bodies of clients and backends', async () => {
    await stage.start(answer);
    await stage.gateway.inject({
      url: '/users?access_token=t-secret',
      method: 'POST',
      headers: {
        authorization: 'Bearer b-secret',
        cookie: 'sid=c-secret',
        'x-api-key': 'k-secret',
        'x-custom': 'Bearer h-secret',
        referer: 'https://a.test/?token=r-secret',
      },
      payload: { login: 'ada', password: 'p-secret', note: 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.x-secret' },
    });
    const entries = await stage.recorded();
    const text = JSON.stringify(entries);
    ok(!text.includes('secret'), text);
    ok(!text.includes('hunter2') && !text.includes('k-1') && !text.includes('sid=1'), text);
    equal(JSON.parse(entries[0]!.request.postData!.text!).login, 'ada');
    equal(JSON.parse(entries[1]!.response.content.text!).name, 'Ada');
  });

  it('masks named fields at any depth, and omits bodies that cannot be searched for them', async () => {
    await stage.start((_seen, response) => response.writeHead(200, { 'Content-Type': 'text/plain' }).end('a@b.test'), {
      fields: ['EMAIL', 'X-Customer'],
    });
    await stage.gateway.inject({ url: '/files', headers: { 'x-customer': 'ada' } });
    const [client, call] = await stage.recorded();
    equal(headersOf(client!.request.headers)['x-customer'], '***');
    deepEqual(
      [client!._sluice.omitted, call!._sluice.omitted],
      [{ response: 'cannot be masked' }, { response: 'cannot be masked' }],
    );
    ok(!JSON.stringify([client, call]).includes('a@b.test'));
  });

  for (const [type, body] of [
    ['application/x-ndjson', '{"password":"hidden-1"}\n{"password":"hidden-1"}\n'],
    ['text/event-stream', 'data: {"access_token": "hidden-1"}\n\n'],
    ['application/xml', '<a:Envelope><wsse:Password Type="#PasswordText">hidden-1</wsse:Password></a:Envelope>'],
    ['text/html', '<input name="csrf_token" value="hidden-1">'],
    ['text/plain', 'user=ada\npassword = hidden-1\n'],
  ] as const) {
    it(`omits bodies of type ${type} that contain a credential, as only JSON and forms can be masked`, async () => {
      await stage.start((_seen, response) => response.writeHead(200, { 'Content-Type': type }).end(body));
      await stage.gateway.inject('/files');
      const entries = await stage.recorded();
      deepEqual(
        entries.map(({ _sluice }) => _sluice.omitted),
        [{ response: 'cannot be masked' }, { response: 'cannot be masked' }],
      );
      ok(!JSON.stringify(entries).includes('hidden-1'));
    });
  }

  it('records bodies of other types that contain no credential', async () => {
    const page = '<p>The session begins at nine.</p>';
    await stage.start((_seen, response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end(page));
    await stage.gateway.inject('/files');
    const [, call] = await stage.recorded();
    equal(call!.response.content.text, page);
  });

  it('removes user and password from addresses in headers', async () => {
    await stage.start((_seen, response) =>
      response
        .writeHead(200, { 'Content-Type': 'text/plain', 'Content-Location': 'http://ada:hidden-1@a.test/b' })
        .end('a'),
    );
    await stage.gateway.inject('/files');
    const [, call] = await stage.recorded();
    equal(headersOf(call!.response.headers)['content-location'], 'http://a.test/b');
  });

  it('masks the header and the parameter that the operator has chosen for API keys', async () => {
    await stage.start(
      answer,
      {},
      {
        extra_config: { 'auth/api-keys': { identifier: 'X-Club', keys: [{ key: 'k-secret-7f3a', roles: ['user'] }] } },
      },
    );
    await stage.gateway.inject({ url: '/users', method: 'POST', headers: { 'x-club': 'k-secret-7f3a' }, payload: {} });
    const entries = await stage.recorded();
    ok(!JSON.stringify(entries).includes('k-secret-7f3a'));
  });

  it('treats keys of bodies with names of members of prototypes as plain data', async () => {
    await stage.start((_seen, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"__proto__":{"password":"p","a":1}}');
    });
    await stage.gateway.inject('/files');
    const [, call] = await stage.recorded();
    equal(call!.response.content.text, '{"__proto__":{"password":"***","a":1}}');
  });

  it('omits and marks bodies above max_body, which pass unchanged', async () => {
    const long = JSON.stringify({ text: 'x'.repeat(5000) });
    await stage.start((_seen, response) => response.writeHead(200, { 'Content-Type': 'application/json' }).end(long), {
      max_body: 1000,
    });
    equal((await stage.gateway.inject('/files')).body, long);
    const [client, call] = await stage.recorded();
    deepEqual([client!._sluice.omitted, call!._sluice.omitted], [{ response: 'too long' }, { response: 'too long' }]);
    equal(call!.response.content.text, undefined);
  });

  it('records decompressed bodies, and omits bodies that exceed max_body after decompression', async () => {
    let size = 10;
    await stage.start(
      (_seen, response) => {
        response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' });
        response.end(gzipSync('y'.repeat(size)));
      },
      { max_body: 1000 },
    );
    const request = { url: '/files', headers: { 'accept-encoding': 'gzip' } };
    await stage.gateway.inject(request);
    equal((await stage.recorded())[1]!.response.content.text, 'y'.repeat(10));
    size = 100_000;
    await stage.gateway.inject(request);
    deepEqual((await stage.recorded(2))[1]!._sluice.omitted, { response: 'compressed' });
  });

  it('marks the body of a response that the client did not receive completely', async () => {
    let abandoned!: () => void;
    await stage.start((_seen, response) => {
      response.writeHead(200, { 'Content-Type': 'text/plain' });
      response.write('first part');
      abandoned = () => response.destroy();
    });
    const { port } = await stage.gateway.listen();
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /files HTTP/1.1\r\nHost: a.test\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    socket.destroy();
    const [client, call] = await stage.recorded();
    abandoned();
    deepEqual(
      [client!._sluice.omitted, call!._sluice.omitted],
      [{ response: 'incomplete' }, { response: 'incomplete' }],
    );
  });

  it('records failed calls with status 0, and requests without an endpoint', async () => {
    await stage.start((_seen, response) => response.destroy());
    await stage.gateway.inject('/files');
    const entries = await stage.recorded();
    deepEqual([entries[0]!.response.status, entries[1]!.response.status], [500, 0]);
    await stage.gateway.inject('/nowhere');
    const [unknown] = await stage.recorded(2);
    deepEqual([unknown!.response.status, unknown!._sluice.endpoint], [404, null]);
  });

  it('writes files with mode 0600 and removes the oldest ones above max_files', async () => {
    mkdirSync(stage.folder);
    writeFileSync(join(stage.folder, 'other.txt'), 'x');
    await stage.start(answer, { folder: { path: stage.folder, max_files: 2 } });
    for (const id of ['1', '2', '3']) {
      await stage.gateway.inject(`/users/${id}`);
      await until(() => urls(stage).some((url) => url.endsWith(`/users/${id}`)));
    }
    equal(stage.files().length, 2);
    for (const file of stage.files()) equal(statSync(file).mode & 0o777, 0o600);
    equal(statSync(join(stage.folder, 'other.txt')).size, 1);
  });

  it('logs a folder that cannot be written to, and answers requests', async () => {
    writeFileSync(stage.folder, 'a file');
    const sinks = rememberingSinks();
    await stage.start(answer, {}, {}, { sinks });
    equal((await stage.gateway.inject('/users/1')).statusCode, 200);
    await until(() => sinks.lines.some((line) => line.includes('a recording was not written: ENOTDIR')));
  });

  it('records the first 100 backend calls of a request, and counts the others', () => {
    const client = makeRequest({ path: '/many', host: 'a.test' });
    const recording = new Recording(client, 100);
    const request = new PipeRequest(client, {}, new Query(), new HeaderBag(), null);
    request.origin = 'http://b.test';
    const begun = Array.from({ length: 120 }, () => recording.call({} as EndpointConfig, 0, request));
    deepEqual([begun.filter(Boolean).length, recording.calls.length, recording.omittedCalls], [100, 100, 20]);
  });

  it('counts backend calls without HTTP, which are not recorded', () => {
    const client = makeRequest({ path: '/publish', host: 'a.test' });
    const recording = new Recording(client, 100);
    for (const origin of ['amqp://mq:5672', 'http://b.test', '']) {
      const request = new PipeRequest(client, {}, new Query(), new HeaderBag(), null);
      request.origin = origin;
      recording.call({} as EndpointConfig, 0, request);
    }
    deepEqual([recording.calls.length, recording.omittedCalls], [1, 1]);
  });

  it('records nothing with sample_rate 0', async () => {
    await stage.start(answer, { sample_rate: 0 });
    await stage.gateway.inject('/users/1');
    await stage.gateway.close();
    deepEqual(stage.files(), []);
  });

  it('keeps the latest recordings in memory, across a reload, for the admin API', async () => {
    await stage.start(answer);
    for (const id of ['1', '2']) await stage.gateway.inject(`/users/${id}`);
    await stage.recorded(2);
    await stage.gateway.reload(stage.config({ sample_rate: 0 }));
    const har = JSON.parse(stage.gateway.recordings(1)!) as { log: { version: string; entries: Entry[] } };
    deepEqual([har.log.version, har.log.entries.length], ['1.2', 3]);
    match(har.log.entries[0]!.request.url, /\/users\/2$/);
    const { extra_config: _, ...plain } = stage.config() as { extra_config: object };
    await stage.gateway.reload(plain);
    equal(stage.gateway.recordings(1), null);
  });

  it('writes files whose backend calls are mocks of tests', async () => {
    await stage.start(answer);
    await stage.gateway.inject('/users/7?token=abc');
    await stage.recorded();
    const mocks = readRecording(stage.files()[0]!, '');
    equal(mocks.length, 2);
    const request = { protocol: 'http', method: 'GET', headers: [], body: new Uint8Array() };
    const mock = mocks.find((each) => each.matches({ ...request, url: `${stage.backend.url}/v1/users/7?token=other` }));
    match(String(mock?.responses[0]?.status), /200/);
    ok(!mocks.some((each) => each.matches({ ...request, url: `${stage.backend.url}/v1/users/7` })));
  });
});

function urls(stage: RecordingStage): string[] {
  return stage.files().flatMap((file) => stage.entriesOf(file).map(({ request }: Entry) => request.url));
}
