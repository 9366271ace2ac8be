import { addressOf } from '../address-of.ts';
import { Problem } from '../problem.ts';
import type { Guard } from './guard.ts';

/** Ports that a Host header leaves out. */
const implied: ReadonlySet<number> = new Set([80, 443]);

/**
 * Only under names of its own: a page that has its own name resolve to this address does not get through (DNS
 * rebinding). The port that counts is the one the request came to.
 */
export const hostGuard: Guard = ({ allowed_hosts: allowed }) => {
  const others = new Set(allowed.map((host) => host.toLowerCase()));
  return (ctx) => {
    if (addressOf(ctx) === null) return;
    const host = ctx.get('host').toLowerCase();
    const { localAddress = '', localPort = 0 } = ctx.req.socket;
    if (others.has(host) || namesOf(localAddress, localPort).includes(host)) return;
    throw new Problem('misdirected-request', `"${host}" is not one of this port's names; allow it with allowed_hosts`);
  };
};

function namesOf(localAddress: string, port: number): string[] {
  const plain = localAddress.replace(/^::ffff:/, '');
  const own = plain.includes(':') ? `[${plain}]` : plain;
  const names = ['localhost', '127.0.0.1', '[::1]', own];
  return [...names.map((name) => `${name}:${port}`), ...(implied.has(port) ? names : [])];
}
