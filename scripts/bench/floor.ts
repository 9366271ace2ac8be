import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Dispatcher, Pool } from 'undici';
import { changes, type Data, own, paths } from './work.ts';

/**
 * Hand-written equivalent of each scenario, as a lower bound of its cost: node:http in front, undici dispatch behind,
 * nothing in between. No routing, deadlines, logs, or headers of its own. Arguments: scenario, port, origin of the
 * upstream.
 */

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const [scenario = '', port, origin = ''] = process.argv.slice(2);
const pool = new Pool(origin);

/** Passes status, headers and bytes through. A body received in one chunk is sent in one chunk, together with the response head. */
class Pass implements Dispatcher.DispatchHandler {
  protected readonly response: ServerResponse;
  #held: Uint8Array | null = null;

  constructor(response: ServerResponse) {
    this.response = response;
  }

  onRequestStart() {}

  onResponseStart(_controller: unknown, status: number, headers: Record<string, string | string[] | undefined>) {
    const passed: string[] = [];
    for (const name in headers) {
      if (name === 'connection' || name === 'keep-alive' || name === 'transfer-encoding') continue;
      const value = headers[name]!;
      if (typeof value === 'string') passed.push(name, value);
      else for (const one of value) passed.push(name, one);
    }
    this.response.writeHead(status, passed);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array) {
    if (this.#held !== null) this.response.write(this.#held);
    this.#held = chunk;
  }

  onResponseEnd() {
    this.response.end(this.#held);
  }

  onResponseError() {
    fail(this.response);
  }
}

/** Collects and decodes one JSON body; null on failure. */
class Decode implements Dispatcher.DispatchHandler {
  #done: (data: Data | null) => void;
  #chunks: Buffer[] = [];
  #status = 0;

  constructor(done: (data: Data | null) => void) {
    this.#done = done;
  }

  onRequestStart() {}

  onResponseStart(_controller: unknown, status: number) {
    this.#status = status;
  }

  onResponseData(_controller: unknown, chunk: Uint8Array) {
    this.#chunks.push(chunk as Buffer);
  }

  onResponseEnd() {
    const chunks = this.#chunks;
    const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    this.#done(this.#status === 200 ? JSON.parse(body.toString()) : null);
  }

  onResponseError() {
    this.#done(null);
  }
}

function get(path: string, handler: Dispatcher.DispatchHandler): void {
  pool.dispatch({ path, method: 'GET' }, handler);
}

function send(response: ServerResponse, data: Data): void {
  const text = JSON.stringify(data);
  response.writeHead(200, ['Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(text))]);
  response.end(text);
}

function fail(response: ServerResponse): void {
  if (!response.headersSent) response.writeHead(500);
  response.end();
}

/** Fetches one object, modifies it and sends it. */
function transform(path: string, change: (data: Data) => Data): Answer {
  return (response) => get(path, new Decode((data) => (data === null ? fail(response) : send(response, change(data)))));
}

function merge(paths: readonly string[]): Answer {
  return (response) => {
    const members: (Data | null)[] = [null, null, null];
    let missing = paths.length;
    const arrived = (index: number, data: Data | null) => {
      members[index] = data;
      missing -= 1;
      if (missing > 0) return;
      if (members.includes(null)) fail(response);
      else send(response, { ...members[0], ...members[1], ...members[2] });
    };
    for (let index = 0; index < paths.length; index += 1) {
      get(paths[index]!, new Decode((data) => arrived(index, data)));
    }
  };
}

/** Passes bytes in both directions, at the speed of the slower side. */
class Relay extends Pass {
  override onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Record<string, string>) {
    super.onResponseStart(controller, status, headers);
    this.response.on('drain', () => controller.resume());
  }

  override onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array) {
    if (!this.response.write(chunk)) controller.pause();
  }
}

function relay(path: string): Answer {
  return (response, request) => {
    const headers = { 'content-length': request.headers['content-length']! };
    pool.dispatch({ path, method: 'POST', headers, body: request }, new Relay(response));
  };
}

function constant({ status, data }: { status: number; data: Data }): Answer {
  const text = JSON.stringify(data);
  return (response) => {
    response.writeHead(status, ['Content-Type', 'application/json', 'Content-Length', String(text.length)]);
    response.end(text);
  };
}

function answerOf(scenario: string): Answer {
  const alone = own[scenario];
  if (alone) return constant(alone);
  const [path, ...more] = paths[scenario] ?? [];
  if (path === undefined) throw new Error(`no floor for the scenario "${scenario}"`);
  if (path === '/echo') return relay(path);
  const change = changes[scenario];
  if (change) return transform(path, change);
  return more.length > 0 ? merge([path, ...more]) : (response) => get(path, new Pass(response));
}

const respond = answerOf(scenario);
const server = createServer((request, response) => respond(response, request));
server.keepAliveTimeout = 0;
server.listen(Number(port), '127.0.0.1');
process.once('disconnect', () => process.exit());
