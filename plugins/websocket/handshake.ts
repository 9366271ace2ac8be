import { createHash } from 'node:crypto';
import { type ClientRequest, HeaderBag, Reply } from '#contract';

/** What every server appends to the key of a client (RFC 6455, 1.3). */
const KEY_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Sixteen bytes in base64. */
const keyPattern = /^[+/0-9A-Za-z]{21}[AQgw]==$/;

const tokenPattern = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * What a request is answered that is no handshake of a WebSocket: 426 for one that does not ask for it, 400 for one that does
 * so wrongly.
 * @returns undefined for a good one.
 */
export function refuseHandshake({ upgrade, headers }: ClientRequest): Reply | undefined {
  if (upgrade !== 'websocket') {
    const isAsked = /(?:^|,)\s*websocket\s*(?:,|$)/i.test(headers.getAll('upgrade').join());
    if (isAsked) return badRequest('the request cannot be upgraded');
    return Reply.raw(426, new HeaderBag(['Upgrade', 'websocket', 'Connection', 'Upgrade']), null);
  }
  const versions = headers.getAll('sec-websocket-version');
  if (versions.length !== 1 || versions[0] !== '13') {
    return badRequest('the version of the protocol is not 13', ['Sec-WebSocket-Version', '13']);
  }
  const keys = headers.getAll('sec-websocket-key');
  if (keys.length !== 1 || !keyPattern.test(keys[0]!)) return badRequest('Sec-WebSocket-Key is not valid');
  const offered = subprotocolsOf(headers);
  const isList = offered.every((name) => tokenPattern.test(name)) && new Set(offered).size === offered.length;
  if (!isList) return badRequest('Sec-WebSocket-Protocol is not valid');
  return undefined;
}

function badRequest(message: string, headers: string[] = []): Reply {
  const list = [...headers, 'Content-Type', 'text/plain; charset=utf-8'];
  return Reply.raw(400, new HeaderBag(list), Buffer.from(`${message}\n`));
}

/** Those that the client offers, as it prefers them. */
export function subprotocolsOf(headers: HeaderBag): string[] {
  const values = headers.getAll('sec-websocket-protocol');
  return values.length === 0
    ? []
    : values
        .join(',')
        .split(/[ \t]*,[ \t]*/)
        .map((name) => name.trim());
}

/** The headers beside 101. @param subprotocol none for the empty text. */
export function acceptance(headers: HeaderBag, subprotocol: string): HeaderBag {
  const key = headers.get('sec-websocket-key')!;
  const accept = createHash('sha1')
    .update(key + KEY_SUFFIX)
    .digest('base64');
  const list = ['Sec-WebSocket-Accept', accept];
  if (subprotocol !== '') list.push('Sec-WebSocket-Protocol', subprotocol);
  return new HeaderBag(list);
}
