import { deepEqual, equal, ok } from 'node:assert/strict';
import { murmur2 } from '@platformatic/kafka';
import { rangeAssigner } from '../../../../plugins/clients/kafka/consumer/assigner.ts';
import { partitionerOf } from '../../../../plugins/clients/kafka/producer/partitioner.ts';

describe('Kafka partitions', () => {
  it('are assigned to group members in ranges; the first members get one more if the numbers do not divide evenly', () => {
    const topic = (partitionsCount: number) => ({ id: '', partitions: [], partitionsCount, lastUpdate: 0 });
    const metadata = {
      id: '',
      brokers: new Map(),
      controllerId: 0,
      lastUpdate: 0,
      topics: new Map([
        ['a', topic(5)],
        ['b', topic(1)],
      ]),
    };
    const member = (memberId: string, topics: string[]) => [memberId, { memberId, version: 1, topics }] as const;
    const members = new Map([member('m2', ['a']), member('m1', ['a', 'b'])]);
    const assigned = rangeAssigner('m1', members, new Set(['a', 'b']), metadata);
    deepEqual(
      new Map(assigned.map(({ memberId, assignments }) => [memberId, [...assignments.values()]])),
      new Map([
        ['m2', [{ topic: 'a', partitions: [3, 4] }]],
        [
          'm1',
          [
            { topic: 'a', partitions: [0, 1, 2] },
            { topic: 'b', partitions: [0] },
          ],
        ],
      ]),
    );
  });

  it('are selected by the same hash as in the Java client', () => {
    const choose = partitionerOf('standard', murmur2);
    // Results of org.apache.kafka.common.utils.Utils for these keys.
    for (const [key, hash] of [
      ['21', -973932308],
      ['foobar', -790332482],
      ['a-little-bit-long-string', -985981536],
    ] as const) {
      equal(choose([Buffer.from(key)])[0], hash & 0x7fff_ffff);
    }
  });

  it('are selected by FNV-1a with the sarama partitioner', () => {
    const choose = partitionerOf('sarama', murmur2);
    equal(choose([Buffer.from('a')])[0], Math.abs(0xe40c292c | 0));
    equal(choose([Buffer.from('foobar')])[0], Math.abs(0xbf9cf968 | 0));
  });

  it('are selected at random for records without a key', () => {
    for (const name of ['standard', 'sarama', 'random'] as const) {
      const choose = partitionerOf(name, murmur2);
      ok(new Set(Array.from({ length: 50 }, () => choose([undefined])[0]! % 8)).size > 1);
    }
    const [first, second] = partitionerOf('standard', murmur2)([undefined, undefined]);
    equal(first, second);
  });
});
