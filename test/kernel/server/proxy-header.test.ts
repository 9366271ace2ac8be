import { deepEqual, equal, match } from 'node:assert/strict';
import { LONGEST_HEADER, parseProxyHeader } from '../../../kernel/server/port/proxy-header.ts';
import { binaryHeader } from '../../support/proxy-header.ts';

const ip4 = [203, 0, 113, 7, 10, 0, 0, 1, 0x1f, 0x90, 0, 80];
const ip6 = [
  ...[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
  ...[0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2],
  ...[0x1f, 0x90, 0, 80],
];

describe('a PROXY protocol header', () => {
  const valid: [title: string, header: Buffer, client: object | null][] = [
    [
      'of version 1 contains the IPv4 address of a client',
      Buffer.from('PROXY TCP4 203.0.113.7 10.0.0.1 8080 80\r\n'),
      { address: '203.0.113.7', port: 8080, family: 'IPv4' },
    ],
    [
      'of version 1 contains the IPv6 address of a client, which is normalized',
      Buffer.from('PROXY TCP6 2001:DB8:0:0:0:0:0:1 fd00::2 8080 80\r\n'),
      { address: '2001:db8::1', port: 8080, family: 'IPv6' },
    ],
    ['of version 1 can have an unknown client', Buffer.from('PROXY UNKNOWN\r\n'), null],
    ['of version 1 can have an unknown client with addresses', Buffer.from('PROXY UNKNOWN ff::1 ff::1 1 2\r\n'), null],
    [
      'of version 2 contains the IPv4 address of a client',
      binaryHeader(0x21, 0x11, ip4),
      { address: '203.0.113.7', port: 8080, family: 'IPv4' },
    ],
    [
      'of version 2 contains the IPv6 address of a client',
      binaryHeader(0x21, 0x21, ip6),
      { address: '2001:db8::1', port: 8080, family: 'IPv6' },
    ],
    [
      'of version 2 can have extensions, which are skipped, whatever they contain',
      binaryHeader(0x21, 0x11, [...ip4, 0x01, 0, 2, 104, 50, 0x02, 0xff, 0xff, 0]),
      { address: '203.0.113.7', port: 8080, family: 'IPv4' },
    ],
    ['of version 2 with the command LOCAL has no client', binaryHeader(0x20, 0x11, ip4), null],
    ['of version 2 with the command LOCAL may have any family', binaryHeader(0x20, 0xff, [1, 2, 3]), null],
    ['of version 2 without a family has no client', binaryHeader(0x21, 0x00, []), null],
    ['of version 2 with Unix addresses has no client', binaryHeader(0x21, 0x31, Array(216).fill(0)), null],
  ];
  for (const [title, header, client] of valid) {
    it(title, () => {
      const rest = Buffer.from('GET / HTTP/1.1\r\n');
      deepEqual(parseProxyHeader(Buffer.concat([header, rest])), { length: header.length, client });
      for (let length = 0; length < header.length; length++) {
        equal(parseProxyHeader(header.subarray(0, length)), null, `after ${length} bytes`);
      }
    });
  }

  const line = 'the version 1 header is malformed';
  const invalid: [title: string, bytes: Buffer | string, reason: string | RegExp][] = [
    ['is missing before a request', 'GET / HTTP/1.1\r\n\r\n', /does not begin with/],
    ['is missing before a TLS handshake', Buffer.from([0x16, 3, 1, 2, 0]), /does not begin with/],
    [
      'differs from the signature in the last byte',
      Buffer.from('\r\n\r\n\0\r\nQUIT\r', 'latin1'),
      /does not begin with/,
    ],
    ['is in lowercase', 'proxy tcp4 1.1.1.1 2.2.2.2 1 2\r\n', /does not begin with/],
    ['has an address with a leading zero', 'PROXY TCP4 1.1.1.01 2.2.2.2 1 2\r\n', line],
    ['has an address of another family', 'PROXY TCP4 ::1 ::1 1 2\r\n', line],
    ['has a target of another family', 'PROXY TCP6 ::1 1.1.1.1 1 2\r\n', line],
    ['has an address with a zone', 'PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n', line],
    ['has a port above 65535', 'PROXY TCP4 1.1.1.1 2.2.2.2 65536 2\r\n', line],
    ['has a target port above 65535', 'PROXY TCP4 1.1.1.1 2.2.2.2 1 99999\r\n', line],
    ['has a negative port', 'PROXY TCP4 1.1.1.1 2.2.2.2 -1 2\r\n', line],
    ['has two spaces', 'PROXY TCP4  1.1.1.1 2.2.2.2 1 2\r\n', line],
    ['has an unknown family', 'PROXY UDP4 1.1.1.1 2.2.2.2 1 2\r\n', line],
    ['has text after its ports', 'PROXY TCP4 1.1.1.1 2.2.2.2 1 2 3\r\n', line],
    ['has a line feed alone', `PROXY TCP4 1.1.1.1 2.2.2.2 1 2\n${'x'.repeat(100)}`, 'the version 1 header is too long'],
    ['has more than 107 bytes in version 1', `PROXY UNKNOWN ${'x'.repeat(93)}`, 'the version 1 header is too long'],
    ['has another version', binaryHeader(0x11, 0x11, ip4), /unknown version or command/],
    ['has another command', binaryHeader(0x22, 0x11, ip4), /unknown version or command/],
    ['has datagrams as its transport', binaryHeader(0x21, 0x12, ip4), /unsupported address family or transport/],
    ['has an unknown family in version 2', binaryHeader(0x21, 0x41, ip4), /unsupported address family or transport/],
    ['is shorter than its IPv4 addresses', binaryHeader(0x21, 0x11, ip4.slice(1)), /too short for its addresses/],
    ['is shorter than its IPv6 addresses', binaryHeader(0x21, 0x21, ip4), /too short for its addresses/],
    ['is shorter than its Unix addresses', binaryHeader(0x21, 0x31, ip6), /too short for its addresses/],
    [
      `announces more than ${LONGEST_HEADER} bytes, before they arrive`,
      binaryHeader(0x21, 0x11, [], LONGEST_HEADER - 15),
      'the version 2 header is longer than 4096 bytes',
    ],
  ];
  for (const [title, bytes, reason] of invalid) {
    it(`is rejected if it ${title}`, () => {
      const result = parseProxyHeader(Buffer.from(bytes as string));
      if (typeof reason === 'string') equal(result, reason);
      else match(String(result), reason);
    });
  }

  it('may have 4096 bytes', () => {
    const header = binaryHeader(0x21, 0x11, [...ip4, ...Array<number>(LONGEST_HEADER - 28).fill(0)]);
    equal((parseProxyHeader(header) as { length: number }).length, LONGEST_HEADER);
  });
});
