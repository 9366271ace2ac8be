import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';

/**
 * Property under which a connection stores the certificate. The socket of an HTTP/2 message is a proxy that forwards
 * this property.
 */
const shown = Symbol('client certificate');

interface Shown {
  [shown]?: X509Certificate;
}

/** Stores the client certificate of a new connection, as it is unavailable once the connection is closed. */
export function keepCertificate(socket: TLSSocket): void {
  const certificate = socket.getPeerX509Certificate();
  if (certificate) (socket as Shown)[shown] = certificate;
}

/** Returns the client certificate of a message's connection; null for none, or once an HTTP/2 connection is closed. */
export function certificateOf({ socket }: IncomingMessage): X509Certificate | null {
  return (socket as Shown | null)?.[shown] ?? null;
}
