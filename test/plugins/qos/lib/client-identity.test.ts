import { equal } from 'node:assert/strict';
import { firstAddress } from '../../../../plugins/qos/lib/client-identity.ts';

describe('address in a header', () => {
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
    ['999.9.9.9', ''],
    ['fe80::1%eth0', ''],
    ['[fe80::1%eth0]:443', ''],
    ['', ''],
    [undefined, ''],
  ] as const) {
    it(`${list === undefined ? 'without the header' : `"${list}"`} ${address ? `is ${address}` : 'is none'}`, () => {
      equal(firstAddress(list), address);
    });
  }
});
