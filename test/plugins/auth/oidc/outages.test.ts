import { deepEqual, equal, ok } from 'node:assert/strict';
import { rememberingSinks } from '../../../support/gateway.ts';
import { CLIENT } from './provider.ts';
import { OidcStage, SECRET } from './stage.ts';

describe('logins with auth/oidc', () => {
  let stage: OidcStage;

  beforeEach(async () => {
    stage = await OidcStage.open();
  });
  afterEach(() => stage.close());

  const session = '__Host-oidc.main.0';

  it('write neither codes nor tokens to the log', async () => {
    const sinks = rememberingSinks();
    const root = { 'telemetry/logging': { level: 'DEBUG', stdout: true } };
    await stage.serve({ root, options: { sinks, log: true } });
    const browser = stage.browser();
    equal((await browser.open('/a')).status, 200);
    equal((await browser.open('/a')).status, 200);
    const text = sinks.lines.join('\n');
    ok(/\/oidc\/main\/callback\?code=\*\*\*&state=\*\*\*/.test(text), text);
    for (const secret of [SECRET, CLIENT.client_secret, browser.own.get(session)!]) equal(text.includes(secret), false);
  });

  it('are rejected with 503 while the provider is unreachable, and work again afterwards', async () => {
    const sinks = rememberingSinks();
    await stage.serve({ own: { on_failure_allow: true }, options: { sinks } });
    for (const intercept of [
      (_message: unknown, response: { destroy(): void }) => {
        response.destroy();
        return true;
      },
      (_message: unknown, response: import('node:http').ServerResponse) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"issuer":"https://evil.test"}');
        return true;
      },
      (_message: unknown, response: import('node:http').ServerResponse) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(`{"x":"${'x'.repeat(300_000)}"}`);
        return true;
      },
    ]) {
      stage.provider.intercept = intercept;
      deepEqual([(await stage.browser().open('/a')).status, stage.backend.requests.length], [503, 0]);
    }
    stage.provider.intercept = () => false;
    equal((await stage.browser().open('/a')).status, 200);
    ok(sinks.lines.some((line) => line.includes('a request is rejected')));
    for (const secret of [SECRET, CLIENT.client_secret]) equal(sinks.lines.join('\n').includes(secret), false);
  });

  it('are rejected with 503 after the timeout if the provider does not respond', async () => {
    await stage.serve({ provider: { timeout: '50ms' } });
    stage.provider.intercept = () => true;
    equal((await stage.browser().open('/a')).status, 503);
  });

  it('share one request for the metadata of the provider', async () => {
    await stage.serve();
    const responses = await Promise.all(Array.from({ length: 10 }, () => stage.browser().open('/a', { redirects: 0 })));
    deepEqual(new Set(responses.map(({ status }) => status)), new Set([302]));
    equal(stage.count('GET /.well-known/openid-configuration'), 1);
  });
});
