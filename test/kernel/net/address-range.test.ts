import { deepEqual, equal, ok } from 'node:assert/strict';
import { addressFamily, addressMatcher, isAddressRange, parseAdminAddress } from '#contract';
import { adminTokenFile } from '../../../kernel/contract/internal.ts';

describe('the family of an IP address, 0 for any other text,', () => {
  for (const [text, family] of [
    ['10.0.0.1', 4],
    ['::1', 6],
    ['fe80::1', 6],
    ['fe80::1%eth0', 0],
    ['10.0.0', 0],
    ['localhost', 0],
    ['', 0],
  ] as const) {
    it(`is ${family}: '${text}'`, () => equal(addressFamily(text), family));
  }
});

describe('a range of IP addresses', () => {
  for (const text of [
    '10.0.0.1',
    '10.0.0.0/8',
    '0.0.0.0/0',
    '10.0.0.1/32',
    '::1',
    '2001:db8::/32',
    '::/0',
    '::1/128',
  ]) {
    it(`can be ${text}`, () => ok(isAddressRange(text)));
  }
  for (const text of [
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    'x10.0.0.1',
    '10.0.0.1x',
    'fe80::1%eth0',
    '',
  ]) {
    it(`cannot be '${text}'`, () => equal(isAddressRange(text), false));
  }

  it('contains exactly the addresses of its network', () => {
    const matches = addressMatcher(['10.0.0.0/8', '192.168.1.7', '2001:db8::/32', '::1']);
    deepEqual(
      ['10.255.0.1', '192.168.1.7', '2001:db8:1::9', '::1'].filter((address) => !matches(address)),
      [],
    );
    deepEqual(['11.0.0.1', '192.168.1.8', '2001:db9::1', '::2'].filter(matches), []);
  });

  it('contains nothing if the list is empty', () => equal(addressMatcher([])('10.0.0.1'), false));
});

describe('the address of an admin port', () => {
  for (const [text, host, port, isLoopback] of [
    ['127.0.0.1:9000', '127.0.0.1', 9000, true],
    ['127.8.9.10:1', '127.8.9.10', 1, true],
    ['localhost:9000', 'localhost', 9000, true],
    ['LOCALHOST:9000', 'LOCALHOST', 9000, true],
    ['[::1]:9000', '::1', 9000, true],
    [':9000', '', 9000, false],
    ['10.0.0.1:9000', '10.0.0.1', 9000, false],
    ['[2001:db8::1]:9000', '2001:db8::1', 9000, false],
    ['not-localhost:9000', 'not-localhost', 9000, false],
    ['localhost.example:9000', 'localhost.example', 9000, false],
    ['127.0.0.1.example:9000', '127.0.0.1.example', 9000, false],
  ] as const) {
    it(`is parsed: ${text}`, () => deepEqual(parseAdminAddress(text), { kind: 'tcp', host, port, isLoopback }));
  }

  it('can be a Unix socket', () => {
    deepEqual(parseAdminAddress('unix:/run/sluice.sock'), { kind: 'unix', path: '/run/sluice.sock' });
  });

  it('can be "off"', () => deepEqual(parseAdminAddress('off'), { kind: 'off' }));

  for (const text of ['', 'offside', '9000', 'localhost', 'unix:relative', '::1:9000', 'localhost:70000', 'a b:1']) {
    it(`cannot be '${text}'`, () => equal(parseAdminAddress(text), null));
  }

  it('determines the name of its token file', () => {
    equal(adminTokenFile('/state', '127.0.0.1:9000'), '/state/admin-127.0.0.1-9000.token');
    equal(adminTokenFile('/state', 'unix:/run/a_b.sock'), '/state/admin-unix--run-a_b.sock.token');
  });
});
