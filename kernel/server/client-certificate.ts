import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';

/** The certificate on its connection: the message of HTTP/2 has a proxy for its socket, which passes members on. */
const shown = Symbol('client certificate');

interface Shown {
  [shown]?: X509Certificate;
}

/** Keeps what the client of a new connection has shown: once the connection is closed it could no longer be asked. */
export function keepCertificate(socket: TLSSocket): void {
  const certificate = socket.getPeerX509Certificate();
  if (certificate) (socket as Shown)[shown] = certificate;
}

/** The certificate that the client of a message has shown; null for none, and once a connection of HTTP/2 is closed. */
export function certificateOf({ socket }: IncomingMessage): X509Certificate | null {
  return (socket as Shown | null)?.[shown] ?? null;
}
