import { gzipSync } from 'node:zlib';
import { type Answering, startBackend, type TestBackend } from './gateway.ts';

/** A backend response, as data. */
export interface CannedAnswer {
  status?: number;
  headers?: Record<string, string | string[]>;
  /** Text is sent unchanged, any other value as JSON. */
  body?: unknown;
  gzip?: true;
}

/** One response for every request, or several in order. `down`: no server listens; `silent`: never responds. */
export type Canned = CannedAnswer | CannedAnswer[] | 'down' | 'silent';

export type CannedBackend = Pick<TestBackend, 'url' | 'host' | 'requests' | 'close'>;

export async function startCanned(canned: Canned): Promise<CannedBackend> {
  if (canned === 'down') {
    const backend = await startBackend(silent);
    await backend.close();
    return { ...backend, close: async () => {} };
  }
  if (canned === 'silent') return startBackend(silent);
  const responses = Array.isArray(canned) ? canned.slice() : [canned];
  return startBackend((seen, response) => {
    const result = responses.length > 1 ? responses.shift()! : responses[0]!;
    const { status = 200, headers = {}, body, gzip } = result;
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (gzip) response.setHeader('Content-Encoding', 'gzip');
    response.writeHead(status);
    response.end(seen.method === 'HEAD' ? undefined : gzip ? gzipSync(text) : text);
  });
}

const silent: Answering = () => {};
