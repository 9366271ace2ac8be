import { equal, rejects } from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import type { Operations } from '#kernel';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { socketAddress } from '../../../kernel/server/request/client-ip.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';

describe('the client’s address', () => {
  let backend: TestBackend;
  let gateway: Operations;

  before(async () => {
    backend = await startBackend(json({}));
  });
  after(() => backend.close());
  afterEach(() => gateway.close());

  /** The address that the backend receives for a request from `from`. */
  const addressOf = async (
    router: object,
    headers: Record<string, string | string[]>,
    from = '10.0.0.1',
  ): Promise<string | string[] | undefined> => {
    gateway = await startGateway({
      host: [backend.url],
      endpoints: [{ endpoint: '/x', backend: [{ url_pattern: '/' }] }],
      extra_config: { router },
    });
    await gateway.inject({ url: '/x', headers, remoteAddress: from });
    return backend.requests.at(-1)!.headers['x-forwarded-for'];
  };
  const proxies = { forwarded_by_client_ip: true, trusted_proxies: ['10.0.0.0/8', '::1', 'fd00::/8'] };
  const forwarded = (value: string | string[]) => ({ 'x-forwarded-for': value });

  const cases: [
    title: string,
    router: object,
    headers: Record<string, string | string[]>,
    expected: string,
    from?: string,
  ][] = [
    ['is the address of the connection if no proxy is trusted', {}, forwarded('1.1.1.1'), '10.0.0.1'],
    [
      'is the address of the connection if forwarding headers are disabled',
      { trusted_proxies: ['10.0.0.0/8'] },
      forwarded('1.1.1.1'),
      '10.0.0.1',
    ],
    [
      'is the address of the connection if that is not a trusted proxy',
      proxies,
      forwarded('1.1.1.1'),
      '9.9.9.9',
      '9.9.9.9',
    ],
    ['is the first untrusted address from the right', proxies, forwarded('6.6.6.6, 1.1.1.1, 10.2.3.4'), '1.1.1.1'],
    ['is the leftmost address if all are trusted', proxies, forwarded('10.9.9.9, 10.2.3.4'), '10.9.9.9'],
    [
      'is read from all values of a repeated header, joined to one list',
      proxies,
      forwarded(['1.1.1.1', '6.6.6.6, 10.2.3.4']),
      '6.6.6.6',
    ],
    [
      'can also come from the first of several headers with one name',
      proxies,
      forwarded(['6.6.6.6', '10.2.3.4']),
      '6.6.6.6',
    ],
    ['does not come from a header with an invalid address', proxies, forwarded('1.1.1.1, evil'), '10.0.0.1'],
    ['does not come from a header with an IPv6 zone', proxies, forwarded('1.1.1.1, fe80::1%eth0'), '10.0.0.1'],
    ['does not come from a header with an empty item', proxies, forwarded('1.1.1.1,'), '10.0.0.1'],
    [
      'comes from the next header if one is invalid',
      proxies,
      { ...forwarded('evil'), 'x-real-ip': '2.2.2.2' },
      '2.2.2.2',
    ],
    [
      'comes from the first header that has one',
      proxies,
      { ...forwarded('1.1.1.1'), 'x-real-ip': '2.2.2.2' },
      '1.1.1.1',
    ],
    [
      'comes from the configured headers in any letter case',
      { ...proxies, remote_ip_headers: ['CF-Connecting-IP'] },
      { ...forwarded('1.1.1.1'), 'cf-connecting-ip': '3.3.3.3' },
      '3.3.3.3',
    ],
    ['may be an IPv6 address', proxies, forwarded('2001:db8::1, fd00::2'), '2001:db8::1', '::1'],
    [
      'is written as IPv4 if an IPv4 client connects to an IPv6 socket',
      proxies,
      forwarded('1.1.1.1'),
      '1.1.1.1',
      '::ffff:10.0.0.1',
    ],
    ['is written as IPv4 without a proxy, too', {}, {}, '10.0.0.1', '::ffff:10.0.0.1'],
    [
      'comes from App Engine’s header first with app_engine',
      { app_engine: true, ...proxies },
      { 'x-appengine-remote-addr': '4.4.4.4', ...forwarded('1.1.1.1') },
      '4.4.4.4',
    ],
    [
      'comes from the forwarding headers if App Engine’s header is not an address',
      { app_engine: true, ...proxies },
      { 'x-appengine-remote-addr': 'evil', ...forwarded('1.1.1.1') },
      '1.1.1.1',
    ],
    ['is the address of the connection with app_engine and without headers', { app_engine: true }, {}, '10.0.0.1'],
    [
      'does not come from another header with a name of the same length',
      proxies,
      { 'x-forwarded-abc': '1.1.1.1', 'x-real-xy': '2.2.2.2' },
      '10.0.0.1',
    ],
    [
      'does not come from App Engine’s header without app_engine',
      {},
      { 'x-appengine-remote-addr': '4.4.4.4' },
      '10.0.0.1',
    ],
  ];
  for (const [title, router, headers, expected, from] of cases) {
    it(title, async () => {
      equal(await addressOf(router, headers, from), expected);
    });
  }

  it('is empty for a request whose connection is lost', () => {
    equal(socketAddress({ socket: null } as unknown as IncomingMessage), '');
  });

  it('depends on proxies: a setting without effect causes a warning, and an invalid proxy address is rejected', async () => {
    for (const router of [{ forwarded_by_client_ip: true }, { trusted_proxies: ['10.0.0.1'] }]) {
      gateway = await startGateway({ extra_config: { router } });
      equal(gateway.status.warnings.length > 0, true, JSON.stringify(router));
    }
    for (const entry of ['localhost', 'fe80::1%eth0', '10.0.0.0/33', '10.0.0.0/', '1.2.3', 'fd00::/129']) {
      const faulty = startGateway({
        extra_config: { router: { forwarded_by_client_ip: true, trusted_proxies: [entry] } },
      });
      await rejects(faulty, ConfigErrors, entry);
    }
  });
});
