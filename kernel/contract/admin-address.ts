import { isIP } from 'node:net';
import { join } from 'node:path';

/** Where an admin port listens. */
export type AdminAddress =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly isLoopback: boolean }
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'off' };

/**
 * Reads `host:port`, `[::1]:port`, `:port` for every address of the machine, `unix:/path` or `off`.
 * @returns null for any other text.
 */
export function parseAdminAddress(text: string): AdminAddress | null {
  if (text === 'off') return { kind: 'off' };
  if (text.startsWith('unix:')) return text.startsWith('unix:/') ? { kind: 'unix', path: text.slice(5) } : null;
  const [, bracketed, plain, digits] = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535 || (bracketed !== undefined && isIP(bracketed) !== 6)) return null;
  const host = bracketed ?? plain!;
  return { kind: 'tcp', host, port, isLoopback: /^(?:localhost|127(?:\.\d+){3}|::1)$/i.test(host) };
}

/** The file in a state directory with the token that a gateway made for itself. @param listen where its admin port is. */
export function adminTokenFile(directory: string, listen: string): string {
  return join(directory, `admin-${listen.replaceAll(/[^\w.-]/g, '-')}.token`);
}
