import fc from 'fast-check';
import { type Conversation, converse } from './converse.ts';
import type { Dial } from './dial.ts';
import { eventually } from './eventually.ts';
import type { Fields } from './http2.ts';
import { type RequestStep, stepsOf } from './http2-steps.ts';
import { BACKEND_TIMEOUT } from './patience.ts';
import { type OpenServer, openStage, type Stage, startHttp } from './stage.ts';
import type { OpenTarget } from './target.ts';

const fields = fc.constantFrom<Fields[number]>(
  ['content-type', 'application/json'],
  ['content-length', '10'],
  ['content-length', 'x'],
  ['expect', '100-continue'],
  ['accept-encoding', 'gzip'],
  ['te', 'trailers'],
  ['connection', 'close'],
  ['host', 'b.test'],
  ['cookie', 'a=b'],
  ['cookie', 'c=d'],
  [':protocol', 'websocket'],
  [':path', '/b'],
  ['X-Upper', 'a'],
  ['x-long', 'a'.repeat(20_000)],
  ['x-odd', '\0\r\n'],
);
const requests: fc.Arbitrary<RequestStep> = fc.record({
  method: fc.constantFrom('GET', 'GET', 'POST', 'POST', 'HEAD', 'CONNECT', 'OPTIONS', 'PUT'),
  path: fc.constantFrom('/merged', '/raw', '/large', '/slow', '/early', '/none', '*'),
  fields: fc.array(fields, { maxLength: 4 }),
  more: fc.constantFrom(0, 0, 0, 0, 100, 1990, 2100),
  isOpen: fc.boolean(),
  pieceBytes: fc.constantFrom(16_384, 16_384, 3000, 100),
});
/** Conversations of clients, valid or not. */
export const conversations: fc.Arbitrary<Conversation> = fc.record({
  /** Initial window of each stream, in bytes. */
  window: fc.constantFrom(65_535, 65_535, 0, 1, 2 ** 31 - 1),
  steps: stepsOf(requests),
  end: fc.constantFrom('end', 'wait', 'reset', 'wait-reset', 'data-reset'),
  reads: fc.nat({ max: 7 }).map((chance) => chance > 0),
});

/** A complete request. */
const NEXT: Conversation = {
  window: 65_535,
  steps: [{ method: 'GET', path: '/raw?id=next', fields: [], more: 0, isOpen: false, pieceBytes: 16_384 }],
  end: 'answer',
};

/** @param root fields of the gateway's configuration in addition to the endpoints. @param dial opens connections. */
export async function openServer(root: object, dial: Dial): Promise<OpenTarget<Conversation>> {
  const seen = new Map<string, number>();
  const backend = await startHttp((message, response) => {
    const { pathname, searchParams } = new URL(message.url!, 'http://a');
    const id = searchParams.get('id')!;
    seen.set(id, (seen.get(id) ?? 0) + 1);
    const answer = () => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ id, ...(pathname === '/large' && { text: 'a'.repeat(200_000) }) }));
    };
    message.on('error', () => {});
    if (pathname === '/early') return answer();
    message.resume().once('end', pathname === '/slow' ? () => setTimeout(answer, 3) : answer);
  });
  const stage = await openStage({ ...configFor(backend), ...root });
  let count = 0;
  return {
    async accept(input) {
      stage.lines.length = 0;
      seen.clear();
      const ids = new Map<number, string>();
      const pathOf = (path: string, stream: number): string => {
        const id = String(++count);
        ids.set(stream, id);
        return path === '*' ? path : `${path}?id=${id}`;
      };
      const bodies = await converse(stage.port, input, pathOf, dial);
      await stage.settled();
      await stage.left();
      await compare(stage, ids, seen, bodies);
      const next = await converse(stage.port, NEXT, undefined, dial);
      if (next.get(1) !== '{"id":"next"}') throw new Error(`the next client gets ${next.get(1)}`);
    },
    async close() {
      await stage.gateway.close();
      await backend.close();
    },
  };
}

/** Checks that client, gateway and backend have seen the same requests. */
async function compare(
  stage: Stage,
  ids: ReadonlyMap<number, string>,
  seen: ReadonlyMap<string, number>,
  bodies: ReadonlyMap<number, string>,
): Promise<void> {
  const logged = (id: string): number => stage.lines.filter((line) => line.includes(`?id=${id}"`)).length;
  for (const [id, times] of seen) {
    if (times > 1) throw new Error(`the backend has seen request ${id} ${times} times`);
    await eventually(
      () => logged(id) === 1,
      () => `request ${id} is logged ${logged(id)} times:\n${stage.lines.join('')}`,
    );
  }
  for (const [stream, body] of bodies) {
    const [, id] = /^\{"id":"(\d+)"/.exec(body) ?? [];
    if (id === undefined) continue;
    if (id !== ids.get(stream))
      throw new Error(`stream ${stream}, request ${ids.get(stream)}, gets the response to ${id}`);
    if (!seen.has(id)) throw new Error(`request ${id} has a response that the backend never sent`);
  }
}

function configFor(backend: OpenServer): object {
  const host = [`http://127.0.0.1:${backend.port}`];
  const endpoint = (method: string, path: string) => {
    const isRaw = path !== '/merged';
    return {
      method,
      endpoint: path,
      input_query_strings: ['*'],
      input_headers: ['*'],
      ...(isRaw && { output_encoding: 'no-op' }),
      backend: [{ host, url_pattern: path, method, ...(isRaw && { encoding: 'no-op' }) }],
    };
  };
  const paths = ['/merged', '/raw', '/large', '/slow', '/early'];
  return {
    timeout: BACKEND_TIMEOUT,
    endpoints: paths.flatMap((path) => [endpoint('GET', path), endpoint('POST', path)]),
  };
}
