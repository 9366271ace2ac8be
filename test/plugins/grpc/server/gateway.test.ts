import { deepEqual, equal, match } from 'node:assert/strict';
import { credentials, Metadata, status } from '@grpc/grpc-js';
import { listRoutes } from '../../../../kernel/inspect/index.ts';
import { makeCertificates } from '../../../support/certificates.ts';
import { until } from '../../../support/conditions.ts';
import { callUnary } from '../../../support/grpc/caller.ts';
import type { ShopClient } from '../../../support/grpc/server.ts';
import { forge } from '../../auth/fixture.ts';
import { find, Stage } from './fixture.ts';

describe("gRPC services on the gateway's port", () => {
  const stage = new Stage();
  before(() => stage.open());
  after(() => stage.close());
  afterEach(() => stage.end());

  const ask = (client: ShopClient, request: object = {}, metadata: Record<string, string> = {}) =>
    callUnary(client, 'Find', request, { metadata });
  const seen = () => stage.backend.requests.at(-1)!;

  it('are available in addition to HTTP/1.1', async () => {
    const client = await stage.start([find(stage.http('/x'))]);
    const health = await fetch(`http://127.0.0.1:${stage.port}/__health`);
    equal(health.status, 200);
    await health.text();
    const { code, value } = await ask(client, { name: 'a' });
    deepEqual([code, value], [status.OK, { id: '/x' }]);
  });

  it('send message fields to backends as parameters', async () => {
    const method = {
      ...find(stage.http('/items/{latitude}/{name}?raw={raw}')),
      payload_params: { 'where.latitude': 'latitude', name: 'name', raw: 'raw' },
    };
    const client = await stage.start([method]);
    const { value } = await ask(client, { where: { latitude: 7.5 }, name: 'a/b ü' });
    deepEqual(value, { id: '/items/7.5/a%2Fb%20%C3%BC?raw=' });
  });

  it("reject a call if a field that the backend's path requires is empty", async () => {
    const method = { ...find(stage.http('/items/{name}')), payload_params: { name: 'name' } };
    const before = stage.backend.requests.length;
    const { code } = await ask(await stage.start([method]));
    deepEqual([code, stage.backend.requests.length], [status.INVALID_ARGUMENT, before]);
  });

  it('send the message to HTTP backends as JSON with the field names of the descriptor', async () => {
    const client = await stage.start([{ name: 'Echo', backend: [stage.http('/x', { method: 'POST' })] }]);
    await callUnary(client, 'Echo', {
      full_name: 'Ada',
      kind: 1,
      at: { seconds: 5, nanos: 0 },
      large: '18446744073709551615',
    });
    const { headers, body, method } = seen();
    deepEqual([method, headers['content-type']], ['POST', 'application/json']);
    deepEqual(JSON.parse(String(body)), {
      full_name: 'Ada',
      kind: 'BIG',
      at: '1970-01-01T00:00:05Z',
      large: '18446744073709551615',
    });
  });

  it('call an HTTP backend without a method with GET', async () => {
    await ask(await stage.start([find(stage.http('/x'))]), { name: 'a' });
    deepEqual([seen().method, String(seen().body)], ['GET', '']);
  });

  it('forward the message to a gRPC backend', async () => {
    const client = await stage.start([find(stage.grpc())]);
    const { code, value } = await ask(client, { name: 'bob', kinds: [1, 2], raw: Buffer.from([255]) });
    deepEqual([code, value], [status.OK, { id: 'bob', n: '7' }]);
    deepEqual(stage.upstream.calls.at(-1)!.request, { name: 'bob', kinds: [1, 2], raw: Buffer.from([255]) });
  });

  it('encode the message for one of several backends', async () => {
    const client = await stage.start([find(stage.grpc(), stage.http('/note'))]);
    const { value } = await ask(client, { name: 'bob', kinds: [1, 2], raw: Buffer.from([255]) });
    deepEqual(value, { id: 'bob', n: '7', note: 'other' });
    deepEqual(stage.upstream.calls.at(-1)!.request, { name: 'bob', kinds: [1, 2], raw: Buffer.from([255]) });
  });

  it('accept backend fields in snake_case and camelCase, and drop unknown ones', async () => {
    const client = await stage.start([{ name: 'Echo', backend: [stage.http('/camel')] }]);
    const { value } = await callUnary(client, 'Echo');
    deepEqual(value, { full_name: 'Ada', small: 3, kind: 1 });
  });

  it('merge, filter and group responses like endpoints', async () => {
    const backends = [
      stage.http('/a', { mapping: { id: 'left' }, allow: ['id'] }),
      stage.http('/camel', { group: 'inner' }),
    ];
    const client = await stage.start([{ name: 'Echo', backend: backends }]);
    const { value } = await callUnary(client, 'Echo');
    deepEqual(value, { left: '/a', inner: { full_name: 'Ada', small: 3, kind: 1 } });
  });

  it('forward listed metadata, in any letter case', async () => {
    const client = await stage.start([{ ...find(stage.http('/x')), input_headers: ['X-My'] }]);
    await ask(client, {}, { 'x-my': '1', 'x-other': '2' });
    deepEqual([seen().headers['x-my'], seen().headers['x-other']], ['1', undefined]);
    equal(seen().rawHeaders.includes('X-My'), true);
  });

  it('forward all metadata except that of gRPC itself with "*"', async () => {
    const client = await stage.start([{ ...find(stage.http('/x', { method: 'POST' })), input_headers: ['*'] }]);
    await callUnary(client, 'Find', {}, { metadata: { 'x-my': '1' }, deadline: Date.now() + 60_000 });
    const { headers } = seen();
    deepEqual([headers['x-my'], headers['content-type']], ['1', 'application/json']);
    deepEqual(
      Object.keys(headers).filter((name) => /^(?:grpc|te$)/.test(name)),
      [],
    );
  });

  it('validate tokens before reading the message', async () => {
    const key = Buffer.from('a key of the test, long enough').toString('base64url');
    const keys = Buffer.from(JSON.stringify({ keys: [{ kty: 'oct', kid: 'k', k: key }] })).toString('base64');
    const { writeFileSync, mkdtempSync, rmSync } = await import('node:fs');
    const folder = mkdtempSync('/tmp/sluice-grpc-');
    writeFileSync(`${folder}/keys.json`, Buffer.from(keys, 'base64'));
    const validator = { alg: 'HS256', jwk_local_path: `${folder}/keys.json`, roles: ['reader'] };
    const method = { ...find(stage.http('/x')), extra_config: { 'auth/validator': validator } };
    try {
      const client = await stage.start([method]);
      const token = (roles: string[]) =>
        `Bearer ${forge({ alg: 'HS256', kid: 'k' }, { roles }, Buffer.from(key, 'base64url'))}`;
      const before = stage.backend.requests.length;
      equal((await ask(client)).code, status.UNAUTHENTICATED);
      equal((await ask(client, {}, { authorization: token(['writer']) })).code, status.PERMISSION_DENIED);
      equal(stage.backend.requests.length, before);
      equal((await ask(client, {}, { authorization: token(['reader']) })).code, status.OK);
      equal(seen().headers.authorization, undefined);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('succeed with a partial response, marked as incomplete', async () => {
    const client = await stage.start([find(stage.http('/status/500'), stage.http('/note'))]);
    const { code, value, trailers } = await ask(client);
    deepEqual([code, value, trailers['x-gateway-completed']], [status.OK, { note: 'other' }, 'false']);
  });

  it('send trailers with the completeness and the names of responding backends', async () => {
    const { trailers } = await ask(await stage.start([find(stage.http('/x'))]));
    equal(trailers['x-gateway-completed'], 'true');
    match(String(trailers['x-gateway']), /^Version \d/);
  });

  it('accept messages compressed with gzip', async () => {
    await stage.start([find(stage.grpc())]);
    const packing = stage.client(undefined, { 'grpc.default_compression_algorithm': 2 });
    const { code, value } = await ask(packing, { name: 'x'.repeat(5000) });
    deepEqual([code, value!['id']], [status.OK, 'x'.repeat(5000)]);
  });

  it('are distinguished from other HTTP/2 requests by content type', async () => {
    const endpoint = {
      endpoint: '/shop.Shop/{method}',
      method: 'POST',
      backend: [stage.http('/of-http', { method: 'GET' })],
    };
    const client = await stage.start([find(stage.http('/of-grpc'))], { use_h2c: true, endpoints: [endpoint] });
    deepEqual((await ask(client)).value, { id: '/of-grpc' });
    const response = await stage.gateway.inject({ method: 'POST', url: '/shop.Shop/Find', payload: '{}' });
    equal(response.json().id, '/of-http');
  });

  it('are offered over TLS with ALPN', async () => {
    const certificates = makeCertificates();
    const authority = certificates.authority('ca');
    const { certificate, privateKey } = certificates.issue('server', authority);
    try {
      await stage.start([find(stage.http('/x'))], {
        tls: { keys: [{ public_key: certificate, private_key: privateKey }] },
      });
      const client = stage.client(credentials.createSsl(Buffer.from(authority.certificatePem)));
      deepEqual((await ask(client)).value, { id: '/x' });
    } finally {
      certificates.remove();
    }
  });

  it('finish running calls with their original configuration across a reload, and start new calls with the new configuration', async () => {
    const client = await stage.start([find(stage.http('/held'))]);
    const slow = ask(client);
    await until(() => stage.held.length === 1);
    await stage.gateway.reload(stage.config([{ name: 'Echo', backend: [stage.http('/camel')] }]) as never);
    equal((await ask(client)).code, status.UNIMPLEMENTED);
    stage.held.shift()!();
    deepEqual(await slow.then(({ code, value }) => [code, value]), [status.OK, { id: '/held' }]);
    equal((await callUnary(client, 'Echo')).code, status.OK);
  });

  it('finish running calls when the gateway closes, and reject new calls', async () => {
    const client = await stage.start([find(stage.http('/held'))]);
    const slow = ask(client);
    await until(() => stage.held.length === 1);
    const closed = stage.gateway.close();
    stage.held.shift()!();
    equal((await slow).code, status.OK);
    await closed;
    equal((await ask(client)).code, status.UNAVAILABLE);
  });

  it('are logged in the access log with their path and status', async () => {
    const client = await stage.start([
      find(stage.http('/status/404')),
      { name: 'Echo', backend: [stage.http('/camel')] },
    ]);
    await ask(client);
    await callUnary(client, 'Echo');
    const lines = () => stage.sinks.lines.filter((line) => line.includes('/shop.Shop/'));
    await until(() => lines().some((line) => line.includes('/shop.Shop/Echo')));
    match(lines().find((line) => line.includes('/shop.Shop/Find') && /\b404\b/.test(line))!, /POST/);
    match(lines().find((line) => line.includes('/shop.Shop/Echo'))!, /\b200\b/);
  });

  it('are included in the list of routes', async () => {
    await stage.start([find(stage.grpc())]);
    const [route] = listRoutes(stage.gateway.serving);
    deepEqual(
      [route!.id, route!.outputEncoding, route!.pointer, route!.backends[0]!.namespaces],
      ['POST /shop.Shop/Find', 'application/grpc', '/extra_config/grpc/server/services/0/methods/0', ['backend/grpc']],
    );
  });

  it('cancel their backends when the client cancels the call', async () => {
    const client = await stage.start([find(stage.grpc())]);
    const cancelled = new Promise<number>((resolve) => {
      const call = client.Find({ name: 'never' }, new Metadata(), {}, (error) => resolve(error!.code));
      void until(() => stage.upstream.calls.at(-1)?.request['name'] === 'never').then(() => call.cancel());
    });
    equal(await cancelled, status.CANCELLED);
    await until(() => stage.gateway.status.calls === 0);
  });
});
