import { lookup } from 'node:dns/promises';
import type { Dispatcher } from 'undici';
import type { DeniedAddresses } from '#contract';
import { deniedError } from './connector.ts';

/**
 * Rejects calls through a proxy that would reach a denied address, because the proxy may run on this machine. Names are
 * looked up locally, and only if their port is denied.
 * @param addresses addresses of the proxy and of the backend, with their schemes.
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

/** Whether a host resolves to a denied address. A name that only the proxy can resolve is not one of this machine. */
async function leadsTo(denied: DeniedAddresses, host: string, port: number): Promise<boolean> {
  const results = await lookup(host, { all: true }).catch(() => []);
  return results.some(({ address }) => denied.has(address, port));
}
