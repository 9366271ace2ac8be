import { lookup } from 'node:dns/promises';
import type { Dispatcher } from 'undici';
import { type DeniedAddresses, timerMs } from '#contract';
import { deniedError } from './connector.ts';
import { TransportError } from './errors.ts';

/** Resolves a name to its addresses. */
export type Resolve = (host: string) => Promise<readonly { readonly address: string }[]>;

const resolveAll: Resolve = (host) => lookup(host, { all: true });

/**
 * Rejects calls through a proxy that would reach a denied address, because the proxy may run on this machine. Names are
 * looked up locally, and only if their port is denied.
 * @param addresses addresses of the proxy and of the backend, with their schemes.
 * @param timeoutMs limit of a lookup.
 */
export function refusing(
  denied: DeniedAddresses,
  addresses: readonly string[],
  timeoutMs: number,
  resolve = resolveAll,
): Dispatcher.DispatcherComposeInterceptor {
  const targets = addresses.map((address) => {
    const { hostname, port, protocol } = new URL(address);
    const host = hostname.replace(/^\[|\]$/g, '');
    return {
      host,
      port: Number(port) || (protocol === 'https:' ? 443 : 80),
      resolved: oneAtATime(host, timeoutMs, resolve),
    };
  });
  return (dispatch) => (options, handler) => {
    const near = targets.filter(({ port }) => denied.hasPort(port));
    if (near.length === 0) return dispatch(options, handler);
    Promise.all(near.map(({ resolved }) => resolved()))
      .then((results) => {
        const target = near.find(({ port }, at) => results[at]!.some(({ address }) => denied.has(address, port)));
        if (target) throw deniedError(target.host);
        dispatch(options, handler);
      })
      .catch((error: Error) => handler.onResponseError?.(null as never, error));
    return true;
  };
}

/**
 * Resolves a name for all calls that wait for it with one lookup: lookups occupy the few threads of the process. A name
 * without addresses can be resolved only by the proxy, so it is not one of this machine; a name whose lookup takes too
 * long fails the call.
 */
function oneAtATime(host: string, timeoutMs: number, resolve: Resolve): () => ReturnType<Resolve> {
  let running: ReturnType<Resolve> | null = null;
  return async () => {
    running ??= resolve(host)
      .catch(() => [])
      .finally(() => {
        running = null;
      });
    const { promise: late, reject } = Promise.withResolvers<never>();
    const fail = () => reject(new TransportError('CONNECT_TIMEOUT', `no address of ${host} within ${timeoutMs} ms`));
    const timer = setTimeout(fail, timerMs(timeoutMs));
    try {
      return await Promise.race([running, late]);
    } finally {
      clearTimeout(timer);
    }
  };
}
