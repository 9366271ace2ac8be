import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { END_STREAM, type Fields, FRAMES, frame, frameReader, headFrames } from '../http2.ts';
import { BACKEND_TIMEOUT } from '../patience.ts';
import { openStage, reset, startTcp } from '../stage.ts';
import { defineTarget, type OpenTarget } from '../target.ts';

/** Actions of the server on the stream of a call. */
type Act =
  | { readonly head: Fields; readonly isLast: boolean }
  | { readonly flag: number; readonly length: number; readonly payload: string; readonly isLast: boolean }
  | { readonly type: number; readonly flags: number; readonly onStream: boolean; readonly payload: string }
  | { readonly leaves: 'end' | 'reset' }
  | { readonly turns: number };

const START: Fields = [
  [':status', '200'],
  ['content-type', 'application/grpc'],
];
const END: Fields = [['grpc-status', '0']];
/** `id: "x"`. */
const MESSAGE = '0a0178';

const heads = fc.constantFrom<Fields>(
  START,
  START,
  END,
  END,
  [...START, ...END],
  [
    ['grpc-status', '13'],
    ['grpc-message', 'a%zz'],
  ],
  [['grpc-status', 'x']],
  [[':status', '503']],
  [[':status', '100']],
  [[':status', 'x']],
  [...START, ['grpc-encoding', 'gzip']],
  [...START, ['content-length', '3']],
  [['x-a', '\0']],
  [['x-long', 'a'.repeat(200_000)]],
  [],
);
const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ head: heads, isLast: fc.boolean() }) },
  {
    weight: 5,
    arbitrary: fc.record({
      flag: fc.constantFrom(0, 0, 0, 0, 1, 2, 255),
      length: fc.constantFrom(-1, -1, -1, -1, 0, 1, 1000, 2 ** 31, 2 ** 32 - 1),
      payload: fc.oneof(
        fc.constantFrom(MESSAGE, MESSAGE, '', '0a', '0aff', '0affffffffff7f', '08ffffffffffffffffffff01', '1f8b0800'),
        fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('hex')),
      ),
      isLast: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.nat({ max: 10 }),
      flags: fc.constantFrom(0, 1, 4, 5, 8, 0x20),
      onStream: fc.boolean(),
      payload: fc.oneof(
        fc.constantFrom(
          '00000000',
          '00000007',
          '0000000000000000',
          '7fffffff',
          '000100000000',
          '0004ffffffff',
          '000300000000',
        ),
        fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('hex')),
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ leaves: fc.constantFrom('end' as const, 'reset' as const) }) },
  { weight: 1, arbitrary: fc.record({ turns: fc.nat({ max: 4 }) }) },
);
const inputs = fc.record({ path: fc.constantFrom('/one', '/many'), acts: fc.array(acts, { maxLength: 8 }) });

/** A misbehaving gRPC server. */
export const grpcBackend = defineTarget<Input>({
  name: 'grpc-backend',
  law: 'Calls end by their deadline whatever frames and messages a gRPC server sends, and the next call is served.',
  boundMs: 200,
  rooms: ['plugins/backend/grpc/', 'plugins/clients/grpc/', 'plugins/engines/grpc/', 'plugins/clients/http2/'],
  isGuided: true,
  inputs,
  open,
});

interface Input {
  readonly path: string;
  readonly acts: readonly Act[];
}

const GOOD: readonly Act[] = [
  { head: START, isLast: false },
  { flag: 0, length: -1, payload: MESSAGE, isLast: false },
  { head: END, isLast: true },
];

async function open(): Promise<OpenTarget<Input>> {
  let behavior = GOOD;
  const server = await startTcp((socket) => {
    socket.write(frame(FRAMES.settings, 0, 0, Buffer.alloc(0)));
    let isGreeted = false;
    const read = frameReader(({ type, flags, stream }) => {
      if (type === FRAMES.settings && (flags & 1) === 0) socket.write(frame(FRAMES.settings, 1, 0, Buffer.alloc(0)));
      if (type === FRAMES.headers) void answer(stream, behavior);
    });
    socket.on('data', (chunk: Buffer) => {
      read(isGreeted ? chunk : chunk.subarray(24));
      isGreeted = true;
    });
    const answer = async (stream: number, list: readonly Act[]): Promise<void> => {
      for (const act of list) {
        if (socket.destroyed) return;
        if ('turns' in act) for (let turn = 0; turn < act.turns; turn++) await new Promise(setImmediate);
        else if ('leaves' in act) act.leaves === 'end' ? socket.end() : reset(socket);
        else socket.write(bytesOf(act, stream));
      }
    };
  });
  const catalog = fileURLToPath(new URL('../../../samples/grpc/orders.pb', import.meta.url));
  const endpoint = (path: string, method: string, output_encoding: string) => ({
    endpoint: path,
    output_encoding,
    backend: [
      {
        host: [`127.0.0.1:${server.port}`],
        url_pattern: `/orders.Orders/${method}`,
        extra_config: { 'backend/grpc': {} },
      },
    ],
  });
  const stage = await openStage({
    timeout: '400ms',
    extra_config: { grpc: { catalog: [catalog] } },
    endpoints: [
      endpoint('/one', 'Get', 'json'),
      endpoint('/many', 'Watch', 'ndjson'),
      { ...endpoint('/next', 'Get', 'json'), timeout: BACKEND_TIMEOUT },
    ],
  });
  const call = async (path: string): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${stage.port}${path}`);
    await response.arrayBuffer().catch(() => {});
    return response.status;
  };
  return {
    async accept({ path, acts: list }) {
      stage.lines.length = 0;
      behavior = list;
      await call(path);
      behavior = GOOD;
      await stage.settled();
      // A second request is sent if the first one fails, because a connection that its server has broken causes at most
      // one failed call.
      if ((await call('/one')) !== 200 && (await call('/next')) !== 200)
        throw new Error('the next calls are not served');
    },
    async close() {
      await stage.gateway.close();
      await server.close();
    },
  };
}

function bytesOf(act: Exclude<Act, { turns: number } | { leaves: string }>, stream: number): Buffer {
  if ('head' in act) return headFrames(stream, act.head, act.isLast);
  const payload = Buffer.from(act.payload, 'hex');
  if ('type' in act) return frame(act.type, act.flags, act.onStream ? stream : 0, payload);
  const head = Buffer.alloc(5);
  head[0] = act.flag;
  head.writeUInt32BE(act.length < 0 ? payload.length : act.length, 1);
  return frame(FRAMES.data, act.isLast ? END_STREAM : 0, stream, Buffer.concat([head, payload]));
}
