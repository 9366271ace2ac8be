import { connect } from 'node:net';
import fc from 'fast-check';
import { eventually, PATIENCE_MS } from '../eventually.ts';
import { END_STREAM, type Fields, FRAMES, frame, frameReader, PREFACE } from '../http2.ts';
import { frameOf, type RequestStep, requestOf, type Step, stepsOf } from '../http2-steps.ts';
import { type OpenServer, openStage, type Stage, startHttp } from '../stage.ts';
import { defineTarget, type OpenTarget } from '../target.ts';

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
const inputs = fc.record({
  /** Bytes of each stream that the client takes at first. */
  window: fc.constantFrom(65_535, 65_535, 0, 1, 2 ** 31 - 1),
  steps: stepsOf(requests),
  end: fc.constantFrom('end', 'reset', 'wait'),
});

/** Frames of clients over HTTP/2. */
export const http2Server = defineTarget<Input>({
  name: 'http2-server',
  law: 'Whatever frames a client sends, each request reaches the backend once at most, is logged once, and none stays open.',
  boundMs: 200,
  inputs,
  open,
});

interface Input {
  readonly window: number;
  readonly steps: readonly Step[];
  readonly end: string;
}

async function open(): Promise<OpenTarget<Input>> {
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
  const stage = await openStage(configFor(backend));
  let count = 0;
  return {
    async accept({ window, steps, end }) {
      stage.lines.length = 0;
      seen.clear();
      const ids = new Map<number, string>();
      let bytes = frame(FRAMES.settings, 0, 0, settingOf(4, window));
      const script: (Buffer | number)[] = [PREFACE];
      for (const step of steps) {
        if ('turns' in step) {
          script.push(bytes, step.turns);
          bytes = Buffer.alloc(0);
          continue;
        }
        if (!('method' in step)) {
          bytes = Buffer.concat([bytes, frameOf(step)]);
          continue;
        }
        const [stream, id] = [2 * ids.size + 1, String(++count)];
        ids.set(stream, id);
        bytes = Buffer.concat([bytes, requestOf(step, stream, step.path === '*' ? '*' : `${step.path}?id=${id}`)]);
      }
      script.push(bytes);
      const bodies = await converse(stage.port, script, end);
      await stage.settled();
      await compare(stage, ids, seen, bodies);
      const { status } = await fetch(`http://127.0.0.1:${stage.port}/raw?id=next`);
      if (status !== 200) throw new Error(`the next client gets ${status}`);
    },
    async close() {
      await stage.gateway.close();
      await backend.close();
    },
  };
}

/** Client, gateway and backend must have seen the same requests. */
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
      throw new Error(`stream ${stream}, request ${ids.get(stream)}, gets the answer of ${id}`);
    if (!seen.has(id)) throw new Error(`request ${id} has an answer that the backend never gave`);
  }
}

/** Sends the parts of a script, takes what comes, and leaves. @returns bodies of whole answers, by their streams. */
function converse(port: number, script: readonly (Buffer | number)[], end: string): Promise<Map<number, string>> {
  const bodies = new Map<number, string>();
  const ended = new Set<number>();
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const late = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the gateway keeps a connection that the client has ended for ${PATIENCE_MS} ms`));
    }, PATIENCE_MS);
    socket
      .on('error', () => {})
      .once('close', () => {
        clearTimeout(late);
        resolve(new Map([...bodies].filter(([stream]) => ended.has(stream))));
      });
    const read = frameReader(({ type, flags, stream, payload }) => {
      if (type === FRAMES.data) {
        if (ended.has(stream)) reject(new Error(`stream ${stream} goes on behind its end`));
        bodies.set(stream, (bodies.get(stream) ?? '') + payload.toString('latin1'));
      }
      if ((type === FRAMES.data || type === FRAMES.headers) && flags & END_STREAM) ended.add(stream);
    });
    socket.on('data', read);
    socket.once('connect', async () => {
      for (const part of script) {
        if (typeof part === 'number') for (let turn = 0; turn < part; turn++) await new Promise(setImmediate);
        else socket.write(part);
      }
      if (end === 'reset') socket.resetAndDestroy();
      else if (end === 'wait') setTimeout(() => socket.end(), 20);
      else socket.end();
    });
  });
}

function settingOf(id: number, value: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUInt16BE(id);
  bytes.writeUInt32BE(value, 2);
  return bytes;
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
    use_h2c: true,
    endpoints: paths.flatMap((path) => [endpoint('GET', path), endpoint('POST', path)]),
  };
}
