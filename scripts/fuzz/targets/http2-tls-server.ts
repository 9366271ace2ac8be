import { makeCertificates } from '../../../test/support/certificates.ts';
import { dialTls } from '../dial.ts';
import { conversations, openServer } from '../http2-clients.ts';
import { defineTarget } from '../target.ts';

/** Frames of HTTP/2 clients over TLS, whose TCP connection is reset. */
export const http2TlsServer = defineTarget({
  name: 'http2-tls-server',
  law: 'Whatever frames a client sends over TLS, each request reaches the backend once at most, is logged once, and none stays open.',
  boundMs: 200,
  rooms: ['kernel/server/'],
  isGuided: true,
  inputs: conversations,
  async open() {
    const certificates = makeCertificates();
    const { certificate, privateKey } = certificates.issue('gateway', certificates.authority('authority'));
    const server = await openServer({ tls: { keys: [{ public_key: certificate, private_key: privateKey }] } }, dialTls);
    return {
      accept: (input) => server.accept(input),
      async close() {
        await server.close();
        certificates.remove();
      },
    };
  },
});
