import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { type Conversation, converse } from '../converse.ts';
import { type Fields, FRAMES } from '../http2.ts';
import { type FrameStep, type RequestStep, stepsOf } from '../http2-steps.ts';
import { BACKEND_TIMEOUT } from '../patience.ts';
import { openStage, startHttp } from '../stage.ts';
import { defineTarget, type OpenTarget } from '../target.ts';

const fields = fc.constantFrom<Fields[number]>(
  ['te', 'trailers'],
  ['grpc-timeout', '1S'],
  ['grpc-timeout', '1n'],
  ['grpc-timeout', '99999999H'],
  ['grpc-timeout', '-1S'],
  ['grpc-encoding', 'gzip'],
  ['grpc-accept-encoding', 'gzip,identity'],
  ['content-length', '10'],
  ['expect', '100-continue'],
  ['x-tenant-bin', 'AA'],
  ['x-tenant', 'a'],
);
const types = fc.constantFrom('application/grpc', 'application/grpc', 'application/grpc+proto', 'application/json');
const requests: fc.Arbitrary<RequestStep> = fc
  .record({
    method: fc.constantFrom('POST', 'POST', 'POST', 'POST', 'GET', 'HEAD'),
    path: fc.constantFrom(
      '/orders.Orders/Get',
      '/orders.Orders/Get',
      '/orders.Orders/Watch',
      '/orders.Orders/None',
      '/',
    ),
    type: types,
    fields: fc.array(fields, { maxLength: 4 }),
    more: fc.constantFrom(0, 0, 0, 0, 2100),
    isOpen: fc.nat({ max: 9 }).map((chance) => chance > 0),
    pieceBytes: fc.constantFrom(16_384, 100),
  })
  .map(({ type, fields: own, ...rest }) => ({ ...rest, fields: [['content-type', type] as const, ...own] }));
const messages = fc.oneof(
  // Complete; empty; compressed; another flag; wrong lengths; bytes that are not a message; a fragment.
  fc.constantFrom(
    '00000000030a0178',
    '0000000000',
    '01000000031f8b08',
    '02000000030a0178',
    '00ffffffff0a',
    '00000000010a',
    '00000000020aff',
    '0000',
  ),
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('hex')),
);
const bodies: fc.Arbitrary<FrameStep> = fc.record({
  type: fc.constant(FRAMES.data),
  flags: fc.constantFrom(0, 1, 1),
  of: fc.integer({ min: 1, max: 4 }),
  payload: messages,
  times: fc.constantFrom(1, 1, 1, 2),
});

/** Frames and messages of gRPC clients. */
export const grpcServer = defineTarget<Conversation>({
  name: 'grpc-server',
  law: 'Whatever a gRPC client sends, no call stays open, no error is internal, and the next client is served.',
  boundMs: 200,
  rooms: ['plugins/grpc/', 'plugins/engines/grpc/', 'kernel/server/'],
  isGuided: true,
  inputs: fc.record({
    window: fc.constantFrom(65_535, 65_535, 0, 1),
    steps: stepsOf(requests, bodies),
    end: fc.constantFrom('end', 'reset', 'wait'),
  }),
  open,
});

/** A complete call. */
const GOOD: Conversation['steps'] = [
  {
    method: 'POST',
    path: '/orders.Orders/Get',
    fields: [['content-type', 'application/grpc']],
    more: 0,
    isOpen: true,
    pieceBytes: 16_384,
  },
  { type: FRAMES.data, flags: 1, of: 1, payload: '00000000030a0178', times: 1 },
];

async function open(): Promise<OpenTarget<Conversation>> {
  const backend = await startHttp((message, response) => {
    message.on('error', () => {}).resume();
    message.once('end', () => response.setHeader('content-type', 'application/json').end('{"id":"x"}'));
  });
  const catalog = fileURLToPath(new URL('../../../samples/grpc/orders.pb', import.meta.url));
  const host = [`http://127.0.0.1:${backend.port}`];
  const method = (name: string) => ({ name, payload_params: { id: 'id' }, backend: [{ host, url_pattern: '/{id}' }] });
  const stage = await openStage({
    timeout: BACKEND_TIMEOUT,
    extra_config: {
      grpc: { catalog: [catalog], server: { services: [{ name: 'orders.Orders', methods: [method('Get')] }] } },
    },
    endpoints: [],
  });
  return {
    async accept(conversation) {
      stage.lines.length = 0;
      await converse(stage.port, conversation);
      await stage.settled();
      const answers = await converse(stage.port, { window: 65_535, steps: GOOD, end: 'answer' });
      if (answers.get(1) !== '\0\0\0\0\x03\n\x01x')
        throw new Error(`the next client gets ${JSON.stringify([...answers])}`);
    },
    async close() {
      await stage.gateway.close();
      await backend.close();
    },
  };
}
