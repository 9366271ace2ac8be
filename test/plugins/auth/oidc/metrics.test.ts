import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { Call } from '#contract';
import { Undecided } from '../../../../plugins/auth/lib/undecided.ts';
import { Discovery } from '../../../../plugins/auth/oidc/discovery.ts';
import { freePort } from '../../../support/conditions.ts';
import { rememberingLog } from '../../../support/log.ts';
import { CLIENT } from './provider.ts';
import { OidcStage } from './stage.ts';

describe('the metrics of auth/oidc', () => {
  it('count requests, logins and logouts', async () => {
    const stage = await OidcStage.open();
    try {
      const port = await freePort();
      const prometheus = [{ name: 'local', port, listen_ip: '127.0.0.1' }];
      const root = { 'telemetry/opentelemetry': { exporters: { prometheus } } };
      await stage.serve({ root });
      const browser = stage.browser();
      await browser.open('/a');
      await browser.open('/a');
      await browser.open('/oidc/main/callback');
      await browser.open('/oidc/main/logout', { redirects: 0 });
      await stage.gateway.listen();
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      const values = Object.fromEntries(
        [...text.matchAll(/^oidc_(?:requests|logins)\w*(\{[^}]*\}) (\d+)/gm)].map(([, labels, value]) => [
          labels,
          value,
        ]),
      );
      deepEqual(values, {
        '{endpoint="/a",result="cached"}': '2',
        '{endpoint="/a",result="missing"}': '1',
        '{provider="main",event="login",result="completed"}': '1',
        '{provider="main",event="login",result="invalid"}': '1',
        '{provider="main",event="logout",result="denied"}': '1',
      });
    } finally {
      await stage.close();
    }
  });
});

describe('the metadata of a provider', () => {
  it('is refreshed after discovery_ttl, and remains in use while the provider is unreachable', async () => {
    let time = 0;
    let requests = 0;
    let isDown = true;
    const issuer = new URL('https://id.test');
    const log = rememberingLog();
    const discovery = new Discovery({
      config: { name: 'main', ...CLIENT, client_auth_method: 'none', discovery_ttl: 1000 } as never,
      issuer,
      now: () => time,
      log,
      async fetch() {
        requests++;
        if (isDown) throw new Undecided('refused', true);
        return Response.json({ issuer: issuer.href, authorization_endpoint: 'https://id.test/auth' });
      },
    });
    const call = new Call();
    await rejects(discovery.client(call));
    isDown = false;
    const known = await discovery.client(call);
    time = 999;
    equal(await discovery.client(call), known);
    equal(requests, 2);
    time = 1000;
    const renewed = await discovery.client(call);
    ok(renewed !== known);
    isDown = true;
    time = 2000;
    equal(await discovery.client(call), renewed);
    equal(await discovery.client(call), renewed);
    equal(requests, 4);
    ok(log.lines[0]!.startsWith('WARNING the metadata of provider "main" is not refreshed'));
    time = 32_000;
    isDown = false;
    ok((await discovery.client(call)) !== renewed);
    call.finish();
  });
});
