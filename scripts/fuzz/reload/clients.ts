import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { get as getSecurely } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { afterPatience } from '../patience.ts';

/** An address at which the gateway serves. */
export interface Address {
  readonly port: number;
  readonly isSecured: boolean;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
  /** Fingerprint of the server's certificate; null without TLS. */
  readonly certificate: string | null;
}

/** Time after which a request counts as lost, in milliseconds. */
const PATIENCE_MS = 10_000;

/**
 * Sends a request over a connection of its own.
 * @param begun called when the first data of the response arrives. @param patienceMs longest wait for the response.
 */
export function ask(
  { port, isSecured }: Address,
  path: string,
  { begun = () => {}, patienceMs = PATIENCE_MS }: { begun?: () => void; patienceMs?: number } = {},
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const answered = (response: IncomingMessage): void => {
    let body = '';
    const socket = response.socket as Partial<TLSSocket>;
    const certificate = socket.getPeerCertificate?.().fingerprint256 ?? null;
    response.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
      begun();
    });
    response.once('end', () => resolve({ status: response.statusCode!, body, certificate })).once('error', reject);
  };
  // The host is fixed, because caches distinguish hosts, including their ports.
  const options = { host: '127.0.0.1', port, path, agent: false, headers: { host: 'gateway' } };
  const sent: ClientRequest = isSecured
    ? getSecurely({ ...options, rejectUnauthorized: false }, answered)
    : get(options, answered);
  const late = new Error(`no response to ${path} on port ${port} within ${patienceMs} ms`);
  const done = afterPatience(patienceMs, () => sent.destroy(late));
  sent.once('close', done).once('error', reject);
  return promise;
}
