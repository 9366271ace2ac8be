import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import type { BackendConfig, ConfigError, Log } from '#contract';
import { ConfigErrors, silentLog } from '../../../kernel/contract/internal.ts';
import { plugin as dns } from '../../../plugins/discovery/dns.ts';
import { plugin as shared } from '../../../plugins/discovery/dns-shared.ts';
import { plugin as fixed } from '../../../plugins/discovery/static.ts';
import { openDiscovery } from '../../support/discovery.ts';
import { startNameServer, type TestNameServer } from '../../support/dns.ts';
import { startGateway } from '../../support/gateway.ts';

describe('the configuration of service discovery', () => {
  async function refusal(backend: object): Promise<string[]> {
    const config = { version: 3, endpoints: [{ endpoint: '/x', backend: [{ url_pattern: '/', ...backend }] }] };
    const errors: string[] = [];
    await rejects(startGateway(config), (error: unknown) => {
      ok(error instanceof ConfigErrors, String(error));
      errors.push(...error.errors.map(({ code, pointer, hint }) => `${code} ${pointer} ${hint ?? ''}`.trim()));
      return true;
    });
    return errors;
  }

  const at = '/endpoints/0/backend/0';

  it('is rejected if it has an unknown "sd", and the error suggests a similar one', async () => {
    deepEqual(await refusal({ host: ['http://a'], sd: 'statik' }), [`SD_UNKNOWN ${at}/sd did you mean "static"?`]);
    deepEqual(await refusal({ host: ['http://a'], sd: 'dns_shared' }), [
      `SD_UNKNOWN ${at}/sd did you mean "dns-shared"?`,
    ]);
    deepEqual(await refusal({ host: ['http://a'], sd: 'consul' }), [
      `SD_UNKNOWN ${at}/sd one of dns, dns-shared, static`,
    ]);
    deepEqual(await refusal({ host: ['http://a'], sd: '__proto__' }), [
      `SD_UNKNOWN ${at}/sd one of dns, dns-shared, static`,
    ]);
  });

  it('requires a host', async () =>
    deepEqual(await refusal({ sd: 'dns' }), [`BACKEND_HOST ${at} add "host" here or at the root`]));

  for (const sanitised of [true, false]) {
    const where = sanitised ? 'sanitised' : 'verbatim';
    const hosts: Readonly<Record<string, string>> = {
      'a port': 'api.test:8080',
      'a path': 'api.test/v1',
      'an IPv4 address': '10.0.0.1',
      'an IPv6 address': '[::1]',
    };
    for (const [what, host] of Object.entries(hosts)) {
      it(`is rejected if it has ${what} in a ${where} name`, async () => {
        const [error, ...others] = await refusal({ host: [host], sd: 'dns', disable_host_sanitize: !sanitised });
        equal(error!.startsWith(`SD_RECORD ${at}/host/0`), true, error);
        deepEqual(others, []);
      });
    }
  }

  it('is rejected if it has a placeholder in the host name', async () => {
    const config = { host: ['{input_headers.X-A}.test'], sd: 'dns', disable_host_sanitize: true };
    equal((await refusal(config))[0]!.startsWith(`SD_RECORD ${at}/host/0`), true);
  });

  it('suggests the host name without its port', async () => {
    deepEqual(await refusal({ host: ['api.test:80'], sd: 'dns' }), [
      `SD_RECORD ${at}/host/0 "api.test": SRV records provide the port`,
    ]);
  });

  it('is rejected if it has https in the host and another sd_scheme', async () => {
    deepEqual(await refusal({ host: ['https://api.test'], sd: 'dns' }), [
      `SD_SCHEME ${at}/host/0 "sd_scheme": "https"`,
    ]);
  });

  it('is rejected if it has an invalid sd_scheme', async () => {
    for (const scheme of ['', 'https://', 'a b']) {
      deepEqual(await refusal({ host: ['api.test'], sd: 'dns', sd_scheme: scheme }), [
        `SCHEMA_PATTERN ${at}/sd_scheme https`,
      ]);
    }
  });
});

describe('a DNS lookup', () => {
  let names: TestNameServer;
  beforeEach(async () => {
    names = await startNameServer();
    names.zone.set('_http._tcp.api.test', [{ name: 'h.test', port: 8443, weight: 0, priority: 0 }]);
  });
  afterEach(() => names.close());

  it('adds sd_scheme to its hosts', async () => {
    for (const fields of [{ sd_scheme: 'https' }, { sd_scheme: 'https', host: ['https://_http._tcp.api.test'] }]) {
      const harness = await openDiscovery(dns, fields);
      await harness.warm();
      deepEqual(harness.list.current, ['https://h.test:8443']);
      await harness.close();
    }
  });

  it('returns the same array of hosts as long as nothing changes', async () => {
    const harness = await openDiscovery(dns);
    await harness.warm();
    const before = harness.list.current;
    await harness.warm();
    equal(harness.list.current, before);
    await harness.close();
  });

  it('waits for an unresponsive name server no longer than its timeout', async () => {
    names.zone.set('_http._tcp.api.test', 'silent');
    const lines: string[] = [];
    const harness = await openDiscovery(shared, {}, remembering(lines));
    const stop = new AbortController();
    const warmed = harness.warm(stop.signal);
    stop.abort();
    await warmed;
    deepEqual(harness.list.current, []);
    deepEqual(lines, ['SRV lookup of _http._tcp.api.test is slow: no hosts are available until it completes']);
    deepEqual(await harness.close(), { kept: 0, deferred: 0 });
  });

  it('is awaited by each change until that change is canceled', async () => {
    names.zone.set('_http._tcp.api.test', 'silent');
    const harness = await openDiscovery(shared);
    const stop = new AbortController();
    const first = harness.warm(stop.signal);
    let isOver = false;
    const second = harness.warm().then(() => {
      isOver = true;
    });
    stop.abort();
    await first;
    await new Promise(setImmediate);
    equal(isOver, false);
    await harness.close();
    await second;
  });

  it('logs nothing if it is canceled', async () => {
    names.zone.set('_http._tcp.api.test', 'silent');
    const lines: string[] = [];
    const harness = await openDiscovery(dns, {}, remembering(lines));
    const warmed = harness.warm();
    while (names.requested.length === 0) await new Promise(setImmediate);
    await harness.close();
    await warmed;
    deepEqual(lines, []);
  });

  it('causes a warning about hosts that are not looked up and an unused sd_scheme', async () => {
    const warned = async (plugin: typeof dns, fields: Partial<BackendConfig>): Promise<string[]> => {
      const harness = await openDiscovery(plugin, fields);
      const codes = harness.warnings.map(({ code, pointer }: ConfigError) => `${code} ${pointer}`);
      await harness.close();
      return codes;
    };
    deepEqual(await warned(dns, { host: ['a.test', 'b.test'] }), ['SD_HOSTS /host']);
    deepEqual(await warned(fixed, { host: ['http://a'], sd_scheme: 'https' }), ['SD_SCHEME_UNUSED /sd_scheme']);
    deepEqual(await warned(fixed, { host: ['http://a', 'http://b'] }), []);
  });
});

function remembering(lines: string[]): Log {
  const log: Log = { ...silentLog, warning: (text) => void lines.push(String(text)), at: () => log };
  return log;
}
