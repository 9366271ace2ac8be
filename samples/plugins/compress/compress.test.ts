import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { plugin } from './compress.ts';

test('stands at every service, and reads what is answered', () => {
  const { middleware, readsReply } = plugin.always!({} as never);
  deepEqual([typeof middleware, readsReply], ['function', true]);
});

test('has no namespace: to have it in the folder is enough', () => {
  equal(plugin.places, undefined);
});
