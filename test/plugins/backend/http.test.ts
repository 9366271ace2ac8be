import { deepEqual, equal, rejects } from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { BackendError, type EndpointConfig, HeaderBag, Reply } from '#contract';
import type { HarnessOptions } from '../../../kernel/testing/index.ts';
import { plugin } from '../../../plugins/backend/http/index.ts';
import { sharesAlias } from '../../../plugins/backend/http/placement.ts';
import { openHarness } from '../../support/harness.ts';

const responses =
  (status: number, body: string | Uint8Array, headers: string[] = []) =>
  () =>
    Reply.raw(status, new HeaderBag(headers), Buffer.from(body));

const backend = { url_pattern: '/u', method: 'GET' };

describe('backend/http', () => {
  const details = (next: HarnessOptions['next']) =>
    openHarness(plugin, 'backend', { return_error_details: 'b' }, { next: next!, backend });
  const code = (next: HarnessOptions['next']) =>
    openHarness(plugin, 'backend', { return_error_code: true }, { next: next!, backend });

  it('returns a failed status as data under the configured name with return_error_details', async () => {
    const gate = await details(responses(404, 'nope', ['Content-Type', 'text/plain']));
    const reply = await gate.send('GET /');
    deepEqual(reply.data, { error_b: { http_status_code: 404, http_body: 'nope', http_body_encoding: 'text/plain' } });
    deepEqual([reply.status, reply.complete, reply.failed], [200, false, false]);
  });

  it('omits an empty body and an unknown content type', async () => {
    const reply = await (await details(responses(503, ''))).send('GET /');
    deepEqual(reply.data, { error_b: { http_status_code: 503 } });
  });

  it('reports the failure to logs and the circuit breaker even if it is returned as data', async () => {
    const [error] = (await (await details(responses(404, ''))).send('GET /')).errors;
    equal((error as BackendError).upstreamStatus, 404);
    equal(error!.message, 'invalid status code 404 [GET /u]: ');
  });

  it('decompresses the body of an error for return_error_details', async () => {
    const reply = await (await details(responses(500, gzipSync('packed'), ['Content-Encoding', 'gzip']))).send('GET /');
    deepEqual(reply.data, { error_b: { http_status_code: 500, http_body: 'packed' } });
  });

  it('treats names such as __proto__ as plain data', async () => {
    const gate = await openHarness(
      plugin,
      'backend',
      { return_error_details: '__proto__' },
      { next: responses(404, ''), backend },
    );
    deepEqual(Object.keys((await gate.send('GET /')).data!), ['error___proto__']);
  });

  for (const status of [200, 201]) {
    it(`with ${status} returns the response unchanged`, async () => {
      for (const gate of [await details(responses(status, 'ok')), await code(responses(status, 'ok'))]) {
        const reply = await gate.send('GET /');
        deepEqual([reply.status, String(reply.body), reply.errors.length], [status, 'ok', 0]);
      }
    });
  }

  it('returns failures without a status unchanged', async () => {
    const next = () => Reply.failed(new BackendError('BACKEND_REFUSED', 'refused'));
    for (const gate of [await details(next), await code(next)]) {
      const reply = await gate.send('GET /');
      deepEqual([reply.failed, reply.status, reply.data], [true, 500, null]);
    }
  });

  it("returns the backend's status to the client with return_error_code, and its body with return_error_msg", async () => {
    const reply = await (await code(responses(404, '{"e":1}', ['Content-Type', 'application/json']))).send('GET /');
    const { view } = reply.errors[0]!;
    deepEqual([reply.failed, reply.status], [true, 404]);
    deepEqual([view.status, String(view.body), view.contentType], [404, '{"e":1}', 'application/json']);
  });

  it('rejects a configuration with both fields, and one with neither', async () => {
    const both = { return_error_details: 'a', return_error_code: true };
    await rejects(openHarness(plugin, 'backend', both), /HTTP_ERRORS_BOTH/);
    await rejects(openHarness(plugin, 'backend', {}), /HTTP_ERRORS_NONE/);
  });

  it('has no effect with an empty name or a disabled return_error_code', async () => {
    for (const config of [{ return_error_details: '' }, { return_error_code: false }]) {
      const gate = await openHarness(plugin, 'backend', config, { next: responses(404, 'raw'), backend });
      equal(String((await gate.send('GET /')).body), 'raw');
    }
  });

  it('warns if the no-op encoding passes the response unchanged, so that the component has no effect', async () => {
    const endpoint = { output_encoding: 'no-op' };
    const gate = await openHarness(plugin, 'backend', { return_error_code: true }, { endpoint });
    deepEqual(
      [gate.warnings.map((warning) => warning.code), gate.attached.transport],
      [['HTTP_ERRORS_RAW'], undefined],
    );
  });

  it('warns about return_error_code with several backends', async () => {
    const one = { ...backend, host: [], extra_config: {}, encoding: 'json' } as unknown as EndpointConfig['backend'][0];
    const gate = await openHarness(
      plugin,
      'backend',
      { return_error_code: true },
      { endpoint: { backend: [one, one] } },
    );
    deepEqual(
      gate.warnings.map((warning) => warning.code),
      ['HTTP_ERRORS_SEVERAL'],
    );
  });

  it('reports a name that an earlier backend already uses', () => {
    const own = { extra_config: { 'backend/http': { return_error_details: 'b' } } };
    const endpoint = { backend: [own, { extra_config: {} }, own] } as unknown as EndpointConfig;
    deepEqual(
      [sharesAlias(endpoint, 2, 'b'), sharesAlias(endpoint, 2, 'c'), sharesAlias(endpoint, 0, 'b')],
      [true, false, false],
    );
  });
});
