import { deepEqual, equal, match } from 'node:assert/strict';
import { hashSync } from 'bcryptjs';
import type { Operations } from '#kernel';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { refusalsOf } from '../../support/modules.ts';

describe('the plugin "basic-auth" of the compatible product', () => {
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
    ['every endpoint without a list', { users }, [401, 401]],
    ['every endpoint by an asterisk', { users, endpoints: ['*'] }, [401, 401]],
    ['the endpoints of its list', { users, endpoints: ['/a/{id}'] }, [401, 200]],
    ['none by an empty list', { users, endpoints: [] }, [200, 200]],
  ] as const) {
    it(`protects ${what}`, async () => {
      gateway = await startGateway(config(settings));
      deepEqual(await statusesOf(), refused);
      deepEqual(await statusesOf({ authorization }), [200, 200]);
    });
  }

  it('is read where a single name is a text', async () => {
    gateway = await startGateway(config({ users }, {}, 'basic-auth'));
    deepEqual(await statusesOf(), [401, 401]);
  });

  it('warns of what to write instead', async () => {
    gateway = await startGateway(config({ users }));
    const [warning] = gateway.status.warnings;
    deepEqual([warning?.code, warning?.pointer], ['CONFIG_OLD_PLUGIN', `${at}/basic-auth`]);
    match(warning?.hint ?? '', /"auth\/basic": \{\} at each endpoint/);
  });

  it('leaves existing settings under auth/basic alone', async () => {
    gateway = await startGateway(config({ users }, { 'auth/basic': { users: { bob: users.ada } } }));
    deepEqual(await statusesOf({ authorization }), [401, 401]);
    equal((await gateway.inject({ url: '/b', headers: { authorization: `Basic ${btoa('bob:p')}` } })).statusCode, 200);
  });

  for (const [what, settings, finding] of [
    ['settings that are none', undefined, ['BASIC_FORM', at]],
    ['a list that is none', { users, endpoints: '/b' }, ['BASIC_FORM', `${at}/basic-auth/endpoints`]],
    ['an endpoint that is not there', { users, endpoints: ['/c'] }, ['BASIC_ENDPOINT', `${at}/basic-auth/endpoints/0`]],
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
