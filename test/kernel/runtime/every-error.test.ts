import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { createGateway, type Gateway } from '../../../kernel/sluice.ts';
import { rememberingSinks } from '../../support/gateway.ts';

const sound = { endpoint: '/sound', backend: [{ url_pattern: '/', host: ['http://backend.test'] }] };
const service = (endpoints: readonly object[], fields: object = {}) => ({ version: 3, endpoints, ...fields });
const withSchema = (pattern: string) => ({
  ...sound,
  extra_config: { 'validation/json-schema': { pattern } },
});

describe('a rejected reload', () => {
  let gateway: Gateway;
  beforeEach(async () => {
    gateway = await createGateway(service([sound]) as never, { sinks: rememberingSinks() });
  });
  afterEach(() => gateway.close());

  const refusal = async (document: object): Promise<ConfigErrors> => {
    let refused: unknown;
    await rejects(gateway.reload(document), (error) => {
      refused = error;
      return true;
    });
    ok(refused instanceof ConfigErrors);
    return refused;
  };

  it('reports errors of the structure and of components together', async () => {
    const { errors } = await refusal(service([withSchema('(')], { timeuot: '3s' }));
    deepEqual(
      errors.map(({ code }) => code),
      ['SCHEMA_UNKNOWN_KEY', 'PATTERN_INVALID'],
    );
  });

  it('reports errors of endpoints after an invalid one with correct pointers', async () => {
    const { errors } = await refusal(service([{ endpoint: '/broken' }, withSchema('[')]));
    deepEqual(
      errors.map(({ pointer }) => pointer),
      ['/endpoints/0', '/endpoints/1/extra_config/validation~1json-schema/pattern'],
    );
  });

  it('reports an error once, even if a component fails because of it', async () => {
    const host = ['http://users internal'];
    const { errors } = await refusal(service([{ endpoint: '/a', backend: [{ url_pattern: '/', sd: 'dns', host }] }]));
    deepEqual(
      errors.map(({ code }) => code),
      ['HOST_INVALID'],
    );
  });

  it('is not confused with an unchanged configuration if its valid part equals the active one', async () => {
    await refusal(service([sound, { endpoint: '/broken' }]));
    equal(gateway.status.revision, 1);
  });
});
