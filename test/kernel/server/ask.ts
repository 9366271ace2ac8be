import { type IncomingHttpHeaders, request } from 'node:http';
import { buffer } from 'node:stream/consumers';

export interface Question {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
}

/** Sends a request with the target unchanged, on a separate connection. */
export function ask(
  port: number,
  line: string,
  options: { headers?: Record<string, string | string[]>; body?: string | Buffer } = {},
): Promise<Question> {
  const [method, path] = line.split(' ') as [string, string];
  return new Promise((resolve, reject) => {
    const asking = request({ port, host: '127.0.0.1', method, path, headers: options.headers ?? {}, agent: false });
    asking.on('error', reject);
    asking.on('response', (message) => {
      buffer(message).then((bytes) => {
        resolve({ status: message.statusCode!, headers: message.headers, bytes, text: bytes.toString() });
      }, reject);
    });
    asking.end(options.body);
  });
}
