import { deepEqual } from 'node:assert/strict';
import { Room } from '../../../../plugins/clients/broker/room.ts';

describe('the message buffer of a broker client', () => {
  const record = (bytes: number) => ({ payload: new Uint8Array(bytes), headers: [], accept() {} });
  const state = ({ isFull, isHalfEmpty }: Room) => [isFull, isHalfEmpty];

  it('is full at its maximum count, and accepts messages again once half of them are acknowledged or rejected', () => {
    const room = new Room(4);
    const records = Array.from({ length: 4 }, () => record(1));
    for (const one of records.slice(1)) room.enter(one);
    deepEqual(state(room), [false, false]);
    room.enter(records[0]!);
    deepEqual(state(room), [true, false]);
    room.leave(records[0]!);
    room.leave(records[1]!);
    deepEqual(state(room), [false, true]);
  });

  it('is full at 64 MiB, regardless of the count', () => {
    const room = new Room(100);
    const [one, other] = [record(40 * 1024 * 1024), record(24 * 1024 * 1024)];
    room.enter(one);
    deepEqual(state(room), [false, false]);
    room.enter(other);
    deepEqual(state(room), [true, false]);
    room.leave(one);
    deepEqual(state(room), [false, true]);
  });
});
