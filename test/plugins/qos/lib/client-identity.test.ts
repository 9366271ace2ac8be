import { deepEqual, equal } from 'node:assert/strict';
import { HeaderBag, makeRequest } from '#contract';
import { firstAddress, identifyBy } from '../../../../plugins/shared/callers/client-identity.ts';

describe('the client address from a header', () => {
  for (const [list, address] of [
    ['9.9.9.9', '9.9.9.9'],
    [' 9.9.9.9 , 1.1.1.1', '9.9.9.9'],
    ['9.9.9.9:1234', '9.9.9.9'],
    ['2001:db8::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443, 9.9.9.9', '2001:db8::1'],
    ['unknown, 9.9.9.9', ''],
    ['9.9.9.9:http', ''],
    ['[9.9.9.9]', ''],
    ['[2001:db8::1', ''],
    ['[2001:db8::1]x', ''],
    ['[2001:db8::1]:443x', ''],
    ['[x][2001:db8::1]', ''],
    ['x9.9.9.9:1234', ''],
    ['9.9.9.9:1234x', ''],
    [', 9.9.9.9', ''],
    ['999.9.9.9', ''],
    ['fe80::1%eth0', ''],
    ['[fe80::1%eth0]:443', ''],
    ['', ''],
    [undefined, ''],
  ] as const) {
    it(`${list === undefined ? 'without the header' : `"${list}"`} is ${address ?? 'null'}`, () => {
      equal(firstAddress(list), address);
    });
  }
});

describe('the identity of a client', () => {
  for (const [ip, bits, identity] of [
    ['9.9.9.9', 64, '9.9.9.9'],
    ['::ffff:9.9.9.9', 64, '::ffff:9.9.9.9'],
    ['2001:db8:a:b::1', 64, '2001:db8:a:b:'],
    ['2001:DB8:a:b:ffff:1:2:3', 64, '2001:db8:a:b:'],
    ['2001:db8::b:1:2:3:4', 64, '2001:db8:0:b:'],
    ['2001:db8:a:bcde::1', 56, '2001:db8:a:bc00:'],
    ['2001:db8:a:b::1', 12, '2000:'],
    ['::1', 128, '0:0:0:0:0:0:0:1:'],
    ['fe80::1%eth0', 128, 'fe80:0:0:0:0:0:0:1:'],
    ['::', 1, '0:'],
  ] as const) {
    it(`for ${ip} with a prefix of ${bits} bits is ${identity}`, () => {
      equal(identifyBy('ip', '', bits)(makeRequest({ ip })), identity);
    });
  }

  it('is empty if the path parameter is missing', () => {
    const identify = identifyBy('param', 'id');
    deepEqual(
      [{ params: { Id: '7' } }, {}].map((sections) => identify(makeRequest(sections))),
      ['7', ''],
    );
  });

  it("is the connection's address unless a header is configured", () => {
    const request = makeRequest({ ip: '9.9.9.9', headers: new HeaderBag(['X-Real-Ip', '1.1.1.1']) });
    deepEqual([identifyBy('ip', '')(request), identifyBy('ip', 'X-Real-IP')(request)], ['9.9.9.9', '1.1.1.1']);
  });
});
