import type { IncomingMessage, ServerResponse } from 'node:http';
import { isObject, type Log, type PortHandler } from '#contract';
import { type IsAuthorized, keyHolder } from './authorized.ts';
import { Mismatch, type Packed } from './packed-set.ts';

/** Maximum size of a request with elements, in bytes. */
const MAX_BYTES = 1024 * 1024;

/** Operations of a gateway's update port. */
export interface UpdateTarget {
  /** Revokes elements such as `jti-abc`. */
  add(elements: readonly string[]): Promise<void>;
  /** Returns for each element whether it is revoked. */
  has(elements: readonly string[]): Promise<boolean[]>;
  /** Adds a packed set. @returns the resulting fill level of the filters. @throws Mismatch */
  unite(packed: Packed): Promise<number>;
  stats(): object;
  /** Maximum size of a packed set, in bytes. */
  readonly longest: number;
}

/** An invalid request, with the status of its response. */
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

/** Handles the requests to a gateway's update port. @param key null for a port that only this machine can reach. */
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
      // A client that disconnects before its request is complete causes no log line.
      if (!message.destroyed) log.error(() => `the port for revocations failed: ${error.message}`);
      answer(message, response, 500);
    });
  };
}

const ownHost = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i;

/**
 * Whether a web page in a local browser may have sent the request. Pages can reach the loopback address too, through a
 * host name of their own that resolves to it.
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
  // Closes the connection if part of the request is unread.
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
