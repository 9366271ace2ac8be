import { deepEqual, equal, match } from 'node:assert/strict';
import { hashSync } from 'bcryptjs';
import type { Operations } from '#kernel';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { refusalsOf } from '../../support/modules.ts';

describe('the KrakenD plugin "basic-auth"', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;

  before(async () => {
    backend = await startBackend(json({ ok: true }));
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const users = { ada: hashSync('p', 4) };
  const authorization = `Basic ${Buffer.from('ada:p').toString('base64')}`;
  const config = (settings: unknown, more: object = {}, name: unknown = ['basic-auth']) => ({
    host: [backend.url],
    extra_config: { 'plugin/http-server': { name, 'basic-auth': settings }, ...more },
    endpoints: [
      { endpoint: '/a/{id}', backend: [{ url_pattern: '/' }] },
      { endpoint: '/b', backend: [{ url_pattern: '/' }] },
    ],
  });
  const statusesOf = async (headers = {}) => {
    const responses = [await gateway!.inject({ url: '/a/1', headers }), await gateway!.inject({ url: '/b', headers })];
    return responses.map(({ statusCode }) => statusCode);
  };
  const at = '/extra_config/plugin~1http-server';

  for (const [what, settings, refused] of [
    ['every endpoint if it has no list', { users }, [401, 401]],
    ['every endpoint if it lists *', { users, endpoints: ['*'] }, [401, 401]],
    ['listed endpoints only', { users, endpoints: ['/a/{id}'] }, [401, 200]],
    ['no endpoint if its list is empty', { users, endpoints: [] }, [200, 200]],
  ] as const) {
    it(`protects ${what}`, async () => {
      gateway = await startGateway(config(settings));
      deepEqual(await statusesOf(), refused);
      deepEqual(await statusesOf({ authorization }), [200, 200]);
    });
  }

  it('accepts a single name as a string', async () => {
    gateway = await startGateway(config({ users }, {}, 'basic-auth'));
    deepEqual(await statusesOf(), [401, 401]);
  });

  it('causes a warning with the equivalent native configuration', async () => {
    gateway = await startGateway(config({ users }));
    const [warning] = gateway.status.warnings;
    deepEqual([warning?.code, warning?.pointer], ['CONFIG_OLD_PLUGIN', `${at}/basic-auth`]);
    match(warning?.hint ?? '', /"auth\/basic": \{\} to each endpoint/);
  });

  it('does not change existing settings of auth/basic', async () => {
    gateway = await startGateway(config({ users }, { 'auth/basic': { users: { bob: users.ada } } }));
    deepEqual(await statusesOf({ authorization }), [401, 401]);
    equal((await gateway.inject({ url: '/b', headers: { authorization: `Basic ${btoa('bob:p')}` } })).statusCode, 200);
  });

  for (const [what, settings, finding] of [
    ['settings that are not an object', undefined, ['BASIC_FORM', at]],
    ['an invalid list', { users, endpoints: '/b' }, ['BASIC_FORM', `${at}/basic-auth/endpoints`]],
    [
      'an endpoint that does not exist',
      { users, endpoints: ['/c'] },
      ['BASIC_ENDPOINT', `${at}/basic-auth/endpoints/0`],
    ],
  ] as const) {
    it(`is rejected with ${what}`, async () => {
      const [refusal] = await refusalsOf(startGateway(config(settings)));
      deepEqual([refusal?.code, refusal?.pointer], finding);
    });
  }

  it('is rejected without users', async () => {
    const [refusal] = await refusalsOf(startGateway(config({})));
    equal(refusal?.code, 'BASIC_NO_USERS');
  });
});
