import { deepEqual, equal, throws } from 'node:assert/strict';
import { plugin } from '../../../plugins/encoding/eventstream.ts';
import { frame, header, rawFrame, sized } from './frames.ts';
import { everyCut, rewrite, same, without } from './stream-support.ts';

const json = { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' };
const plain = { ':event-type': 'chunk', ':content-type': 'text/plain' };

describe('encoding/eventstream', () => {
  it('rewrites JSON payloads and updates the lengths and checksums of the frame', () => {
    deepEqual(rewrite(plugin, [frame(json, '{"a": 1, "secret": 2}')], without('secret')), frame(json, '{"a":1}'));
  });

  it('leaves payloads of other types, and JSON values other than objects, unchanged', () => {
    const stream = Buffer.concat([frame(plain, '{"secret":1}'), frame(json, '[ 1 ]'), frame({}, ''), frame(json, '')]);
    deepEqual(rewrite(plugin, [stream], without('secret')), stream);
  });

  it('decodes a stream identically for any split into chunks', () => {
    const stream = Buffer.concat([frame(json, '{"é":1,"secret":2}'), frame(plain, 'x'), frame(json, '{"b":2}')]);
    const whole = Buffer.concat([frame(json, '{"é":1}'), frame(plain, 'x'), frame(json, '{"b":2}')]);
    for (const chunks of everyCut(stream)) deepEqual(rewrite(plugin, chunks, without('secret')), whole);
  });

  it('recognizes a content type with parameters and in any letter case', () => {
    const headers = { ':content-type': 'Application/JSON; charset=utf-8' };
    deepEqual(rewrite(plugin, [frame(headers, '{"secret":1,"a":1}')], without('secret')), frame(headers, '{"a":1}'));
  });

  it('finds the content type among headers of all types', () => {
    const sizes = [0, 0, 1, 2, 4, 8, 'sized', 'sized', 8, 16] as const;
    const headers = Buffer.concat([
      ...sizes.map((size, type) => header(`h${type}`, type, size === 'sized' ? sized('abc') : Buffer.alloc(size, 7))),
      header(':content-type', 7, sized('application/json')),
    ]);
    deepEqual(
      rewrite(plugin, [rawFrame(headers, '{"secret":1,"a":1}')], without('secret')),
      rawFrame(headers, '{"a":1}'),
    );
  });

  it('drops a frame that was rejected or is empty after filtering', () => {
    const stream = [frame(json, '{"secret":1}'), frame(json, '{"a":1}')];
    deepEqual(rewrite(plugin, stream, without('secret')), frame(json, '{"a":1}'));
    equal(rewrite(plugin, stream, () => null).length, 0);
  });

  it('forwards a frame as soon as it is complete', () => {
    const out: number[] = [];
    const reader = plugin.encodings![0]!.messages!.open(same, (bytes) => out.push(bytes.length));
    const bytes = frame(json, '{"a":1}');
    reader.write(bytes.subarray(0, -1));
    deepEqual(out, []);
    reader.write(bytes.subarray(-1));
    deepEqual(out, [bytes.length]);
  });

  it('aborts at any changed byte and reports the frame', () => {
    const first = frame(plain, 'x');
    const second = frame(json, '{"a":1}');
    for (let at = 0; at < second.length; at++) {
      const bad = Buffer.from(second);
      bad[at] = bad[at]! ^ 0x10;
      throws(() => rewrite(plugin, [first, bad], same), new RegExp(`eventstream: .* at byte ${first.length}$`));
    }
  });

  it('aborts at inconsistent lengths', () => {
    const tooShort = rawFrame(Buffer.alloc(0), '');
    const lying = rawFrame(Buffer.alloc(4), '');
    lying.writeUInt32BE(5, 4);
    throws(() => rewrite(plugin, [lying]), /checksum of a prelude at byte 0/);
    deepEqual(rewrite(plugin, [tooShort]), tooShort);
  });

  it('aborts at malformed headers', () => {
    for (const headers of [
      Buffer.from([5, 1]),
      header('x', 10, Buffer.alloc(0)),
      header('x', 7, Buffer.from([0, 9, 1])),
      header('x', 4, Buffer.alloc(3)),
      header('x', 7, Buffer.alloc(1)),
    ]) {
      throws(() => rewrite(plugin, [rawFrame(headers, '')]), /malformed headers at byte 0/);
    }
  });

  it('aborts at an incomplete frame', () => {
    const bytes = frame(json, '{"a":1}');
    throws(
      () => rewrite(plugin, [bytes, bytes.subarray(0, 5)]),
      new RegExp(`incomplete frame at byte ${bytes.length}`),
    );
  });

  it('aborts at the length of a frame over 10 MiB', () => {
    const big = frame(plain, Buffer.alloc(10 * 1024 * 1024));
    throws(() => rewrite(plugin, [big.subarray(0, 12)]), /frame larger than 10485760 bytes at byte 0/);
  });

  it('preserves the digits of long numbers', () => {
    const stream = frame(json, '{"n":9007199254740993}');
    deepEqual(rewrite(plugin, [stream], same), stream);
  });
});
