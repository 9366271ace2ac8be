import { deepEqual, equal, match } from 'node:assert/strict';
import { createFolder, type Folder, sluice } from './command.ts';

const backend = [{ host: ['http://127.0.0.1:9'], url_pattern: '/of/{id}' }];
const config = {
  version: 3,
  endpoints: [
    { endpoint: '/user/{id}', input_headers: ['X-A'], input_query_strings: ['a'], backend },
    { endpoint: '/user/{id}', method: 'POST', backend },
  ],
};

describe('explain', () => {
  let folder: Folder;
  let file: string;
  before(() => {
    folder = createFolder();
    file = folder.write('gateway.json', config);
  });
  after(() => folder.remove());

  it('prints the endpoint with its place, and the requests to its backends', async () => {
    const { code, out } = await sluice('explain', '-c', file, 'GET', '/user/7?a=1&b=2', '-H', 'X-A: 1', '-H', 'X-B: 2');
    equal(code, 0);
    match(out, /^answered by +GET \/user\/\{id\} {2}.*gateway\.json:4:5$/m);
    match(out, /^variable +id = 7$/m);
    match(out, /^also matching +POST \/user\/\{id\}: /m);
    match(out, /^backend 0 {2}.*gateway\.json:\d+:9$/m);
    match(out, /^ {2}sends +GET http:\/\/127\.0\.0\.1:9\/of\/7\?a=1$/m);
    match(out, /^ {2}header +X-A: 1$/m);
    match(out, /^ {2}dropped +header X-B: not in input_headers of the endpoint$/m);
    match(out, /^ {2}dropped +parameter b: not in input_query_strings of the endpoint$/m);
  });

  it('prints the same as JSON', async () => {
    const { code, out } = await sluice('explain', '-c', file, 'get', '/user/7', '--format', 'json');
    equal(code, 0);
    const { match: results, forwarded } = JSON.parse(out);
    deepEqual(
      [results.route.id, results.route.line, forwarded[0].urls],
      ['GET /user/{id}', 4, ['http://127.0.0.1:9/of/7']],
    );
  });

  it('exits with status 1 if no endpoint matches the request, and names a similar endpoint', async () => {
    const { code, out } = await sluice('explain', '-c', file, 'GET', '/users/7');
    equal(code, 1);
    match(out, /^answered by +404$/m);
    match(out, /^similar +GET \/user\/\{id\}: segment 1 is "user", not "users"/m);
  });

  it('exits with status 1 for a wrong method, and names the allowed methods', async () => {
    const { code, out } = await sluice('explain', '-c', file, 'DELETE', '/user/7');
    equal(code, 1);
    match(out, /^answered by +405, Allow: GET, HEAD, POST$/m);
  });

  it('exits with status 1 for a redirect and prints its target', async () => {
    const { code, out } = await sluice('explain', '-c', file, 'GET', '/user/7/?a=1');
    equal(code, 1);
    match(out, /^answered by +301, Location: \/user\/7\?a=1$/m);
  });

  it('explains a method published over gRPC, with the parameters from its message', async () => {
    const sample = 'samples/grpc/gateway.json';
    const { code, out } = await sluice('explain', '-c', sample, 'POST', '/orders.Orders/Get', '-H', 'X-Tenant: a');
    equal(code, 0);
    match(out, /^answered by +POST \/orders\.Orders\/Get {2}samples\/grpc\/gateway\.json:\d+:\d+$/m);
    match(out, /^output +application\/grpc$/m);
    match(out, /^backend 0 {2}samples\/grpc\/gateway\.json:\d+:\d+$/m);
    match(out, /^ {2}sends +GET http:\/\/127\.0\.0\.1:8081\/orders\/\{id\}$/m);
    match(out, /^ {2}header +X-Tenant: a$/m);
    match(out, /^ {2}pipe +grpc \(backend\) > /m);
  });

  it('distinguishes gRPC requests from others', async () => {
    const sample = 'samples/grpc/gateway.json';
    const ask = (...args: string[]) => sluice('explain', '-c', sample, 'POST', ...args);
    const other = await ask('/orders.Orders/Get', '-H', 'Content-Type: application/json');
    equal(other.code, 1);
    equal((await ask('/orders.Orders/Get', '-H', 'Content-Type: application/grpc+proto')).code, 0);
    equal((await ask('/orders.Orders/Other', '-H', 'Content-Type: application/grpc')).code, 0);
    equal((await ask('/orders.Orders/Other')).code, 1);
  });

  it('exits with status 0 for a built-in endpoint', async () => {
    equal((await sluice('explain', '-c', file, 'GET', '/__health')).code, 0);
  });

  for (const [sentence, args] of [
    ['no file', ['GET', '/a']],
    ['no path', ['-c', 'x.json', 'GET']],
    ['too many arguments', ['-c', 'x.json', 'GET', '/a', '/b']],
    ['an invalid header', ['-c', 'x.json', 'GET', '/a', '-H', 'no header']],
    ['an unknown format', ['-c', 'x.json', 'GET', '/a', '--format', 'xml']],
    ['a missing configuration file', ['-c', 'x.json', 'GET', '/a']],
  ] as const) {
    it(`exits with status 2 for ${sentence}`, async () => equal((await sluice('explain', ...args)).code, 2));
  }
});
