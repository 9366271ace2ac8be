import { createHash } from 'node:crypto';
import { type ClientRequest, HeaderBag, Reply } from '#contract';

/** Suffix that every server appends to the client's key (RFC 6455, 1.3). */
const KEY_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Sixteen bytes in base64. */
const keyPattern = /^[+/0-9A-Za-z]{21}[AQgw]==$/;

const tokenPattern = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * Rejects a request that is not a valid WebSocket handshake: 426 when it does not request an upgrade, 400 when the
 * handshake is malformed.
 * @returns undefined for a valid handshake.
 */
export function refuseHandshake({ upgrade, headers }: ClientRequest): Reply | undefined {
  if (upgrade !== 'websocket') {
    const isRequested = /(?:^|,)\s*websocket\s*(?:,|$)/i.test(headers.getAll('upgrade').join());
    if (isRequested) return badRequest('the request cannot be upgraded');
    return Reply.raw(426, new HeaderBag(['Upgrade', 'websocket', 'Connection', 'Upgrade']), null);
  }
  const versions = headers.getAll('sec-websocket-version');
  if (versions.length !== 1 || versions[0] !== '13') {
    return badRequest('the protocol version is not 13', ['Sec-WebSocket-Version', '13']);
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

/** Subprotocols that the client offers, in order of preference. */
export function subprotocolsOf(headers: HeaderBag): string[] {
  const values = headers.getAll('sec-websocket-protocol');
  return values.length === 0
    ? []
    : values
        .join(',')
        .split(',')
        .map((name) => name.trim());
}

/** Headers of the response with status 101. @param subprotocol empty for none. */
export function acceptance(headers: HeaderBag, subprotocol: string): HeaderBag {
  const key = headers.get('sec-websocket-key')!;
  const accept = createHash('sha1')
    .update(key + KEY_SUFFIX)
    .digest('base64');
  const list = ['Sec-WebSocket-Accept', accept];
  if (subprotocol !== '') list.push('Sec-WebSocket-Protocol', subprotocol);
  return new HeaderBag(list);
}
