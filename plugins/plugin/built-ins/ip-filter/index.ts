import { LRUCache } from 'lru-cache';
import { addressMatcher, CallError, type ClientRequest, isAddressRange, type Log, type Site } from '#contract';
import { clientAddress } from './client-address.ts';
import type { IpFilterConfig } from './schema.ts';

export { type IpFilterConfig, schema } from './schema.ts';

/** Rejection of an address, for components that read errors. */
export const rejected = new CallError('IP_REJECTED', 'address rejected', { view: { status: 403, body: '' } });

/** Returns whether a request is admitted. */
export type Admits = (request: ClientRequest) => boolean;

/** Number of addresses logged within the last second that are remembered: about 100 KiB at most. */
const REMEMBERED = 1000;

/** Maximum number of log lines per second: with spoofable headers, every request can have a different address. */
const MOST_LINES = 20;

/**
 * Compiles an address filter. A request without an address passes a deny list. Warnings: IP_FILTER_EMPTY,
 * IP_FILTER_SPOOFABLE.
 * @param pointer to its settings.
 * @throws ConfigError IP_FILTER_RANGE.
 */
export function createIpFilter(site: Site<unknown>, config: IpFilterConfig, pointer: string): Admits {
  const { CIDR: written, allow } = config;
  const ranges = readRanges(site, written, `${pointer}/CIDR`);
  readRanges(site, config.trusted_proxies ?? [], `${pointer}/trusted_proxies`);
  if (ranges.length === 0) {
    const message = allow
      ? 'every client is rejected: no address is listed'
      : 'no client is rejected: no address is listed';
    site.warn('IP_FILTER_EMPTY', `${pointer}/CIDR`, message);
  }
  const addressOf = clientAddress(site, config, pointer);
  const isListed = addressMatcher(ranges);
  const log = site.log.at('[PLUGIN: ip-filter]');
  log.debug(`filtering by ${ranges.length} blocks of addresses`);
  const warn = oncePerSecond(site, log);
  return (request) => {
    const address = addressOf(request);
    const isAdmitted = address === '' ? !allow : isListed(address) === allow;
    if (!isAdmitted) warn(address);
    return isAdmitted;
  };
}

function readRanges(site: Site<unknown>, written: readonly string[], pointer: string): readonly string[] {
  return written.map((text, index) => {
    const range = text.trim();
    if (isAddressRange(range)) return range;
    throw site.fault('IP_FILTER_RANGE', `${pointer}/${index}`, `"${text}" is not a valid IP address or range`, {
      hint: 'as in "10.0.0.0/8", "192.168.1.7" or "2001:db8::/32"',
    });
  });
}

function oncePerSecond(site: Site<unknown>, log: Log): (address: string) => void {
  const clock = site.use('clock');
  const said = new LRUCache<string, number>({ max: REMEMBERED });
  let second = Number.NEGATIVE_INFINITY;
  let lines = 0;
  return (address) => {
    const now = clock.now();
    if (now - second >= 1000) [second, lines] = [now, 0];
    if (lines >= MOST_LINES || now - (said.get(address) ?? Number.NEGATIVE_INFINITY) < 1000) return;
    lines++;
    said.set(address, now);
    log.warning(`rejected ${address || 'a request without an address'}`);
  };
}
