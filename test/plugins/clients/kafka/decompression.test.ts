import { deepEqual, equal, throws } from 'node:assert/strict';
import { loadKafka } from '../../../../plugins/clients/kafka/client.ts';
import { type Decompress, decompressors } from '../../../../plugins/clients/kafka/decompression.ts';

type Library = Awaited<ReturnType<typeof loadKafka>>;

describe('the content of a Kafka batch', () => {
  let kafka: Library;
  let all: Decompress[];
  before(async () => {
    kafka = await loadKafka();
    all = decompressors(kafka);
  });

  for (const [mask, codec] of [
    [1, 'gzip'],
    [2, 'snappy'],
    [3, 'lz4'],
    [4, 'zstd'],
  ] as const) {
    const compressed = (data: Buffer) => kafka.compressionsAlgorithms[codec].compressSync(data);

    it(`is decompressed up to 64 MiB with ${codec}, and not beyond`, () => {
      const text = Buffer.alloc(200_000, 'xyz');
      deepEqual(all[mask]!(compressed(text)), text);
      equal(all[mask]!(compressed(Buffer.alloc(60 * 1024 * 1024, 1))).length, 60 * 1024 * 1024);
      const bomb = compressed(Buffer.alloc(80 * 1024 * 1024));
      equal(bomb.length < 1_000_000 || codec === 'snappy', true);
      throws(() => all[mask]!(bomb), /67108864|larger than/);
    });

    it(`is rejected if it is not valid ${codec}`, () => {
      throws(() => all[mask]!(compressed(Buffer.alloc(1000, 'abc')).fill(0xff)));
    });
  }

  it('is rejected if its compression codec is unknown', () => {
    for (const mask of [5, 6, 7]) throws(() => all[mask]!(Buffer.from('a')), /unknown compression/);
  });
});
