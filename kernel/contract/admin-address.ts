import { join } from 'node:path';
import { ADMIN_ADDRESS_PATTERN } from '../net/address-pattern.ts';

/** Where an admin port listens. */
export type AdminAddress =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly isLoopback: boolean }
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'off' };

const form = new RegExp(ADMIN_ADDRESS_PATTERN);

/**
 * Reads `host:port`, `[::1]:port`, `:port` for every address of the machine, `unix:/path` or `off`.
 * @returns null for any other text.
 */
export function parseAdminAddress(text: string): AdminAddress | null {
  if (!form.test(text)) return null;
  if (text === 'off') return { kind: 'off' };
  if (text.startsWith('unix:')) return { kind: 'unix', path: text.slice('unix:'.length) };
  const colon = text.lastIndexOf(':');
  const host = text.slice(0, colon).replace(/^\[|\]$/g, '');
  const isLoopback = /^(?:localhost|127(?:\.\d+){3}|::1)$/i.test(host);
  return { kind: 'tcp', host, port: Number(text.slice(colon + 1)), isLoopback };
}

/** The file in a state directory with the token that a gateway made for itself. @param listen where its admin port is. */
export function adminTokenFile(directory: string, listen: string): string {
  return join(directory, `admin-${listen.replaceAll(/[^\w.-]/g, '-')}.token`);
}
