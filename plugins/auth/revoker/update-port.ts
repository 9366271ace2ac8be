import type { IncomingMessage, ServerResponse } from 'node:http';
import { isObject, type Log, type PortHandler } from '#contract';
import { type IsAuthorized, keyHolder } from './authorized.ts';
import { Mismatch, type Packed } from './packed-set.ts';

/** Bytes of a request that names elements. */
const MAX_BYTES = 1024 * 1024;

/** What the port of a gateway works with. */
export interface UpdateTarget {
  /** Revokes elements, as in `jti-abc`. */
  add(elements: readonly string[]): Promise<void>;
  /** Which of some elements are revoked. */
  has(elements: readonly string[]): Promise<boolean[]>;
  /** Adds a packed set. @returns how full the filters are then. @throws Mismatch */
  unite(packed: Packed): Promise<number>;
  stats(): object;
  /** Bytes of a packed set at most. */
  readonly longest: number;
}

/** A request that cannot be answered as it asks. */
class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

type Operation = (target: UpdateTarget, message: IncomingMessage) => object | Promise<object>;

const operations: Readonly<Record<string, Operation>> = {
  async 'POST /add'(target, message) {
    const elements = await readElements(message);
    await target.add(elements);
    return { count: elements.length };
  },
  async 'POST /check'(target, message) {
    return { checks: await target.has(await readElements(message)) };
  },
  async 'POST /union'(target, message) {
    const packed = await readBody(message, target.longest);
    try {
      return { capacity: await target.unite(packed) };
    } catch (error) {
      throw error instanceof Mismatch ? new Refused(409, error.message) : error;
    }
  },
  'GET /stats': (target) => target.stats(),
};

const paths = new Set(Object.keys(operations).map((name) => name.split(' ')[1]));

/** Answers what comes to the port of a gateway. @param key null for a port that only this machine can reach. */
export function updatePort(target: UpdateTarget, key: string | null, log: Log): PortHandler {
  const isAuthorized: IsAuthorized = key === null ? () => true : keyHolder(key);
  return (message, response) => {
    const [path = ''] = (message.url ?? '').split('?');
    const name = `${message.method} ${path}`;
    if (!isAuthorized(message.headers.authorization)) return answer(message, response, 401);
    if (key === null && mayBeOfPage(message))
      return answer(message, response, 403, 'requests from web pages are not allowed');
    if (!paths.has(path)) return answer(message, response, 404, 'unknown operation');
    if (!Object.hasOwn(operations, name)) return answer(message, response, 405, 'method not allowed');
    void run(operations[name]!, target, message, response).catch((error: Error) => {
      // A client that has left before its request was complete gets nothing.
      if (!message.destroyed) log.error(() => `the port of revocations: ${error.message}`);
      answer(message, response, 500);
    });
  };
}

const ownHost = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i;

/**
 * True for what a page in a browser of this machine may have sent: pages reach the loopback address, too, under a name of
 * their own that leads there.
 */
function mayBeOfPage({ headers: { host = '', origin } }: IncomingMessage): boolean {
  return origin !== undefined || !ownHost.test(host);
}

async function run(
  operation: Operation,
  target: UpdateTarget,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    answer(message, response, 200, await operation(target, message));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    answer(message, response, error.status, error.message);
  }
}

function answer(message: IncomingMessage, response: ServerResponse, status: number, body?: object | string): void {
  if (response.destroyed) return;
  const text = body === undefined ? '' : JSON.stringify(typeof body === 'string' ? { error: body } : body);
  const headers = text === '' ? { 'Content-Length': 0 } : { 'Content-Type': 'application/json' };
  // What has not been read is not wanted.
  response.writeHead(status, { ...headers, ...(!message.complete && { Connection: 'close' }) }).end(text);
}

async function readElements(message: IncomingMessage): Promise<readonly string[]> {
  const bytes = Buffer.concat(await readBody(message, MAX_BYTES));
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString());
  } catch {
    throw new Refused(400, 'not valid JSON');
  }
  const elements = isObject(body) && Object.hasOwn(body, 'elems') ? body['elems'] : undefined;
  if (!Array.isArray(elements) || elements.some((element) => typeof element !== 'string')) {
    throw new Refused(400, 'expected {"elems": [...]} with strings');
  }
  return elements as string[];
}

async function readBody(message: IncomingMessage, longest: number): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  let length = Number(message.headers['content-length'] ?? 0);
  if (length > longest) throw new Refused(413, `more than ${longest} bytes`);
  length = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > longest) throw new Refused(413, `more than ${longest} bytes`);
    chunks.push(chunk);
  }
  return chunks;
}
