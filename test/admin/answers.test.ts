import { deepEqual, equal, match } from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { config, openAdmin, type TestAdmin } from './support.ts';

describe('a response of the admin API', () => {
  let one: TestAdmin;
  before(async () => {
    one = await openAdmin();
  });
  after(() => one.close());

  it('has a request ID, forbids storage and names the active revision', async () => {
    const { headers } = await one.ask('/v1/status');
    match(String(headers['x-request-id']), /^[\da-f-]{36}$/);
    equal(headers['cache-control'], 'no-store');
    equal(headers['x-content-type-options'], 'nosniff');
    equal(headers['gateway-revision'], '1');
  });

  it('has a request ID and the other common headers even if the request is rejected', async () => {
    const { headers } = await one.ask('/v1/status', { headers: { host: 'evil.test' } });
    match(String(headers['x-request-id']), /^[\da-f-]{36}$/);
    equal(headers['gateway-revision'], '1');
  });

  it('does not name the server software', async () => {
    const { headers } = await one.ask('/v1/status');
    equal(headers['server'], undefined);
    equal(headers['x-powered-by'], undefined);
  });

  it('repeats the request ID that the client sent', async () => {
    const { headers, body } = await one.ask('/v1/nothing', { headers: { 'x-request-id': 'mine-1' } });
    equal(headers['x-request-id'], 'mine-1');
    equal(body.requestId, 'mine-1');
  });

  it("has a new request ID if the client's request ID is malformed", async () => {
    const { headers } = await one.ask('/live', { headers: { 'x-request-id': 'a "b"' } });
    match(String(headers['x-request-id']), /^[\da-f-]{36}$/);
  });

  it('is a problem document if the request fails', async () => {
    const { status, headers, body } = await one.ask('/v1/nothing');
    equal(status, 404);
    equal(headers['content-type'], 'application/problem+json');
    deepEqual(body, {
      type: 'urn:gateway:problem:not-found',
      title: 'Not Found',
      status: 404,
      detail: '/v1/nothing does not exist',
      instance: '/v1/nothing',
      requestId: body.requestId,
      revision: 1,
    });
  });

  it('lists the allowed methods of a path with 405 if the method is wrong', async () => {
    const { status, headers, body } = await one.ask('/v1/config', { method: 'DELETE' });
    equal(status, 405);
    equal(headers['allow'], 'GET, HEAD, OPTIONS, PATCH, PUT');
    equal(body.type, 'urn:gateway:problem:method-not-allowed');
  });

  it('is 405 for a wrong method on a health probe, even without a token', async () => {
    equal((await one.ask('/live', { method: 'POST', token: null })).status, 405);
  });

  it('to OPTIONS is empty and lists the methods', async () => {
    const { status, headers, text } = await one.ask('/v1/reload', { method: 'OPTIONS', token: null });
    equal(status, 204);
    equal(headers['allow'], 'OPTIONS, POST');
    equal(text, '');
  });

  it('to OPTIONS lists the media types that PATCH and POST accept', async () => {
    const options = async (path: string) => (await one.ask(path, { method: 'OPTIONS', token: null })).headers;
    const config = await options('/v1/config');
    equal(config['accept-patch'], 'application/merge-patch+json, application/json-patch+json');
    equal(config['accept-post'], undefined);
    match(String((await options('/v1/check'))['accept-post']), /^application\/json, /);
    equal((await options('/v1/reload'))['accept-post'], undefined);
  });

  it('to OPTIONS of an unknown path is 404', async () => {
    equal((await one.ask('/v1/nothing', { method: 'OPTIONS', token: null })).status, 404);
  });

  it('to HEAD equals the response to GET without its body', async () => {
    const [head, get] = [await one.ask('/v1/config', { method: 'HEAD' }), await one.ask('/v1/config')];
    equal(head.status, 200);
    equal(head.text, '');
    equal(head.headers['content-length'], get.headers['content-length']);
    equal(head.headers['etag'], get.headers['etag']);
  });

  it('is 400 for an unknown query parameter', async () => {
    const { status, body } = await one.ask('/v1/reload?dryrun=true', { method: 'POST' });
    equal(status, 400);
    match(body.detail, /dryrun/);
  });

  it('is 400 for a duplicate query parameter', async () => {
    equal((await one.ask('/v1/reload?force=true&force=false', { method: 'POST' })).status, 400);
  });

  it('is 400 for an invalid value of a query parameter', async () => {
    for (const query of ['force=yes', 'wait=-1', 'wait=601', 'guard=soon', 'guard_calls=1.5', 'guard_p99=0']) {
      equal((await one.ask(`/v1/reload?${query}`, { method: 'POST' })).status, 400, query);
    }
  });

  it('is 404 for an id in the path that is not a valid number', async () => {
    for (const path of ['/v1/revisions/x', '/v1/revisions/0', '/v1/revisions/1e3', '/v1/attempts/-1']) {
      equal((await one.ask(path)).status, 404, path);
    }
  });

  it('is 404 for a path with invalid escapes, and the next request succeeds', async () => {
    equal((await one.ask('/v1/revisions/%zz')).status, 404);
    equal((await one.ask('/live')).status, 200);
  });

  it('is 400 for bytes that are not an HTTP request', async () => {
    const [host, port] = one.admin.address!.split(':');
    const socket = connect(Number(port), host);
    socket.end('nonsense\r\n\r\n');
    match(await text(socket), /^HTTP\/1\.1 400 /);
  });

  it('is 431 for an endless request head', async () => {
    equal((await one.ask('/live', { headers: { 'x-long': 'x'.repeat(17_000) } })).status, 431);
  });

  it('to GET or HEAD is sent without any change of state', async () => {
    await one.ask('/v1/config?form=source');
    await one.ask('/v1/reload', { method: 'HEAD' });
    equal(one.gateway.status.revision, 1);
  });
});

describe('the audit log of the admin API', () => {
  let one: TestAdmin;
  beforeEach(async () => {
    one = await openAdmin();
  });
  afterEach(() => one.close());

  const reported = () => one.lines.filter((line) => line.includes('token=')).map((line) => line.trim());

  it('has a line for each change, with token, address, request and result', async () => {
    await one.ask('/v1/config?message=hidden', { method: 'PUT', body: config('/b') });
    match(
      reported().join('|'),
      /INFO: \[ADMIN\] token="environment" ip=127\.0\.0\.1 PUT \/v1\/config status=200 result=applied revision=1->2$/,
    );
  });

  it('has a line for a change that was rejected', async () => {
    await one.ask('/v1/config', { method: 'PUT', body: { version: 3, endpoints: 'none' } });
    match(reported().join('|'), /PUT \/v1\/config status=422 result=refused revision=1$/);
  });

  it('has a line for each operation on the process, such as a drain', async () => {
    await one.ask('/v1/drain', { method: 'POST' });
    match(reported().join('|'), /POST \/v1\/drain status=202 result=done revision=1$/);
  });

  it('has no line for requests that only read', async () => {
    await one.ask('/v1/config');
    await one.ask('/v1/check', { method: 'POST' });
    equal(reported().length, 0);
  });
});
