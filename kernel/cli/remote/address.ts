import { type AdminAddress, parseAdminAddress } from '#contract';
import { UsageError } from '../arguments.ts';

/** How an admin port is reached. */
export interface Destination {
  /** What the path of a request is put behind. */
  readonly base: string;
  /** Where the gateway says that it listens: its token file is named so. */
  readonly listen: string;
}

/** Where it is when nobody says otherwise. */
export const DEFAULT_ADDRESS = '127.0.0.1:9180';

/** Reads what a gateway is told to listen at, or `http(s)://host:port`. @throws UsageError for anything else. */
export function parseAddress(text: string): Destination {
  const address = parseAdminAddress(text);
  const destination = address ? destinationOf(address) : ofUrl(text);
  if (destination) return destination;
  throw new UsageError(`not a valid admin address (host:port, https://host:port or unix:/path): ${text}`);
}

/** @returns null for one that is off. */
function destinationOf(address: AdminAddress): Destination | null {
  if (address.kind === 'off') return null;
  if (address.kind === 'unix') {
    // The client separates the socket from the path of the request by a colon.
    const socket = address.path.split('/').map(encodeURIComponent).join('/');
    return { base: `http://unix:${socket}:`, listen: `unix:${address.path}` };
  }
  const host = address.host || '127.0.0.1';
  const listen = `${host.includes(':') ? `[${host}]` : host}:${address.port}`;
  return { base: `http://${listen}`, listen };
}

/** @returns null for what is no address, or holds more than one, such as a password. */
function ofUrl(text: string): Destination | null {
  if (!/^https?:\/\/[^/?#@]+(?:\/[^?#]*)?$/i.test(text) || !URL.canParse(text)) return null;
  const { protocol, hostname, port, href } = new URL(text);
  const portInUse = port || (protocol === 'https:' ? '443' : '80');
  return { base: href.replace(/\/$/, ''), listen: `${hostname}:${portInUse}` };
}
