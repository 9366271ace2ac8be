import { lookup } from 'node:dns/promises';
import type { Dispatcher } from 'undici';
import type { DeniedAddresses } from '#contract';
import { deniedError } from './connector.ts';

/**
 * Refuses calls through a proxy that would come out at a denied address: the proxy may well stand on this machine. Names
 * are looked up here, and only where their port is one that is denied.
 * @param addresses of the proxy and of the backend, with their schemes.
 */
export function refusing(
  denied: DeniedAddresses,
  addresses: readonly string[],
): Dispatcher.DispatcherComposeInterceptor {
  const targets = addresses.map((address) => {
    const { hostname, port, protocol } = new URL(address);
    return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (protocol === 'https:' ? 443 : 80) };
  });
  return (dispatch) => (options, handler) => {
    const near = targets.filter(({ port }) => denied.hasPort(port));
    if (near.length === 0) return dispatch(options, handler);
    Promise.all(near.map(({ host, port }) => leadsTo(denied, host, port)))
      .then((results) => {
        const at = results.indexOf(true);
        if (at >= 0) throw deniedError(near[at]!.host);
        dispatch(options, handler);
      })
      .catch((error: Error) => handler.onResponseError?.(null as never, error));
    return true;
  };
}

/** A name that only the proxy knows is not one of this machine. */
async function leadsTo(denied: DeniedAddresses, host: string, port: number): Promise<boolean> {
  const results = await lookup(host, { all: true }).catch(() => []);
  return results.some(({ address }) => denied.has(address, port));
}
