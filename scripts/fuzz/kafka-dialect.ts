import type { Socket } from 'node:net';
import type { Dialect } from './hostile.ts';

export const int16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
export const text = (value: string): Buffer => Buffer.concat([int16(value.length), Buffer.from(value)]);
export const list = (...items: readonly Buffer[]): Buffer => Buffer.concat([int32(items.length), ...items]);
export const NOTHING = Buffer.of(0xff, 0xff);

/** Supported requests by the number of their type, each in one version: Produce, Metadata, ApiVersions. */
const versions: Readonly<Record<number, number>> = { 0: 3, 3: 5, 18: 3 };

/** @param versions supported requests by the number of their type, each in one version. */
export function apiVersions(versions: Readonly<Record<number, number>>): Buffer {
  return Buffer.concat([
    int16(0),
    Buffer.of(Object.keys(versions).length + 1),
    ...Object.entries(versions).map(([key, version]) =>
      Buffer.concat([int16(Number(key)), int16(version), int16(version), Buffer.of(0)]),
    ),
    int32(0),
    Buffer.of(0),
  ]);
}

/** One broker with one topic `a` of two partitions. */
export function metadata(port: number): Buffer {
  const broker = Buffer.concat([int32(1), text('127.0.0.1'), int32(port), NOTHING]);
  const partition = (index: number) =>
    Buffer.concat([int16(0), int32(index), int32(1), list(int32(1)), list(int32(1)), list()]);
  const topic = Buffer.concat([int16(0), text('a'), Buffer.of(0), list(partition(0), partition(1))]);
  return Buffer.concat([int32(0), list(broker), NOTHING, int32(1), list(topic)]);
}

/** Confirms a record in each partition, as the request may contain either. */
const produced = Buffer.concat([
  list(
    Buffer.concat([
      text('a'),
      list(...[0, 1].map((index) => Buffer.concat([int32(index), int16(0), Buffer.alloc(8), Buffer.alloc(8, 255)]))),
    ]),
  ),
  int32(0),
]);

/** A request: the number of its type, and the content after the client's name. */
export interface KafkaRequest {
  readonly key: number;
  readonly content: Buffer;
}

/** Serves requests in their order. @param answer returns the content of a response. */
export function kafkaBroker(answer: (request: KafkaRequest, socket: Socket) => Buffer | Promise<Buffer>): Dialect {
  return (socket, say) => {
    let bytes: Buffer = Buffer.alloc(0);
    let before: Promise<void> = Promise.resolve();
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      while (bytes.length >= 14) {
        const length = 4 + bytes.readUInt32BE(0);
        if (bytes.length < length) return;
        const [key, correlation] = [bytes.readInt16BE(4), bytes.subarray(8, 12)];
        const request = { key, content: bytes.subarray(14 + Math.max(0, bytes.readInt16BE(12)), length) };
        bytes = bytes.subarray(length);
        before = before.then(async () => {
          const content = await answer(request, socket);
          say(Buffer.concat([int32(4 + content.length), correlation, content]));
        });
      }
    });
  };
}

/** A Kafka broker that accepts records for one topic. */
export const kafkaDialect: Dialect = kafkaBroker(({ key }, socket) =>
  key === 18 ? apiVersions(versions) : key === 3 ? metadata(socket.localPort!) : produced,
);
