import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict';
import { createFolder, type Folder, sluice } from '../command.ts';

interface Answer {
  readonly status?: number;
  readonly body?: unknown;
  readonly omitted?: object;
}

const headers = (body: unknown) => (body === undefined ? [] : [{ name: 'Content-Type', value: 'application/json' }]);

/** An entry of a recording. */
const entry = (link: object, method: string, url: string, { status = 200, body, omitted }: Answer, at = 0) => ({
  startedDateTime: new Date(Date.UTC(2026, 0, 1) + at).toISOString(),
  time: 1,
  request: { method, url, httpVersion: 'HTTP/1.1', headers: [{ name: 'Host', value: 'api.test' }] },
  response: { status, headers: headers(body), content: body === undefined ? {} : { text: JSON.stringify(body) } },
  _sluice: { ...link, ...(omitted && { omitted }) },
});

const user = { id: 1, name: 'Ada', email: 'ada@example.test', tags: ['a', 'b'] };
const shown = { id: 1, name: 'Ada', tags: ['a', 'b'] };

describe('sluice replay', () => {
  let folder: Folder;
  beforeEach(() => {
    folder = createFolder();
  });
  afterEach(() => folder.remove());

  /** Writes a recording of one request to `/users/1`, or of several. */
  const record = (entries: object[] = exchange('1')) => folder.write('traffic.har', { log: { entries } });
  const exchange = (id: string, { status, body = user }: Answer = {}, at = 0) => {
    const link = { id, endpoint: 'GET /users/{id}' };
    const answered = { status: status ?? 200, body };
    return [
      entry(link, 'GET', `http://api.test/users/${id}?token=***`, { body: shown }, at),
      entry({ ...link, backend: 0 }, 'GET', `http://users:8000/v1/${id}?token=***`, answered, at),
    ];
  };
  const config = (backend: object = { allow: ['id', 'name', 'tags'] }, more: object = {}, name = 'next.json') =>
    folder.write(name, {
      version: 3,
      endpoints: [
        {
          endpoint: '/users/{id}',
          input_query_strings: ['token'],
          backend: [{ host: ['http://users:8000'], url_pattern: '/v1/{id}', ...backend }],
          ...more,
        },
      ],
    });
  /** Replays against the configuration of the recording. */
  const replay = (file: string, ...args: string[]) => {
    const baseline = config(undefined, {}, 'baseline.json');
    return sluice('replay', record(), '-c', file, '--baseline', baseline, ...args);
  };

  it('exits 0 if all responses are the same', async () => {
    const { code, out } = await replay(config());
    equal(code, 0, out);
    match(out, /^1 request replayed in \d+ ms: 0 differences$/m);
  });

  it('lists a field that became visible, by endpoint, with a request that shows it', async () => {
    const { code, out } = await replay(config({}));
    equal(code, 1);
    deepEqual(out.split('\n').slice(0, 5), [
      'GET /users/{id}',
      '  field became visible: email ("ada@example.test")',
      '    1 request, for example GET /users/1?token=***',
      `    backend[0].allow: removed, was ["id","name","tags"]  ${folder.path('baseline.json')}:15:11`,
      '    accept: GET /users/{id} visible email',
    ]);
  });

  it('names the changed settings that can be the reason of a difference, with their lines', async () => {
    const root = { extra_config: { 'security/http': { content_type_nosniff: true } } };
    const next = folder.write('next.json', {
      ...JSON.parse(
        folder.read(
          config({ allow: ['id', 'name', 'tags', 'email'] })
            .split('/')
            .at(-1)!,
        ),
      ),
      ...root,
    });
    const { out } = await replay(next, '--format', 'json');
    const { changes } = JSON.parse(out) as { changes: { cause: string; settings: { text: string; line: number }[] }[] };
    const reasons = changes.map(({ cause, settings }) => [cause, ...settings.map(({ text }) => text.split(':')[0])]);
    deepEqual(reasons, [
      ['visible', 'backend[0].allow'],
      ['header', 'extra_config.security/http'],
    ]);
    equal(
      changes.every(({ settings }) => settings[0]!.line > 0),
      true,
    );
    const text = (await replay(next)).out;
    match(
      text,
      /^ {4}backend\[0\]\.allow: \["id","name","tags"\] → \["id","name","tags","email"\] {2}\S*next\.json:\d+:\d+$/m,
    );
  });

  it('names no settings of other endpoints and none that cannot be the reason', async () => {
    const { out } = await replay(config({}, { timeout: '3s', cache_ttl: '60s' }), '--format', 'json');
    const { changes } = JSON.parse(out) as { changes: { cause: string; settings: { text: string }[] }[] };
    const [visible, header] = changes as [(typeof changes)[0], (typeof changes)[0]];
    deepEqual([visible.cause, visible.settings.length, header.cause], ['visible', 1, 'header']);
    deepEqual(
      header.settings.map(({ text }) => text),
      ['cache_ttl: "0s" → "1m"'],
    );
  });

  it('lists missing and changed fields, status, headers and calls of backends by cause', async () => {
    const causes = async (file: string) => {
      const { out } = await replay(file, '--format', 'json');
      const { changes } = JSON.parse(out) as { changes: { cause: string; at: string }[] };
      return changes.map(({ cause, at }) => `${cause} ${at}`.trim());
    };
    deepEqual(await causes(config({ allow: ['id', 'tags'] })), ['missing name']);
    deepEqual(await causes(config({ mapping: { name: 'title' }, allow: ['id', 'name', 'tags'] })), [
      'visible title',
      'missing name',
    ]);
    deepEqual(await causes(config({ url_pattern: '/v2/{id}' })), [
      'status',
      'body',
      'header content-type',
      'header x-gateway-completed',
      'more-calls GET http://users:8000',
      'fewer-calls GET http://users:8000',
    ]);
    deepEqual(await causes(config(undefined, { cache_ttl: '60s' })), ['header cache-control']);
  });

  it('compares with the recorded responses without a baseline', async () => {
    const link = { id: '1', endpoint: 'GET /users/{id}' };
    const [, call] = exchange('1');
    const body = { ...shown, tags: ['b', 'a'] };
    const recording = record([entry(link, 'GET', 'http://api.test/users/1?token=***', { body }), call!]);
    const { code, out } = await sluice('replay', recording, '-c', config());
    equal(code, 1);
    match(out, /^ {2}order changed: tags\[\]$/m);
  });

  it('lists arrays and objects whose order changed in addition to other differences', async () => {
    const link = { id: '1', endpoint: 'GET /users/{id}' };
    const [, call] = exchange('1');
    const body = { name: 'Ada', id: 1, tags: ['b', 'a'], city: 'Rome' };
    const recording = record([entry(link, 'GET', 'http://api.test/users/1?token=***', { body }), call!]);
    const { out } = await sluice('replay', recording, '-c', config(), '--format', 'json');
    const { changes } = JSON.parse(out) as { changes: { cause: string; at: string }[] };
    deepEqual(
      changes.filter(({ cause }) => cause !== 'header').map(({ cause, at }) => `${cause} ${at}`),
      ['missing city', 'order {}', 'order tags[]'],
    );
  });

  it('compares response times only with a threshold', async () => {
    const { code, out } = await replay(config(), '--slower', '1h');
    equal(code, 0, out);
    for (const args of [
      ['--slower', 'much', '--baseline', config()],
      ['--slower', '5ms'],
    ]) {
      equal((await sluice('replay', record(), '-c', config(), ...args)).code, 2);
    }
  });

  it('counts the requests of a difference once', async () => {
    const recording = record([...exchange('1'), ...exchange('2')]);
    const baseline = config(undefined, {}, 'baseline.json');
    const { out } = await sluice('replay', recording, '-c', config({}), '--baseline', baseline);
    match(out, /^ {4}2 requests, for example GET \/users\/1/m);
  });

  it('counts every call of a backend that the recording does not contain', async () => {
    const backend = { host: ['http://users:8000'], url_pattern: '/v2/{id}' };
    const { out } = await replay(config(undefined, { backend: [backend, backend] }), '--format', 'json');
    const { changes } = JSON.parse(out) as { changes: { cause: string; shown: string }[] };
    equal(changes.find(({ cause }) => cause === 'more-calls')!.shown, 'GET http://users:8000/v2/1: 0 → 2');
  });

  it('exits 0 if all differences are in the accept file', async () => {
    const accept = folder.write('accept.txt', '# intended\n\nGET /users/{id} visible email\n');
    const { code, out } = await replay(config({}), '--accept', accept);
    equal(code, 0, out);
    match(out, /^1 difference accepted$/m);
    equal((await replay(config({ allow: ['id'] }), '--accept', accept)).code, 1);
  });

  it('writes JUnit, with a test case for each endpoint that differs', async () => {
    const { code, out } = await replay(config({}), '--format', 'junit');
    equal(code, 1);
    match(out, /<testsuite name="[^"]*" tests="1" failures="1"/);
    match(out, /<failure message="field became visible: email \(&quot;ada@example.test&quot;\)">/);
    match((await replay(config(), '--format', 'junit')).out, /failures="0"/);
  });

  it('sets the clock of rate limits to the times of the recorded requests', async () => {
    const limit = { 'qos/ratelimit/router': { max_rate: 1, capacity: 1 } };
    const spread = record([...exchange('1'), ...exchange('2', {}, 2000)]);
    const limited = config(undefined, { extra_config: limit });
    const baseline = config(undefined, {}, 'baseline.json');
    equal((await sluice('replay', spread, '-c', limited, '--baseline', baseline)).code, 0);
    const close = record([...exchange('1'), ...exchange('2')]);
    match((await sluice('replay', close, '-c', limited, '--baseline', baseline)).out, /status changed \(200 → 503\)/);
  });

  it('answers calls to another host of a backend with the recorded response', async () => {
    const several = (name: string) =>
      config({ host: ['http://a:8000', 'http://b:8000'], allow: ['id', 'name', 'tags'] }, {}, name);
    const recording = record([...exchange('1'), ...exchange('2'), ...exchange('3')]);
    const { code, out } = await sluice(
      'replay',
      recording,
      '-c',
      several('next.json'),
      '--baseline',
      several('b.json'),
    );
    equal(code, 0, out);
    equal(out.includes('another status'), false, out);
  });

  it('lists calls to another host, which get the recorded response', async () => {
    const { code, out } = await replay(config({ host: ['http://people:8000'], allow: ['id', 'name', 'tags'] }));
    equal(code, 1);
    match(out, /^ {2}more backend calls: GET http:\/\/people:8000 /m);
    match(out, /^ {2}fewer backend calls: GET http:\/\/users:8000 /m);
    match(out, /: 2 differences$/m);
  });

  it('counts requests whose recording is incomplete', async () => {
    const [client, call] = exchange('2');
    const omitted = { ...call!, _sluice: { ...call!._sluice, omitted: { response: 'too long' } } };
    const recording = record([...exchange('1'), client!, omitted]);
    const { out } = await sluice('replay', recording, '-c', config(), '--baseline', config(undefined, {}, 'b.json'));
    match(out, /^1 request not replayed: the recording is incomplete$/m);
  });

  it('counts requests to which the baseline responds with a status other than the recorded one', async () => {
    const [client, call] = exchange('1');
    const recorded = { ...client!, response: { ...client!.response, status: 201 } };
    const recording = record([recorded, call!]);
    const { code, out } = await sluice(
      'replay',
      recording,
      '-c',
      config(),
      '--baseline',
      config(undefined, {}, 'b.json'),
    );
    equal(code, 0);
    match(out, /^1 request got a status other than the recorded one from the baseline/m);
  });

  it('treats prototype keys as data', async () => {
    const body = JSON.parse('{"__proto__":{"a":1},"id":1}') as unknown;
    const link = { id: '__proto__', endpoint: '__proto__' };
    const recording = record([
      entry(link, 'GET', 'http://api.test/users/1', { body: { id: 1 } }),
      entry({ ...link, backend: 0 }, 'GET', 'http://users:8000/v1/1', { body }),
    ]);
    const { code, out } = await sluice(
      'replay',
      recording,
      '-c',
      config({}),
      '--baseline',
      config(undefined, {}, 'b.json'),
    );
    equal(code, 1);
    match(out, /accept: __proto__ visible __proto__/);
  });

  it('rejects files that are not recordings, and configurations that are not valid', async () => {
    const attempts = [
      [{ log: {} }, /cannot read the recording/],
      [{ log: { entries: [] } }, /contains no complete recorded requests/],
    ] as const;
    for (const [content, message] of attempts) {
      const { code, err } = await sluice('replay', folder.write('bad.har', content), '-c', config());
      equal(code, 1);
      match(err, message);
    }
    const broken = folder.write('broken.json', { version: 3, endpoints: [{ endpoint: 'x' }] });
    const one = await sluice('replay', record(), '-c', broken);
    equal(one.code, 1);
    match(one.err, /broken\.json/);
    const other = await sluice('replay', record(), '-c', config(), '--baseline', broken);
    equal(other.code, 1);
    match(other.err, /broken\.json/);
    doesNotMatch(other.err, /next\.json/);
  });

  it('exits 2 without a recording, and for an accept file that cannot be read', async () => {
    equal((await sluice('replay')).code, 2);
    equal((await replay(config(), '--accept', folder.path('absent.txt'))).code, 2);
    equal((await replay(config(), '--format', 'xml')).code, 2);
  });
});
