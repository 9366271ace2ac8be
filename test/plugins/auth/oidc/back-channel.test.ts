import { deepEqual, equal } from 'node:assert/strict';
import { Call, HeaderBag, makeRequest, RequestBody } from '#contract';
import { BackChannel } from '../../../../plugins/auth/oidc/back-channel.ts';
import type { Provider } from '../../../../plugins/auth/oidc/provider.ts';
import type { Sessions } from '../../../../plugins/auth/oidc/sessions.ts';
import { until } from '../../../support/conditions.ts';
import { rememberingLog } from '../../../support/log.ts';
import { CLIENT, startProvider, type TestProvider } from './provider.ts';
import { base } from './stage.ts';

describe('a back-channel logout of auth/oidc', () => {
  let provider: TestProvider;

  before(async () => {
    provider = await startProvider(base);
  });
  after(() => provider.close());

  it('ends the sessions even if the provider disconnects before the response', async () => {
    const ended: string[] = [];
    const log = rememberingLog();
    const client = new Call(log, 60_000);
    const sessions: Partial<Sessions> = {
      isFirst: async () => true,
      forget: async () => {},
      async deleteAll(_kind, value, call) {
        client.cancel();
        await new Promise(setImmediate);
        if (call.reason) throw call.reason;
        ended.push(value);
      },
    };
    const metadata = { issuer: provider.issuer, jwks_uri: `${provider.issuer}/jwks` };
    const own = {
      ...{ sessions, fetch, config: { client_id: CLIENT.client_id } },
      discovery: { client: async () => ({ serverMetadata: () => metadata }) },
    };
    const token = await provider.sign(
      {
        ...{ iss: provider.issuer, aud: CLIENT.client_id, jti: 'a', sub: 'ada' },
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      },
      { typ: 'logout+jwt' },
    );
    const request = makeRequest({
      method: 'POST',
      headers: new HeaderBag(['Content-Type', 'application/x-www-form-urlencoded']),
      body: RequestBody.of(`logout_token=${token}`),
    });
    const channel = new BackChannel(own as unknown as Provider, log);
    equal(await channel.logOut(request, client).then(() => '', String), String(client.reason));
    await until(() => ended.length > 0);
    deepEqual(ended, ['ada']);
  });
});
