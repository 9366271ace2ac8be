import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict';
import { createFolder, type Folder, sluice } from '../command.ts';
import { type RecordedCall, recordingOf } from './recording.ts';

const call = (endpoint: string, path: string, body?: unknown, more: Partial<RecordedCall> = {}): RecordedCall => ({
  endpoint: `GET ${endpoint}`,
  path,
  url: `http://users:8000${path}`,
  body,
  ...more,
});

describe('sluice contracts infer', () => {
  let folder: Folder;
  beforeEach(() => {
    folder = createFolder();
  });
  afterEach(() => folder.remove());

  const infer = (calls: readonly RecordedCall[], ...args: string[]) => {
    const recording = folder.write('traffic.har', recordingOf(calls));
    return sluice('contracts', 'infer', recording, '--contracts', folder.path('contracts'), ...args);
  };
  const contract = (name: string) => JSON.parse(folder.read(`contracts/${name}.json`));

  it('writes a file for each endpoint and method, with statuses, content types and the number of samples', async () => {
    const { code, out } = await infer([
      call('/users/{user}', '/users/1', { id: 1 }),
      call('/users/{user}', '/users/2', { id: 2 }),
      call('/users/{user}', '/users/3', undefined, { status: 404 }),
      call('/orders', '/orders?page=1', []),
    ]);
    equal(code, 0);
    match(out, /^added {4}.*contracts\/get-orders\.json$/m);
    match(out, /^2 contracts: 2 added, 0 changed, 0 unchanged$/m);
    deepEqual(contract('get-users-_user'), {
      endpoint: '/users/{user}',
      method: 'GET',
      responses: {
        200: {
          content_type: 'application/json',
          samples: 2,
          schema: { type: 'object', properties: { id: { type: 'integer' } } },
        },
        404: { samples: 1 },
      },
    });
  });

  it('writes no values of the traffic', async () => {
    const secret = (at: number) => ({ name: `Ada ${at}`, by_mail: { [`ada${at}@example.test`]: 'private' } });
    await infer(Array.from({ length: 9 }, (_, at) => call('/a/{b}', `/a/${at}?c=d`, secret(at))));
    doesNotMatch(folder.read('contracts/get-a-_b.json'), /Ada|ada|private|c=d/);
  });

  it('replaces existing contracts, or extends them with the new responses', async () => {
    const first = [1, 2, 3].map((at) => call('/a', '/a', { id: at, name: 'x' }));
    const second = [1, 2, 3].map((at) => call('/a', '/a', { id: `${at}` }));
    await infer(first);
    const { out } = await infer(first);
    match(out, /^1 contract: 0 added, 0 changed, 1 unchanged$/m);
    await infer(second, '--merge');
    deepEqual(contract('get-a').responses[200], {
      content_type: 'application/json',
      samples: 6,
      schema: {
        type: 'object',
        properties: { id: { type: ['string', 'integer'] }, name: { type: 'string' } },
        required: ['id'],
      },
    });
    await infer(second);
    deepEqual(contract('get-a').responses[200].schema.properties, { id: { type: 'string' } });
  });

  it('leaves contracts of other endpoints unchanged', async () => {
    await infer([call('/a', '/a', {})]);
    await infer([call('/b', '/b', {})]);
    equal(contract('get-a').endpoint, '/a');
    equal(contract('get-b').endpoint, '/b');
  });

  it('writes contracts to separate files even if their file names would be equal', async () => {
    const { out } = await infer([call('/a/b', '/a/b', {}), call('/a-b', '/a-b', {})]);
    match(out, /2 added/);
    match(out, /get-a-b-[\da-f]{8}\.json/);
  });

  it('ignores requests without an endpoint, and responses whose body was not recorded', async () => {
    const { log } = recordingOf([call('/a', '/a', {}), call('/b', '/b', {})]) as {
      log: { entries: { _sluice: object }[] };
    };
    Object.assign(log.entries[0]!._sluice, { endpoint: null });
    Object.assign(log.entries[2]!._sluice, { omitted: { response: 'too long' } });
    const recording = folder.write('traffic.har', { log });
    const { code, err } = await sluice('contracts', 'infer', recording, '--contracts', folder.path('contracts'));
    deepEqual([code, err], [1, 'ERROR no response of an endpoint found\n']);
  });

  it('runs tests, and ignores the responses of those that fail', async () => {
    const config = folder.write('gateway.json', {
      version: 3,
      endpoints: [{ endpoint: '/a', backend: [{ host: ['http://users:8000'], url_pattern: '/a' }] }],
    });
    const tests = folder.write('a.test.json', {
      backends: { a: { url: '/a', response: { body: { id: 1 } } } },
      tests: [
        { name: 'passes', request: { path: '/a' }, expect: { status: 200 } },
        { name: 'fails', request: { path: '/a' }, expect: { status: 404 } },
      ],
    });
    const args = ['-c', config, '--contracts', folder.path('contracts'), '--min-samples', '1'];
    const { code, err } = await sluice('contracts', 'infer', tests, ...args);
    deepEqual([code, err], [0, 'WARNING 1 failed test is ignored\n']);
    deepEqual(contract('get-a').responses, {
      200: {
        content_type: 'application/json',
        samples: 1,
        schema: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
      },
    });
  });

  it('rejects a folder that cannot be created, and an invalid number of samples', async () => {
    const recording = folder.write('traffic.har', recordingOf([call('/a', '/a', {})]));
    const { code, err } = await sluice('contracts', 'infer', recording, '--contracts', folder.path('no/such'));
    equal(code, 1);
    match(err, /^ERROR cannot write .*no\/such: no such directory$/m);
    equal((await infer([call('/a', '/a', {})], '--min-samples', '0')).code, 2);
    equal((await sluice('contracts')).code, 2);
  });
});
