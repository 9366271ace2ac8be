import { equal } from 'node:assert/strict';
import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { derOf } from '../../../../plugins/clients/keys/ecdsa-signature.ts';

describe('an ECDSA signature in DER', () => {
  const bytes = (...values: number[]) => Uint8Array.of(...values);
  const asHex = (signature: Uint8Array) => Buffer.from(derOf(signature)).toString('hex');

  it('contains both integers without leading zeros', () => {
    equal(asHex(bytes(0, 0, 1, 0, 2, 3)), '3007020101' + '02020203');
  });

  it('contains a zero byte before an integer whose first bit is set', () => {
    equal(asHex(bytes(0x80, 1, 0x7f, 0xff)), '3009' + '0203008001' + '02027fff');
  });

  it('contains one byte for the integer zero', () => {
    equal(asHex(bytes(0, 0, 0, 0)), '3006' + '020100' + '020100');
  });

  it('contains long lengths in two bytes', () => {
    equal(asHex(new Uint8Array(132).fill(0xff)).slice(0, 12), '30818a024300');
  });

  for (const [namedCurve, hash] of [
    ['P-256', 'sha256'],
    ['P-384', 'sha384'],
    ['P-521', 'sha512'],
  ] as const) {
    it(`is accepted by OpenSSL with the curve ${namedCurve}`, () => {
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve });
      for (let round = 0; round < 50; round++) {
        const data = Buffer.from(`data ${round}`);
        const signature = sign(hash, data, { key: privateKey, dsaEncoding: 'ieee-p1363' });
        equal(verify(hash, data, publicKey, derOf(signature)), true);
        signature[signature.length - 1]! ^= 1;
        equal(verify(hash, data, publicKey, derOf(signature)), false);
      }
    });
  }
});
