import type { IncomingMessage } from 'node:http';
import { CallError, type Reply, type Upgrade } from '#contract';
import type { Answer, Rendering } from '../pipeline/render.ts';
import type { Route } from '../pipeline/route.ts';

/** True for a request without a body that asks to go on in another protocol, which nothing sent behind it can disturb. */
export function asksToSwitch({ headers, httpVersion }: IncomingMessage): boolean {
  if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return false;
  const named = headers.connection?.toLowerCase().split(/\s*,\s*/) ?? [];
  return httpVersion === '1.1' && headers.upgrade !== undefined && named.includes('upgrade');
}

/** The first protocol that a client asks for and that is among these, in lower case; null for none. */
export function protocolOf(message: IncomingMessage, accepted: ReadonlySet<string>): string | null {
  if (accepted.size === 0 || !asksToSwitch(message)) return null;
  const asked = message.headers.upgrade!.toLowerCase().split(/\s*,\s*/);
  return asked.find((protocol) => accepted.has(protocol)) ?? null;
}

/** Headers that say what the connection does next, or describe a body. */
const own = /^(?:connection|upgrade|transfer-encoding|x-gateway|content-.*)$/;

/**
 * The answer that switches a connection to another protocol.
 * @param protocol that the client asks for; null when it asks for none.
 * @throws CallError UPGRADE_REFUSED when the endpoint does not declare that it goes on in it, or nobody asks.
 */
export function renderUpgrade(
  { headers }: Reply,
  upgrade: Upgrade,
  protocol: string | null,
  route: Route | null,
  rendering: Rendering,
): Answer {
  if (protocol === null || !route?.upgrades.has(protocol)) {
    throw new CallError('UPGRADE_REFUSED', `nobody has asked for the switch to another protocol that is answered`);
  }
  headers.filter((name) => !own.test(name));
  headers.list.push('X-Gateway', rendering.version, 'Connection', 'Upgrade', 'Upgrade', protocol);
  return { status: 101, headers: headers.list, body: null, raw: true, upgrade };
}
