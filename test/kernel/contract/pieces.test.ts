import { deepEqual, equal, ok } from 'node:assert/strict';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ByteStream, Pieces, RequestBody } from '#contract';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heldBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('pieces of a body', () => {
  it('are joined in order, regardless of how they were cut', () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
      return seed % below;
    };
    for (let round = 0; round < 50; round++) {
      const all = Array.from({ length: random(500) }, (_, at) => Buffer.alloc(random(at % 7 ? 40 : 3000), at));
      const pieces = new Pieces();
      for (const piece of all) pieces.add(piece);
      equal(pieces.length, Buffer.concat(all).length);
      deepEqual(Buffer.from(pieces.join()), Buffer.concat(all));
      deepEqual(Buffer.from(pieces.join()), Buffer.concat(all));
    }
  });

  it('are not copied if there is only one', () => {
    const pieces = new Pieces();
    const piece = Buffer.from('one');
    pieces.add(piece);
    equal(pieces.join(), piece);
  });

  it('take little more memory than their bytes, even with one byte each', () => {
    const before = heldBytes();
    const pieces = new Pieces();
    const slab = Buffer.alloc(64_000, 'x');
    for (let at = 0; at < 1_000_000; at++) pieces.add(slab.subarray(at % 64_000, (at % 64_000) + 1));
    const held = heldBytes() - before;
    ok(held < 3_000_000, `${held} bytes`);
    equal(pieces.join().length, 1_000_000);
  });

  it('of requests and replies take little more memory than their bytes while they are collected', async () => {
    const slab = Buffer.alloc(500_000, 'x');
    let most = 0;
    const before = heldBytes();
    let at = 0;
    const sent = new Readable({
      highWaterMark: 100,
      // Pieces as from a socket, some of them in separate turns of the event loop.
      read() {
        if (at === slab.length) most = heldBytes() - before;
        const push = () => this.push(at === slab.length ? null : slab.subarray(at, ++at));
        if (at % 100 === 0) setImmediate(push);
        else push();
      },
    });
    equal((await RequestBody.stream(sent, undefined).bytes()).length, slab.length);
    ok(most < 5_000_000, `${most} bytes of a request`);
    const body = new ByteStream({ resume() {}, cancel() {} });
    const collected = body.collect(1_000_000);
    for (at = 0; at < slab.length; at++) body.write(slab.subarray(at, at + 1));
    most = heldBytes() - before;
    body.end();
    equal((await collected).length, slab.length);
    ok(most < 5_000_000, `${most} bytes of a reply`);
  });
});
