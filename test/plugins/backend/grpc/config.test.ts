import { deepEqual, equal } from 'node:assert/strict';
import { ConfigErrors } from '../../../../kernel/contract/internal.ts';
import { startGateway } from '../../../support/gateway.ts';
import { OLD, SHOP } from '../../../support/grpc/server.ts';

/** Codes of the errors in a configuration, or of its warnings if it is valid. */
async function reported(
  grpc: object,
  {
    backend = {},
    endpoint = {},
    root = { grpc: { catalog: [SHOP, OLD] } },
  }: { backend?: object; endpoint?: object; root?: object } = {},
): Promise<string[]> {
  try {
    const gateway = await startGateway({
      extra_config: root,
      endpoints: [
        {
          endpoint: '/f',
          ...endpoint,
          backend: [
            { host: ['a:1'], url_pattern: '/shop.Shop/Find', ...backend, extra_config: { 'backend/grpc': grpc } },
          ],
        },
      ],
    });
    const codes = gateway.status.warnings.map(({ code }) => code);
    await gateway.close();
    return codes;
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    return error.errors.map(({ code, pointer }) => `${code} ${pointer}`);
  }
}

const at = '/endpoints/0/backend/0/extra_config/backend~1grpc';

describe('the configuration of backend/grpc', () => {
  it('accepts an empty object', async () => deepEqual(await reported({}), []));

  for (const [what, given, more, expected] of [
    ['a missing catalog', {}, { root: {} }, `GRPC_CATALOG ${at}`],
    ['an unknown service', {}, { backend: { url_pattern: '/shop.Shoe/Find' } }, `GRPC_METHOD ${at}`],
    ['an unknown method', {}, { backend: { url_pattern: '/shop.Shop/find' } }, `GRPC_METHOD ${at}`],
    [
      'a method name with a placeholder',
      {},
      { endpoint: { endpoint: '/{m}' }, backend: { url_pattern: '/shop.Shop/{m}' } },
      `GRPC_METHOD ${at}`,
    ],
    ['a client streaming method', {}, { backend: { url_pattern: '/shop.Shop/Collect' } }, `GRPC_METHOD ${at}`],
    ['a bidirectional streaming method', {}, { backend: { url_pattern: '/shop.Shop/Talk' } }, `GRPC_METHOD ${at}`],
    ['the no-op output encoding', {}, { endpoint: { output_encoding: 'no-op' } }, `GRPC_OUTPUT ${at}`],
    [
      'a streaming output encoding for a unary method',
      {},
      { endpoint: { output_encoding: 'sse' } },
      `GRPC_OUTPUT ${at}`,
    ],
    [
      'an unsuitable streaming output encoding',
      {},
      { endpoint: { output_encoding: 'eventstream' }, backend: { url_pattern: '/shop.Shop/Watch' } },
      `GRPC_OUTPUT ${at}`,
    ],
    ['a host with a path', {}, { backend: { host: ['http://a:1/b'] } }, `GRPC_HOST ${at}`],
    ['an invalid metadata key', { header_mapping: { 'X-A': 'te' } }, {}, `GRPC_METADATA ${at}/header_mapping/X-A`],
    ['an invalid header name', { header_mapping: { 'X A': 'a' } }, {}, `GRPC_METADATA ${at}/header_mapping/X A`],
    [
      'an unknown naming convention',
      { request_naming_convention: 'kebab-case' },
      {},
      `SCHEMA_ENUM ${at}/request_naming_convention`,
    ],
    ['a negative limit', { max_call_recv_msg_size: -1 }, {}, `SCHEMA_RANGE ${at}/max_call_recv_msg_size`],
    ['an unknown field', { clienttls: {} }, {}, `SCHEMA_UNKNOWN_KEY ${at}/clienttls`],
    [
      'a certificate file that does not exist',
      { client_tls: { ca_certs: ['no.pem'] } },
      {},
      `CLIENT_TLS_FILE ${at}/client_tls/ca_certs/0`,
    ],
  ] as const) {
    it(`is rejected for ${what}`, async () => deepEqual(await reported(given, more), [expected]));
  }

  it('ignores comment keys, accepts zeros, and warns about a buffer size without effect', async () => {
    deepEqual(await reported({ '@comment': 'a', read_buffer_size: 0, max_call_recv_msg_size: 0 }), []);
    equal((await reported({ read_buffer_size: -1 })).length, 1);
  });

  it('warns about a parameter mapped to an unknown field', async () => {
    deepEqual(await reported({ input_mapping: { a: 'where.altitude', b: 'where.latitude' } }), ['GRPC_FIELD']);
  });

  it('warns about an https host that is called without TLS', async () => {
    deepEqual(await reported({}, { backend: { host: ['grpcs://a:1'] } }), ['GRPC_PLAINTEXT']);
    deepEqual(await reported({ client_tls: {} }, { backend: { host: ['grpcs://a:1'] } }), []);
  });

  it('can be used in several backends', async () => {
    equal((await reported({}, { backend: { host: ['grpc://a:1', 'GRPC://[::1]:2', 'b'] } })).length, 0);
  });
});
