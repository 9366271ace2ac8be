import { deepEqual, equal } from 'node:assert/strict';
import { listenAddress } from '../../../kernel/config/rules/network.ts';
import { parseAdminAddress } from '../../../kernel/contract/admin.ts';
import { ADMIN_ADDRESS_PATTERN, LISTEN_ADDRESS_PATTERN } from '../../../kernel/net/address-pattern.ts';

const hosts = [
  ...[
    '',
    'localhost',
    'a.b-c_d',
    '127.0.0.1',
    '127.1',
    '01.2.3.4',
    '256.1.1.1',
    '1.2.3.4.5',
    'unix:/a b',
    'unix:a',
    'off',
  ],
  ...['::', '::1', 'fe80::1%eth0', 'fe80::1%my_if', 'fe80::1%', '1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8:9', '1::2::3'],
  ...['::ffff:1.2.3.4', '1:2:3:4:5:6:1.2.3.4', '12345::', 'g::', ':1', '1:', '::1.2.3'],
];
const bracketed = hosts.map((host) => `[${host}]`);
const ports = ['', ':', ':0', ':80', ':00080', ':65535', ':65536', ':99999', ':123456', ':8x', ':80\n'];
const texts = [...hosts, ...bracketed].flatMap((host) => ports.map((port) => host + port));

describe('address patterns of the published schema', () => {
  it('match the addresses that the admin port can open', () => {
    const described = new RegExp(ADMIN_ADDRESS_PATTERN);
    deepEqual(
      texts.filter((text) => (parseAdminAddress(text) !== null) !== described.test(text)),
      [],
    );
    equal(texts.filter((text) => described.test(text)).length > 50, true);
  });

  it('match the addresses that the gateway can listen on', () => {
    const described = new RegExp(LISTEN_ADDRESS_PATTERN);
    const refused = texts.filter((listen_ip) => {
      const codes: string[] = [];
      listenAddress({ listen_ip } as never, { error: (code: string) => codes.push(code) } as never, {} as never);
      return codes.length > 0;
    });
    deepEqual(
      refused,
      texts.filter((text) => !described.test(text)),
    );
  });
});
