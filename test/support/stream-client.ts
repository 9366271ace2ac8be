import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';

/** A response on its way, read as it comes. */
export interface StreamedResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Everything received so far. */
  readonly bytes: Buffer;
  /** Waits until this has been received. */
  until(text: string): Promise<void>;
  /** Waits for the end: true for a clean one, false when the connection broke. */
  ended(): Promise<boolean>;
  /** Closes the connection. */
  leave(): void;
}

/** Sends a request and resolves as soon as the response's headers are there. @param body of a POST. */
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

/** Longest wait of `eventually`, in milliseconds: longer than any test has. */
const LONGEST_MS = 120_000;

/** Waits until something holds, looked at once in every turn of the event loop. The test's own timeout is what matters. */
export async function eventually(holds: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + LONGEST_MS;
  while (!holds()) {
    if (performance.now() > giveUpAt) throw new Error(`never came true: ${holds}`);
    await new Promise(setImmediate);
  }
}
