import { deepEqual, equal } from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ClientBuckets } from '../../../../plugins/shared/buckets/client-buckets.ts';
import { limitOf } from '../../../../plugins/shared/buckets/token-bucket.ts';

const limit = limitOf(1, 600_000, 1);
const idleMs = 600_000;

describe('the token buckets of clients', () => {
  it('count each client separately', () => {
    const clients = new ClientBuckets();
    equal(clients.take('a', limit, idleMs, 0), 0);
    equal(clients.take('a', limit, idleMs, 0) > 0, true);
    equal(clients.take('b', limit, idleMs, 0), 0);
  });

  it('treat names such as __proto__ as plain identities', () => {
    const clients = new ClientBuckets();
    equal(clients.take('__proto__', limit, idleMs, 0), 0);
    equal(clients.take('__proto__', limit, idleMs, 0) > 0, true);
    equal(clients.take('constructor', limit, idleMs, 0), 0);
  });

  it('forget a client that was idle for the maximum idle time', () => {
    const clients = new ClientBuckets();
    const slow = limitOf(1, 6_000_000, 1);
    clients.take('a', slow, idleMs, 0);
    equal(clients.take('a', slow, idleMs, 599_999) > 0, true);
    equal(clients.take('a', slow, idleMs, 1_199_998) > 0, true);
    equal(clients.take('a', slow, idleMs, 1_799_998), 0);
  });

  it('drop idle clients and keep others', () => {
    const clients = new ClientBuckets();
    clients.take('a', limit, idleMs, 0);
    clients.take('b', limit, idleMs, 1);
    clients.sweep(idleMs, idleMs);
    equal(clients.size, 1);
    clients.sweep(idleMs, idleMs);
    equal(clients.size, 1);
    equal(clients.take('b', limit, idleMs, idleMs) > 0, true);
  });

  it('drop many clients over several turns of the event loop', async () => {
    const clients = new ClientBuckets();
    for (let client = 0; client < 25_000; client++) clients.take(`client ${client}`, limit, idleMs, 0);
    clients.sweep(idleMs, idleMs);
    equal(clients.size > 20_000, true);
    for (let turn = 0; clients.size > 0 && turn < 100; turn++) await nextTurn();
    equal(clients.size, 0);
  });

  it('never exceed the maximum number of clients', () => {
    const clients = new ClientBuckets(1000);
    for (let client = 0; client < 5000; client++) clients.take(`client ${client}`, limit, idleMs, 0);
    equal(clients.size <= 1000, true);
    equal(clients.size > 800, true);
    equal(clients.take('client 4999', limit, idleMs, 0) > 0, true);
  });

  it('drop a few of the oldest clients when the maximum is reached', () => {
    const clients = new ClientBuckets(32);
    // Identities with equal length and ending share a bucket group.
    const identities = Array.from({ length: 33 }, (_, client) => `${String(client).padStart(2, '0')} of them`);
    for (const identity of identities) clients.take(identity, limit, idleMs, 0);
    equal(clients.size, 31);
    equal(clients.take(identities[2]!, limit, idleMs, 0) > 0, true);
    deepEqual(
      identities.slice(0, 2).map((identity) => clients.take(identity, limit, idleMs, 0)),
      [0, 0],
    );
  });

  it('are distributed so that only a few are dropped at once', () => {
    const clients = new ClientBuckets(6400);
    for (let client = 1000; client <= 7400; client++) clients.take(`client ${client}`, limit, idleMs, 0);
    equal(clients.size > 6400 - 20, true);
  });

  it('distinguish long identities', () => {
    const clients = new ClientBuckets();
    const long = 'x'.repeat(5000);
    equal(clients.take(`${long}a`, limit, idleMs, 0), 0);
    equal(clients.take(`${long}b`, limit, idleMs, 0), 0);
    equal(clients.take(`${long}a`, limit, idleMs, 0) > 0, true);
  });
});
