import { deepEqual } from 'node:assert/strict';
import type { ConfigError } from '#contract';
import { ConfigErrors } from '../../../../kernel/contract/internal.ts';
import { startGateway } from '../../../support/gateway.ts';
import { SHOP } from '../../../support/grpc/server.ts';

describe('the configuration of grpc/server', () => {
  const backend = [{ host: ['http://127.0.0.1:1'], url_pattern: '/x' }];
  const find = { name: 'Find', backend };
  const at = '/extra_config/grpc/server/services';

  /** Errors with their location, or warnings of a valid configuration. */
  const reported = async (services: readonly object[], more: object = {}): Promise<readonly (readonly string[])[]> => {
    const told = (errors: readonly ConfigError[]) =>
      errors.map(({ code, pointer, message }) => [code, pointer.replace(at, ''), message]);
    try {
      const config = { version: 3, extra_config: { grpc: { catalog: [SHOP], server: { services, ...more } } } };
      const gateway = await startGateway(config);
      const { warnings } = gateway.status;
      await gateway.close();
      return told(warnings);
    } catch (error) {
      if (!(error instanceof ConfigErrors)) throw error;
      return told(error.errors);
    }
  };
  const codes = async (...given: Parameters<typeof reported>) =>
    (await reported(...given)).map(([code, pointer]) => `${code} ${pointer}`);

  it('must name services and methods of the catalog', async () => {
    deepEqual(await reported([{ name: 'shop.Shops', methods: [find] }]), [
      ['GRPC_SERVICE', '/0/name', 'the catalog has no service shop.Shops'],
    ]);
    deepEqual(await reported([{ name: 'shop.Shop', methods: [{ ...find, name: 'Fine' }] }]), [
      ['GRPC_METHOD', '/0/methods/0/name', 'the catalog has no method /shop.Shop/Fine'],
    ]);
    deepEqual(await reported([{ name: 'shop.Shop', methods: [find] }]), []);
  });

  it('must contain only unary methods', async () => {
    deepEqual(await reported([{ name: 'shop.Shop', methods: [{ ...find, name: 'Watch' }] }]), [
      [
        'GRPC_METHOD',
        '/0/methods/0/name',
        '/shop.Shop/Watch is a streaming method, but only unary methods can be published',
      ],
    ]);
  });

  it('must not repeat a method, even if its service is listed twice', async () => {
    const twice = [
      { name: 'shop.Shop', methods: [find] },
      { name: 'shop.Shop', methods: [{ ...find, name: 'Echo' }, find] },
    ];
    deepEqual(await codes(twice), ['GRPC_METHOD_TWICE /1/methods/1/name']);
  });

  it('requires a backend for each method', async () => {
    deepEqual(await codes([{ name: 'shop.Shop', methods: [{ name: 'Find', backend: [] }] }]), [
      'SCHEMA_RANGE /0/methods/0/backend',
    ]);
    deepEqual(await codes([{ name: 'shop.Shop', methods: [{ name: 'Find' }] }]), ['SCHEMA_REQUIRED /0/methods/0']);
  });

  it('rejects unknown keys at any level, except comments', async () => {
    const method = { ...find, '@comment': 'x', timeout: '1s' };
    const services = [{ name: 'shop.Shop', '#why': 1, kind: 'x', methods: [method] }];
    deepEqual(await codes(services, { port: 1 }), [
      'SCHEMA_UNKNOWN_KEY /extra_config/grpc/server/port',
      'SCHEMA_UNKNOWN_KEY /0/kind',
      'SCHEMA_UNKNOWN_KEY /0/methods/0/timeout',
    ]);
  });

  it('rejects components at a method other than auth/validator', async () => {
    const extra_config = { 'qos/ratelimit/router': { max_rate: 1 } };
    deepEqual(await codes([{ name: 'shop.Shop', methods: [{ ...find, extra_config }] }]), [
      'PIPE_COMPONENT /0/methods/0/extra_config/qos~1ratelimit~1router',
    ]);
  });

  it('must define all parameters that backends use', async () => {
    const method = {
      ...find,
      payload_params: { name: 'name' },
      backend: [{ ...backend[0], url_pattern: '/x/{nmae}' }],
    };
    deepEqual(await codes([{ name: 'shop.Shop', methods: [method] }]), [
      'ROUTE_PLACEHOLDER /0/methods/0/backend/0/url_pattern',
    ]);
  });

  it('warns about a parameter that is read from an unknown field', async () => {
    const method = { ...find, payload_params: { 'where.latitude': 'a', 'where.lat': 'b' } };
    deepEqual(await codes([{ name: 'shop.Shop', methods: [method] }]), [
      'GRPC_FIELD /0/methods/0/payload_params/where.lat',
    ]);
  });

  it('accepts only valid metadata names as input_headers, each once', async () => {
    deepEqual(await codes([{ name: 'shop.Shop', methods: [{ ...find, input_headers: ['x y'] }] }]), [
      'SCHEMA_PATTERN /0/methods/0/input_headers/0',
    ]);
    deepEqual(await codes([{ name: 'shop.Shop', methods: [{ ...find, input_headers: ['*', 'x-a'] }] }]), []);
  });

  it('checks backends of methods like those of endpoints', async () => {
    const wrong = [{ host: ['a b'], url_pattern: '/x' }];
    deepEqual(await codes([{ name: 'shop.Shop', methods: [{ ...find, backend: wrong }] }]), [
      'HOST_INVALID /0/methods/0/backend/0/host/0',
    ]);
    const lost = [{ url_pattern: '/x' }];
    deepEqual(await codes([{ name: 'shop.Shop', methods: [{ ...find, backend: lost }] }]), [
      'BACKEND_HOST /0/methods/0/backend/0',
    ]);
  });
});
