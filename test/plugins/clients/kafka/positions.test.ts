import { deepEqual, equal } from 'node:assert/strict';
import { Positions } from '../../../../plugins/clients/kafka/consumer/positions.ts';

describe('consumer offsets in Kafka partitions', () => {
  const at = 'orders:0';
  const taken = (positions: Positions, ...offsets: bigint[]) => offsets.map((offset) => positions.take(at, offset, 1n));

  it('can be committed up to the first record that is not processed', () => {
    const positions = new Positions();
    taken(positions, 5n, 6n, 7n);
    equal(positions.done(at, 6n), undefined);
    equal(positions.done(at, 5n), 7n);
    equal(positions.done(at, 7n), 8n);
  });

  it('count a record once even if its result is reported twice', () => {
    const positions = new Positions();
    taken(positions, 5n);
    equal(positions.done(at, 5n), 6n);
    equal(positions.done(at, 5n), undefined);
  });

  it('skip records that were received before, processed or not', () => {
    const positions = new Positions();
    deepEqual(taken(positions, 5n, 6n), [true, true]);
    positions.done(at, 5n);
    deepEqual(taken(positions, 5n, 6n, 7n), [false, false, true]);
  });

  it('deliver records again that were returned without being processed', () => {
    const positions = new Positions();
    taken(positions, 5n, 6n, 7n);
    positions.giveBack(at, 6n);
    deepEqual(taken(positions, 5n, 6n, 7n), [false, true, true]);
    positions.done(at, 5n);
    equal(positions.done(at, 6n), 7n);
  });

  it('start over for a topic that was deleted and created again', () => {
    const positions = new Positions();
    positions.take(at, 50n, 1000n);
    equal(positions.take(at, 0n, 2000n), true);
    equal(positions.done(at, 0n), 1n);
  });

  it('no longer contain partitions that were assigned to other members', () => {
    const positions = new Positions();
    taken(positions, 5n);
    positions.take('orders:1', 1n, 1n);
    positions.keepOnly((partition) => partition === at);
    equal(positions.done('orders:1', 1n), undefined);
    equal(positions.done(at, 5n), 6n);
  });
});
