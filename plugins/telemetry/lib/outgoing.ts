import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { createSecureContext } from 'node:tls';
import got from 'got';
import { type DeniedAddresses, readPem, type Site, systemAuthorities } from '#contract';
import { standardTls } from '../../clients/tls/client-tls.ts';

/** Maximum size of a response, in bytes; only its status is used. */
const MAX_REPLY_BYTES = 65_536;

/** Trust settings and address restrictions for outgoing connections. */
export interface Outgoing {
  /** PEM certificates of the authorities to trust. Undefined for the system trust store. */
  readonly authorities: readonly string[] | undefined;
  readonly denied: Pick<DeniedAddresses, 'has'>;
}

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Timeout for the whole exchange, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/**
 * Applies the service's `client_tls` to an address.
 * @param at pointer to the address. @throws ConfigError of this code if a CA file cannot be read.
 */
export function outgoingOf(site: Site<unknown>, address: string, at: string, code: string): Outgoing {
  const denied = site.use('denied');
  const tls = address.startsWith('https:') ? site.setting('client_tls') : undefined;
  const named = (outgoing: Outgoing): Outgoing => {
    const { authorities } = outgoing;
    const tls = () => (authorities ? { secureContext: createSecureContext({ ca: [...authorities] }) } : standardTls());
    site.connectsTo({ address, tls: address.startsWith('https:') ? tls : null }, at);
    return outgoing;
  };
  const { ca_certs: paths = [], disable_system_ca_pool: distrustsSystem = false } = tls ?? {};
  if (paths.length === 0 && !distrustsSystem) return named({ authorities: undefined, denied });
  const own = paths.map((path) => readPem(site.read, path, '', (_kind, _at, message) => site.fault(code, '', message)));
  return named({ authorities: distrustsSystem ? own : [...systemAuthorities(), ...own], denied });
}

/**
 * Sends a request over a new connection: the server would close an idle one between two requests. Does not follow
 * redirects.
 * @returns the status. @throws Error with the reason, worded for the log.
 */
export async function send(
  url: string,
  { method, headers, body, timeoutMs, signal }: OutgoingRequest,
  { authorities, denied }: Outgoing,
): Promise<number> {
  const { hostname, port, protocol } = new URL(url);
  const number = Number(port || (protocol === 'https:' ? 443 : 80));
  const refusal = new AbortController();
  const request = got(url, {
    method,
    headers: { ...headers },
    ...(body !== undefined && { body }),
    agent: { http: new HttpAgent(), https: new HttpsAgent() },
    ...(authorities && { https: { certificateAuthority: [...authorities] } }),
    timeout: { request: timeoutMs },
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
    signal: signal ? AbortSignal.any([signal, refusal.signal]) : refusal.signal,
  });
  request.on('request', (sent) => {
    sent.once('socket', (socket) => {
      socket.once('connect', () => {
        if (!denied.has(socket.remoteAddress ?? '', number)) return;
        sent.destroy(new Error(`${hostname}:${number} is the gateway's own admin port`));
      });
    });
  });
  request.on('downloadProgress', ({ transferred }) => {
    if (transferred > MAX_REPLY_BYTES) refusal.abort();
  });
  try {
    return (await request).statusCode;
  } catch (error) {
    if (refusal.signal.aborted) throw new Error(`a reply of more than ${MAX_REPLY_BYTES} bytes`);
    throw error;
  }
}
