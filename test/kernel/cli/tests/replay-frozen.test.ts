import { deepEqual, equal, match } from 'node:assert/strict';
import { createHmac, randomInt, randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { createFolder, type Folder, sluice, sluiceProcess } from '../command.ts';

const at = Date.UTC(2026, 0, 1, 12);
const secret = Buffer.from('0123456789abcdef0123456789abcdef');
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token that is valid for a minute from the time of the recording. */
function token(): string {
  const head = `${part({ alg: 'HS256', kid: 'k' })}.${part({ exp: at / 1000 + 60 })}`;
  return `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`;
}

describe('time, IDs and random values in a replay', function () {
  this.timeout(60_000);
  let folder: Folder;
  beforeEach(() => {
    folder = createFolder();
  });
  afterEach(() => folder.remove());

  const template = [
    '{"now":"{{ now | date "2006-01-02 15:04:05" }}","uuid":"{{ uuidv4 }}","words":"{{ randAlpha 12 }}",',
    '"number":{{ randInt 0 1000000000 }},"bytes":"{{ randBytes 12 }}"}',
  ].join('');

  /** A configuration whose responses contain time and random values. */
  const config = (name: string, more: object = {}) => {
    const keys = folder.write('keys.json', { keys: [{ kty: 'oct', kid: 'k', k: secret.toString('base64url') }] });
    const backend = { host: ['http://users:8000'], url_pattern: '/v1/users' };
    const script =
      'local r = response.load(); r:data():set("time", os.time()); r:data():set("random", math.random()); r:data():set("id", r:headers("X-Echo"))';
    return folder.write(name, {
      version: 3,
      extra_config: { router: { request_id: 'X-Request-Id' } },
      endpoints: [
        {
          endpoint: '/template',
          backend: [backend],
          extra_config: {
            'modifier/response-body-generator': {
              template: Buffer.from(template).toString('base64'),
              content_type: 'application/json',
            },
          },
          ...more,
        },
        {
          endpoint: '/lua',
          backend: [backend],
          extra_config: { 'modifier/lua-proxy': { post: script, allow_open_libs: true } },
        },
        {
          endpoint: '/token',
          backend: [backend],
          extra_config: {
            'auth/validator': { alg: 'HS256', jwk_local_path: keys, disable_jwk_security: true },
          },
        },
      ],
    });
  };

  const entry = (link: object, url: string, body: object, headers: object[] = []) => ({
    startedDateTime: new Date(at).toISOString(),
    request: { method: 'GET', url, headers: [{ name: 'Host', value: 'api.test' }, ...headers] },
    response: {
      status: 200,
      headers: [{ name: 'Content-Type', value: 'application/json' }],
      content: { text: JSON.stringify(body) },
    },
    _sluice: link,
  });
  const record = (...paths: string[]) =>
    folder.write('traffic.har', {
      log: {
        entries: paths.flatMap((path, index) => {
          const link = { id: String(index), endpoint: `GET ${path}` };
          const headers = path === '/token' ? [{ name: 'Authorization', value: `Bearer ${token()}` }] : [];
          return [
            entry(link, `http://api.test${path}`, { id: 1 }, headers),
            entry({ ...link, backend: 0 }, 'http://users:8000/v1/users', { id: 1 }),
          ];
        }),
      },
    });

  it('are the same for both configurations, in templates and scripts', async () => {
    const recording = record('/template', '/lua', '/template', '/lua');
    const { code, out, err } = await sluice(
      'replay',
      recording,
      '-c',
      config('a.json'),
      '--baseline',
      config('b.json'),
    );
    equal(code, 0, out + err);
  });

  it('are the same in the built program', async () => {
    const files = [record('/template', '/lua', '/token'), '-c', config('a.json'), '--baseline', config('b.json')];
    const { code, out, err } = await sluiceProcess({}, 'replay', ...files, '--format', 'json');
    equal(code, 0, out + err);
    equal(JSON.parse(out).unfaithful, 0);
  });

  it('start at the time of the recording', async () => {
    const { out } = await sluice('replay', record('/template', '/lua'), '-c', config('a.json'), '--format', 'json');
    const { changes } = JSON.parse(out) as { changes: { at: string; shown: string }[] };
    const shown = (name: string) => changes.find((change) => change.at === name)?.shown;
    deepEqual([shown('now'), shown('time')], ['"2026-01-01 12:00:00"', String(at / 1000)]);
    match(shown('uuid')!, /^"[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}"$/);
  });

  it('accept recorded tokens that were valid at the time of the recording', async () => {
    const { code, out, err } = await sluice('replay', record('/token'), '-c', config('a.json'));
    equal(code, 1, out + err);
    equal(out.includes('status'), false, out);
  });

  it('use the IDs of the request in the recording', async () => {
    const link = { id: '1', endpoint: 'GET /template' };
    const call = entry({ ...link, backend: 0 }, 'http://users:8000/v1/users', { id: 1 }, [
      { name: 'X-Request-Id', value: 'r-1' },
    ]);
    const client = entry(link, 'http://api.test/template', { id: 1 });
    const recording = folder.write('ids.har', { log: { entries: [client, call] } });
    const shows = '{"id":{{ toJson (index .req_headers "X-Request-Id") }}}';
    const printing = config('a.json', {
      input_headers: ['X-Request-Id'],
      extra_config: {
        'modifier/response-body-generator': {
          template: Buffer.from(shows).toString('base64'),
          content_type: 'application/json',
        },
      },
    });
    const { out } = await sluice('replay', recording, '-c', printing);
    match(out, /id \(1 → \["r-1"\]\)/);
  });

  it('are those of the system for code that does not belong to the replay, during and after it', async () => {
    const before = [Date, Date.now, Math.random, process.hrtime];
    const isNow = () => Math.abs(Date.now() - performance.timeOrigin - performance.now()) < 60_000;
    let isRunning = true;
    const replaying = sluice('replay', record('/template'), '-c', config('a.json')).finally(() => {
      isRunning = false;
    });
    while (isRunning) {
      equal(isNow(), true);
      equal(new Set([randomUUID(), randomUUID(), randomInt(2 ** 40), randomInt(2 ** 40)]).size, 4);
      await setImmediate();
    }
    await replaying;
    deepEqual([Date, Date.now, Math.random, process.hrtime], before);
  });
});
