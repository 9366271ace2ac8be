import { Agent, request } from 'node:http';
import { afterPatience } from './patience.ts';

/** A request to send. */
export interface HttpCall {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | null;
}

/** A response, with its headers as lines. */
export interface HttpAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Default time to wait for a response, in milliseconds. */
const PATIENCE_MS = 10_000;
/** Connections are kept alive, so that a response that is sent before the end of the request body is not lost. */
const agent = new Agent({ keepAlive: true });

/**
 * A connection that the server closes for being idle, just as a request is sent on it, is replaced by a new one.
 * @param patienceMs maximum time to wait for the response, in milliseconds. @returns status, headers and body; for an
 * event stream, the first data.
 */
export function ask(address: string, call: HttpCall, patienceMs: number = PATIENCE_MS): Promise<HttpAnswer> {
  const { method, target, headers: given, body } = call;
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
  const { hostname, port } = new URL(`http://${address}`);
  const length = body ? { 'Content-Length': String(Buffer.byteLength(body)) } : {};
  const sent = request({ hostname, port, method, path: target, headers: { ...given, ...length }, agent });
  const done = afterPatience(patienceMs, () => sent.destroy(new Error(`${method} ${target}: no answer`)));
  const failed = (error: NodeJS.ErrnoException): void => {
    if (sent.reusedSocket && error.code === 'ECONNRESET') resolve(ask(address, call, patienceMs));
    else reject(error);
  };
  sent.once('close', done).once('error', failed);
  sent.once('response', (response) => {
    let text = '';
    const answer = () => resolve({ status: response.statusCode!, head: response.rawHeaders.join('\n'), body: text });
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    response.once('end', answer).once('error', reject);
    if (!/event-stream/.test(response.headers['content-type'] ?? '')) return;
    answer();
    response.removeListener('error', reject).on('error', () => {});
    sent.removeListener('error', failed).on('error', () => {});
    sent.destroy();
  });
  sent.end(body ?? undefined);
  return promise;
}
