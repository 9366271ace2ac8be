import { parseArgs } from 'node:util';
import { atBackend, ByteStream, type Configuration, definePlugin, HeaderBag, Reply } from '#contract';
import { silentSinks } from '../../kernel/contract/internal.ts';
import { startGateway } from '../../kernel/gateway/start-gateway.ts';
import { withPlugins } from '../../kernel/registry/registry.ts';
import { catalogue } from '../../plugins/index.ts';
import { positive } from './options.ts';
import { quartiles } from './spread.ts';
import { table } from './table.ts';

/**
 * CPU time per message of a model's stream, in microseconds: passed through unchanged, and converted to a
 * chat-completion chunk. The stream is constant, with one chunk per message, and uses no sockets; the first figure is
 * the base of the second.
 *
 *     node scripts/bench/model-streams.ts [--messages 2000] [--rounds 60]
 */
const { values } = parseArgs({
  options: { messages: { type: 'string', default: '2000' }, rounds: { type: 'string', default: '60' } },
});
const messages = positive('messages', values.messages, true);
const rounds = positive('rounds', values.rounds, true);

/** A sample message of each vendor that streams server-sent events. */
const vendors = {
  openai: [
    'v1',
    '/v1/responses',
    { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, delta: 'word' },
  ],
  anthropic: [
    'v1',
    '/v1/messages',
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'word' } },
  ],
  gemini: [
    'v1beta',
    '/v1beta/models/m:generateContent',
    {
      candidates: [{ content: { parts: [{ text: 'word' }], role: 'model' }, index: 0 }],
      usageMetadata: { totalTokenCount: 7 },
    },
  ],
} as const;

type Vendor = keyof typeof vendors;

let piece: Uint8Array = Buffer.alloc(0);
const streaming = definePlugin({
  name: 'backend/constant-stream',
  contract: 1,
  description: 'Always responds with the same stream.',
  inside: 'ai/llm',
  places: [atBackend({ type: 'object' }, () => ({ transport: () => () => Reply.raw(200, head(), stream()) }))],
});

function head(): HeaderBag {
  return new HeaderBag(['Content-Type', 'text/event-stream']);
}

function stream(): ByteStream {
  let left = messages;
  const push = (): void => {
    while (left > 0 && body.write(piece)) left--;
    if (left === 0) body.end();
  };
  const body = new ByteStream({ resume: push });
  setImmediate(push);
  return body;
}

async function open(vendor: Vendor, format: string) {
  const [version, url_pattern] = vendors[vendor];
  const settings = { credentials: 'k', format, variables: { model: 'm' } };
  const backend = {
    url_pattern,
    method: 'POST',
    host: ['http://127.0.0.1'],
    extra_config: { 'ai/llm': { [vendor]: { [version]: settings } }, [streaming.name]: {} },
  };
  const endpoint = {
    endpoint: '/ask',
    method: 'POST',
    timeout: '60s',
    output_encoding: 'streaming',
    backend: [backend],
  };
  const config = { version: 3, endpoints: [endpoint] } as unknown as Configuration;
  return startGateway(withPlugins(catalogue, [streaming]), config, { sinks: silentSinks });
}

type Lane = Awaited<ReturnType<typeof open>>;

/** @returns microseconds per message. */
async function turn(lane: Lane): Promise<number> {
  const start = process.cpuUsage();
  const { statusCode } = await lane.inject({ method: 'POST', url: '/ask', payload: { contents: 'hi' } });
  if (statusCode !== 200) throw new Error(`status ${statusCode}`);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / messages;
}

const figure = (all: readonly number[]) => {
  const { lower, median, upper } = quartiles(all);
  return `${median.toFixed(2)} (${lower.toFixed(2)} to ${upper.toFixed(2)})`;
};

const rows: string[][] = [];
for (const vendor of Object.keys(vendors) as Vendor[]) {
  piece = Buffer.from(`data: ${JSON.stringify(vendors[vendor][2])}\n\n`);
  const lanes = [await open(vendor, 'native'), await open(vendor, 'openai')] as const;
  const base: number[] = [];
  const more: number[] = [];
  for (let round = -10; round < rounds; round++) {
    const native = await turn(lanes[0]);
    const chunks = await turn(lanes[1]);
    if (round < 0) continue;
    base.push(native);
    more.push(chunks - native);
  }
  for (const lane of lanes) await lane.close();
  rows.push([vendor, figure(base), figure(more)]);
}
console.log(`Node ${process.version}`);
console.log(table([['vendor', 'as it comes µs', 'as chunks, more µs'], ...rows]));
process.exit();
