import { type AdminAddress, parseAdminAddress } from '#contract';
import { UsageError } from '../arguments.ts';

/** Address of an admin port. */
export interface Destination {
  /** URL prefix for request paths. */
  readonly base: string;
  /** The gateway's listen address, which the name of its token file contains. */
  readonly listen: string;
}

/** Default address of the admin port. */
export const DEFAULT_ADDRESS = '127.0.0.1:9180';

/** Parses a listen address of a gateway, or `http(s)://host:port`. @throws UsageError for anything else. */
export function parseAddress(text: string): Destination {
  const address = parseAdminAddress(text);
  const destination = address ? destinationOf(address) : ofUrl(text);
  if (destination) return destination;
  throw new UsageError(`not a valid admin address (host:port, https://host:port or unix:/path): ${text}`);
}

/** @returns null when the admin port is off. */
function destinationOf(address: AdminAddress): Destination | null {
  if (address.kind === 'off') return null;
  if (address.kind === 'unix') {
    // The HTTP client expects a colon between the path of the socket and the path of the request.
    const socket = address.path.split('/').map(encodeURIComponent).join('/');
    return { base: `http://unix:${socket}:`, listen: `unix:${address.path}` };
  }
  const host = address.host || '127.0.0.1';
  const listen = `${host.includes(':') ? `[${host}]` : host}:${address.port}`;
  return { base: `http://${listen}`, listen };
}

/** @returns null for an invalid URL, or one with additional parts, such as a password. */
function ofUrl(text: string): Destination | null {
  if (!/^https?:\/\/[^/?#@]+(?:\/[^?#]*)?$/i.test(text) || !URL.canParse(text)) return null;
  const { protocol, hostname, port, href } = new URL(text);
  const portInUse = port || (protocol === 'https:' ? '443' : '80');
  return { base: href.replace(/\/$/, ''), listen: `${hostname}:${portInUse}` };
}
