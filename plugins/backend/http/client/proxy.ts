import { isIP } from 'node:net';
import { addressMatcher, HOST_AND_PORT, isAddressRange } from '#contract';
import { isSocketAddress } from './socket-address.ts';

/** Proxies set in the environment, read when the configuration is built. */
export interface ProxyEnvironment {
  /** Proxy for `http://` backends; empty if none is set. */
  readonly http: string;
  /** Proxy for `https://` backends; empty if none is set. */
  readonly https: string;
  /** Hosts that are called directly: names, `.domains`, addresses and ranges, each with an optional port. */
  readonly except: string;
}

/** Reads `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`. The lowercase name takes precedence. */
export function proxyEnvironment(environment: NodeJS.ProcessEnv): ProxyEnvironment {
  const read = (name: string) => environment[name.toLowerCase()] || environment[name] || '';
  return { http: withScheme(read('HTTP_PROXY')), https: withScheme(read('HTTPS_PROXY')), except: read('NO_PROXY') };
}

/** Pattern of proxy addresses: scheme (http, https, socks5), optional user name and password, host and port. */
export const PROXY_ADDRESS_PATTERN = `^(?:[hH][tT][tT][pP][sS]?|[sS][oO][cC][kK][sS]5)://(?:[^@/?#]*@)?${HOST_AND_PORT}/?$`;

const proxyAddress = new RegExp(PROXY_ADDRESS_PATTERN);

export function isProxyAddress(text: string): boolean {
  return proxyAddress.test(text) && URL.canParse(text);
}

/**
 * Returns the environment's proxy for an address.
 * @param origin origin of the backend, such as `http://host:port`.
 * @returns undefined for a direct connection, which loopback addresses always use.
 */
export function environmentProxy(environment: ProxyEnvironment, origin: string): string | undefined {
  if ((environment.http === '' && environment.https === '') || isSocketAddress(origin)) return undefined;
  const url = new URL(origin);
  const proxy = url.protocol === 'https:' ? environment.https : environment.http;
  if (proxy === '') return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return isLoopback(host) || isExcepted(environment.except, host, port) ? undefined : proxy;
}

function withScheme(proxy: string): string {
  return proxy === '' || proxy.includes('://') ? proxy : `http://${proxy}`;
}

const isLoopbackAddress = addressMatcher(['127.0.0.0/8', '::1']);

function isLoopback(host: string): boolean {
  return host === 'localhost' || isLoopbackAddress(host);
}

function isExcepted(except: string, host: string, port: string): boolean {
  for (const entry of except.toLowerCase().split(/[\s,]+/)) {
    if (entry === '') continue;
    if (entry === '*' || matches(entry, host, port)) return true;
  }
  return false;
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry.includes('/')) return isInRange(entry, host);
  const [, name = entry, onlyPort] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
  if (onlyPort !== undefined && onlyPort !== port) return false;
  const wanted = name.replace(/^\[|\]$/g, '').replace(/^\*(?=\.)/, '');
  if (wanted.startsWith('.')) return host.endsWith(wanted);
  return host === wanted || (isIP(wanted) === 0 && host.endsWith(`.${wanted}`));
}

function isInRange(entry: string, host: string): boolean {
  return isAddressRange(entry) && addressMatcher([entry])(host);
}
