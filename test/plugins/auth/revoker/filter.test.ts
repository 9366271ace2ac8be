import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { BloomFilter } from '../../../../plugins/auth/revoker/bloom-filter.ts';
import { indexer } from '../../../../plugins/auth/revoker/hashes.ts';
import { checkPacked, Mismatch, partsOf } from '../../../../plugins/auth/revoker/packed-set.ts';
import { indicesFor, Revocations } from '../../../../plugins/auth/revoker/revocations.ts';
import { bitsFor, type Sizing } from '../../../../plugins/auth/revoker/sizing.ts';

describe('the Bloom filter of auth/revoker', () => {
  // Generated with the Go packages hash/fnv, hash/crc64, crypto/md5 and crypto/sha1.
  describe('has the standard size and hashes, so that other implementations can read it', () => {
    for (const [n, p, bits, optimal, common] of [
      [
        1000,
        1e-6,
        28756,
        '9464 777 3754 23823 15136 18113 9426 739 3716 23785 26762 18075 9388 12365 3678 23747 26724 18037 9350 12327',
        '26165 20581 15454 23944 11593 219 9464 2977',
      ],
      [
        10_000_000,
        1e-7,
        335477044,
        '321077792 48087809 135235130 197722191 260209252 11879529 74366590 136853651 224000972 286488033 38158310 100645371 163132432 250279753 312766814 39776831 126924152 189411213 251898274 3568551 66055612 153202933 215689994 278177055',
        '316262533 183091917 13436106 93925444 66325981 117878203 321077792 87147321',
      ],
      [1, 0.5, 2, '0 1', '1 1 0'],
    ] as const) {
      it(`for ${n} elements and a false positive rate of ${p}`, () => {
        const size = { n, p, ttl: 60 };
        equal(bitsFor(size), bits);
        deepEqual([...indicesFor({ ...size, hash: 'optimal' })('jti-abc')].join(' '), optimal);
        deepEqual([...indicesFor({ ...size, hash: 'default' })('jti-abc')].join(' '), common);
      });
    }

    for (const [element, first] of [
      ['', '4756288320993452652'],
      ['sub-jimmy', '13092249433761546744'],
      ['sub-ä😀', '6533187264263010896'],
    ] as const) {
      it(`for ${JSON.stringify(element)} with 64-bit hashes`, () => {
        for (const bits of [97, 2 ** 31, 2 ** 32]) {
          equal(indexer('optimal', bits, 1)(element)[0], Number(BigInt(first) % BigInt(bits)));
        }
      });
    }
  });

  it('contains all added elements and reports few others', () => {
    const size: Sizing = { n: 2000, p: 0.01, hash: 'optimal', ttl: 60 };
    for (const hash of ['optimal', 'default'] as const) {
      const indicesOf = indicesFor({ ...size, hash });
      const filter = new BloomFilter(bitsFor(size));
      for (let at = 0; at < size.n; at++) filter.add(indicesOf(`jti-${at}`));
      let wrong = 0;
      for (let at = 0; at < size.n; at++) {
        ok(filter.has(indicesOf(`jti-${at}`)));
        if (filter.has(indicesOf(`sub-${at}`))) wrong++;
      }
      ok(wrong < size.n * 0.03, `${wrong} of ${size.n}`);
    }
  });

  it('uses no memory while it is empty', () => {
    equal(new BloomFilter(2 ** 32).bytes, null);
    equal(new BloomFilter(2 ** 32).has(new Uint32Array([2 ** 32 - 1])), false);
  });

  it('sets and reads bits up to the last one', () => {
    const filter = new BloomFilter(2 ** 20);
    const indices = new Uint32Array([2 ** 20 - 1, 0, 31, 32]);
    filter.add(indices);
    equal(filter.has(indices), true);
    equal(filter.has(new Uint32Array([1])), false);
    equal(filter.set, 4);
  });

  describe('over time', () => {
    const size: Sizing = { n: 1000, p: 1e-6, hash: 'optimal', ttl: 60 };
    const indices = indicesFor(size)('jti-abc');

    it('drops elements two to three rotations after they were added', () => {
      const revocations = new Revocations(size, 0);
      revocations.add([indices], 5000);
      for (const seconds of [5, 59, 90, 150, 179.999])
        equal(revocations.has(indices, seconds * 1000), true, `${seconds}`);
      equal(revocations.has(indices, 180_000), false);
    });

    it('drops all elements after a long idle time and continues to rotate', () => {
      const revocations = new Revocations(size, 0);
      revocations.add([indices], 0);
      equal(revocations.has(indices, 1e9), false);
      revocations.add([indices], 1e9 + 1);
      equal(revocations.has(indices, 1e9 + 60_000), true);
      equal(revocations.has(indices, 1e9 + 181_000), false);
    });

    it('accepts duplicate elements', () => {
      const revocations = new Revocations(size, 0);
      revocations.add([indices], 0);
      const { capacity } = revocations;
      revocations.add([indices, indices], 0);
      equal(revocations.capacity, capacity);
    });
  });

  describe('serialized', () => {
    const size: Sizing = { n: 1000, p: 1e-6, hash: 'optimal', ttl: 60 };
    const indicesOf = indicesFor(size);

    const unite = async (to: Revocations, from: Uint8Array, now: number, sizing = size) => {
      for await (const part of partsOf([from], sizing)) to.unite(part, now);
    };

    it("can be merged into another filter, and keeps each element's expiration window", async () => {
      const [one, other] = [new Revocations(size, 0), new Revocations(size, 0)];
      one.add([indicesOf('a')], 0);
      other.add([indicesOf('b')], 61_000);
      await unite(other, await one.pack(61_000), 61_000);
      equal(other.has(indicesOf('a'), 61_000) && other.has(indicesOf('b'), 61_000), true);
      equal(other.has(indicesOf('a'), 179_000), true);
      equal(other.has(indicesOf('a'), 181_000), false);
      equal(other.has(indicesOf('b'), 181_000), true);
    });

    it('can be merged in chunks while elements are added and windows rotate', async () => {
      const large: Sizing = { ...size, n: 100_000 };
      const indicesOfLarge = indicesFor(large);
      const [one, other] = [new Revocations(large, 0), new Revocations(large, 0)];
      one.add([indicesOfLarge('a')], 0);
      other.beginUnion(59_000);
      let now = 59_000;
      let parts = 0;
      for await (const part of partsOf([await one.pack(59_000)], large)) {
        other.unite(part, now);
        parts++;
        now = 61_000;
        other.add([indicesOfLarge(`b${parts}`)], now);
      }
      other.endUnion();
      ok(parts > 4, `${parts}`);
      equal(other.has(indicesOfLarge('a'), 61_000), true);
      equal(other.has(indicesOfLarge('a'), 179_000), true);
      equal(other.has(indicesOfLarge('a'), 181_000), false);
      for (let part = 1; part <= parts; part++) equal(other.has(indicesOfLarge(`b${part}`), 181_000), true);
    });

    it('can be read in chunks of any size', async () => {
      for (const ttl of [6, 60, 600, 6000]) {
        const sizing = { ...size, ttl };
        const [one, other] = [new Revocations(sizing, 0), new Revocations(sizing, 0)];
        one.add([indicesOf('a')], 0);
        await unite(other, await one.pack(0), 0, sizing);
        equal(other.has(indicesOf('a'), 0), true, `TTL ${ttl}`);
      }
    });

    it('is complete for another process, at any byte offset in a message', () => {
      const [one, other] = [new Revocations(size, 0), new Revocations(size, 0)];
      one.add([indicesOf('a')], 0);
      const sections = one.sections(0);
      const message = new Uint8Array(sections.length + 1);
      message.set(sections, 1);
      other.unite(message.subarray(1), 0);
      equal(other.has(indicesOf('a'), 0), true);
      equal(other.capacity, one.capacity);
    });

    it('is empty for an empty filter', async () => {
      const empty = new Revocations(size, 0);
      equal(empty.sections(0).length, 0);
      ok((await empty.pack(0)).length < 200);
    });

    const packed = (head: object | string, ...rest: Uint8Array[]) => {
      const text = Buffer.from(typeof head === 'string' ? head : JSON.stringify(head));
      const length = Buffer.alloc(4);
      length.writeUInt32BE(text.length);
      return gzipSync(Buffer.concat([length, text, ...rest]));
    };
    const bytes = new Uint8Array(Math.ceil(28756 / 32) * 4);

    for (const [what, message] of [
      ['data that is not gzip', Buffer.from('abc')],
      ['nothing', gzipSync('')],
      ['a header longer than the message', gzipSync(Buffer.from([255, 255, 255, 255]))],
      ['a header that is not valid JSON', packed('{')],
      ['a header that is not an object', packed('[]')],
      ['another N', packed({ ...size, n: 1001, filled: [false, false, false] })],
      ['another P', packed({ ...size, p: 1e-5, filled: [false, false, false] })],
      ['another hash', packed({ ...size, hash: 'default', filled: [false, false, false] })],
      ['another TTL', packed({ ...size, ttl: 61, filled: [false, false, false] })],
      ['a header without filters', packed({ ...size })],
      ['a header with four filters', packed({ ...size, filled: [true, true, true, true] }, bytes, bytes, bytes, bytes)],
      ['a missing filter', packed({ ...size, filled: [true, true, false] }, bytes)],
      ['an oversized filter', packed({ ...size, filled: [true, false, false] }, bytes, new Uint8Array(1))],
      ['more data than the header declares', gzipSync(Buffer.alloc(64 * 1024 * 1024))],
    ] as const) {
      it(`is rejected if it has ${what}`, async () => {
        await rejects(checkPacked([message], size), Mismatch);
      });
    }
  });
});
