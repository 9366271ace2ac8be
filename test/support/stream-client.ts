import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';

/** A streamed response that is read as it arrives. */
export interface StreamedResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Everything received so far. */
  readonly bytes: Buffer;
  /** Waits until the given text has been received. */
  until(text: string): Promise<void>;
  /** Waits for the end: true if it is complete, false if the connection was lost. */
  ended(): Promise<boolean>;
  /** Closes the connection. */
  leave(): void;
}

/** Sends a request and resolves when the response headers have arrived. @param body sends a POST with this body. */
export async function openStream(
  port: number,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<StreamedResponse> {
  const method = body === undefined ? 'GET' : 'POST';
  const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  sent.on('error', () => {});
  let chunks: Buffer[] = [];
  const watchers = new Set<() => void>();
  const changed = (): void => {
    for (const watcher of watchers) watcher();
  };
  const all = (): Buffer => {
    if (chunks.length !== 1) chunks = [Buffer.concat(chunks)];
    return chunks[0]!;
  };
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    changed();
  });
  response.on('error', () => {});
  const closed = new Promise<void>((resolve) => response.once('close', resolve));
  return {
    status: response.statusCode!,
    headers: response.headers,
    get bytes() {
      return all();
    },
    until: (text) =>
      new Promise((resolve, reject) => {
        const watcher = (): void => {
          if (!all().includes(text)) return;
          watchers.delete(watcher);
          resolve();
        };
        watchers.add(watcher);
        response.once('close', () => reject(new Error(`ended before ${JSON.stringify(text)}: ${all()}`)));
        watcher();
      }),
    async ended() {
      await closed;
      return response.complete;
    },
    leave: () => sent.destroy(),
  };
}

/** Maximum wait of `eventually`, in milliseconds: longer than the timeout of any test. */
const LONGEST_MS = 120_000;

/** Waits until a condition is true, checked once per turn of the event loop, limited by the timeout of the test. */
export async function eventually(holds: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + LONGEST_MS;
  while (!holds()) {
    if (performance.now() > giveUpAt) throw new Error(`never came true: ${holds}`);
    await new Promise(setImmediate);
  }
}
