import { deepEqual, match } from 'node:assert/strict';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';

describe('values of decoded responses in the backend log', () => {
  let backend: TestBackend;
  let body: unknown;

  before(async () => {
    backend = await startBackend((seen, response) => json(body)(seen, response));
  });
  beforeEach(() => {
    body = { usage: { total: 12, price: 1.5, of: ['a', 'b'] }, model: 'm', secret: 's' };
  });
  after(() => backend.close());

  /** The lines logged for one request to an endpoint with this backend. */
  async function linesOf(config: object, around: object = {}): Promise<string[]> {
    const sinks = rememberingSinks();
    const gateway = await startGateway(
      {
        host: [backend.url],
        extra_config: { router: { disable_access_log: true } },
        endpoints: [{ endpoint: '/x', backend: [{ url_pattern: '/', ...config }], ...around }],
      },
      { sinks },
    );
    await gateway.inject({ url: '/x', headers: { 'X-User': 'u1' } });
    await gateway.close();
    return sinks.lines.filter((line) => line.startsWith('log ')).map((line) => line.slice(4, -1));
  }

  const logging = (custom_format: string) => ({
    extra_config: { 'telemetry/logging': { custom_format: `log ${custom_format}\n` } },
  });

  it('are addressed with dots, and objects and lists are printed as JSON', async () => {
    const format = '%{statusCode} %{resp.usage.total} %{resp.usage.price:.2f} %{resp.usage.of} %{resp.model}';
    deepEqual(await linesOf(logging(format)), ['200 12 1.50 ["a","b"] m']);
  });

  it('can be combined with request and response headers', async () => {
    const format = '%{reqHeader.X-User} %{reqHeader.X-None} %{respHeader.Content-Type} %{header.Content-Type}';
    const around = { input_headers: ['X-User'] };
    deepEqual(await linesOf(logging(format), around), ['u1 - application/json application/json']);
  });

  it('are read after response filtering', async () => {
    const filtered = {
      deny: ['secret'],
      mapping: { model: 'name' },
      group: 'g',
      ...logging('%{resp.g.name} %{resp.g.secret}'),
    };
    deepEqual(await linesOf(filtered), ['m -']);
  });

  it('are missing if the path does not exist or the call failed', async () => {
    deepEqual(await linesOf(logging('%{resp.usage.none.more} %{resp.model.x} %{resp.constructor}')), ['- - -']);
    body = undefined;
    const [line] = await linesOf(logging('%{statusCode} %{resp.model} %{error}'));
    match(line!, /^200 - .+/);
  });

  it('are missing with no-op, and do not cause decoding', async () => {
    const noOp = { output_encoding: 'no-op' };
    deepEqual(await linesOf({ encoding: 'no-op', ...logging('%{statusCode} %{resp.model}') }, noOp), ['200 -']);
  });

  it('are available for every backend without a log of its own', async () => {
    const sinks = rememberingSinks();
    const backendLog = { custom_format: 'log %{path} %{resp.model}\n' };
    const own = { extra_config: { 'telemetry/logging': { backend: { custom_format: 'log own %{resp.model}\n' } } } };
    const gateway = await startGateway(
      {
        host: [backend.url],
        extra_config: { 'telemetry/logging': { level: 'INFO', stdout: true, backend: backendLog } },
        endpoints: [{ endpoint: '/x', backend: [{ url_pattern: '/1' }, { url_pattern: '/2', ...own }] }],
      },
      { sinks },
    );
    await gateway.inject('/x');
    await gateway.close();
    deepEqual(sinks.lines.filter((line) => line.startsWith('log ')).sort(), ['log /1 m\n', 'log own m\n']);
  });
});
