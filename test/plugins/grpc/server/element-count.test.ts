import { equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { create, createFileRegistry, fromBinary, toBinary } from '@bufbuild/protobuf';
import { anyPack, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { ElementCounter } from '../../../../plugins/grpc/server/element-count.ts';
import { SHOP } from '../../../support/grpc/server.ts';

describe('the element count of a gRPC message', () => {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(SHOP)));
  const type = registry.getMessage('shop.Everything')!;
  const counter = new ElementCounter(registry);
  const count = (fields: Record<string, unknown>, limit = 1_000_000) =>
    counter.count(type, toBinary(type, create(type, fields)), limit);

  it('includes its fields, items and entries, at any depth', () => {
    equal(count({}), 0);
    equal(count({ fullName: 'x'.repeat(10_000), small: 1, ratio: 2, exact: 3, raw: new Uint8Array(1000) }), 5);
    equal(count({ inner: { inner: { small: 1 } } }), 3);
    // Each map entry counts as three elements: the entry, its key and its value.
    equal(count({ labels: { a: 'b', c: 'd' } }), 6);
    equal(count({ places: { 1: { latitude: 1, longitude: 2 } } }), 5);
  });

  it('counts sixteen packed numbers as one', () => {
    equal(count({ numbers: Array.from({ length: 160 }, () => 1) }), 11);
    equal(count({ numbers: Array.from({ length: 160 }, () => 100_000) }), 11);
  });

  it('includes the content of an Any of a known type', () => {
    const held = create(type, { labels: { a: 'b' } });
    const packed = anyPack(type, held);
    // Counts the field, the type name and the value of the Any, and a map entry with its key and its value.
    equal(count({ packed }), 6);
    equal(count({ packed: { ...packed, typeUrl: 'type.googleapis.com/none.Known' } }), 3);
  });

  it('stops above the limit and at malformed bytes', () => {
    const labels = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`k${at}`, '']));
    equal(count({ labels }, 10), 11);
    for (const bytes of [
      [0x0a],
      [0x0a, 0xff],
      [0xff, 0xff, 0xff],
      [0x5a, 0xff, 0xff, 0xff, 0xff, 0x0f],
      [0x0f, 0x0f],
    ]) {
      equal(counter.count(type, Uint8Array.from(bytes), 100), 1);
    }
  });
});
