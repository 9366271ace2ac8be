import { makeCertificates } from '../../../test/support/certificates.ts';
import { driveGateway } from '../drive-gateway.ts';
import { hostileTarget } from '../hostile-target.ts';
import { http2Dialect } from '../http2-dialect.ts';
import { startTls } from '../stage.ts';

const certificates = makeCertificates();
process.once('exit', () => certificates.remove());
const authority = certificates.authority('authority');
const { certificatePem: cert, privateKeyPem: key } = certificates.issue('backend', authority);

/** A misbehaving backend that speaks HTTP/2 over TLS. */
export const http2Backend = hostileTarget({
  name: 'http2-backend',
  dialect: http2Dialect({
    head: [
      [':status', '200'],
      ['content-type', 'application/json'],
    ],
    body: Buffer.from('{"ok":1}'),
    trailers: [],
  }),
  rooms: ['plugins/backend/http/client/', 'plugins/clients/http2/'],
  start: (accepted) => startTls({ cert, key, ALPNProtocols: ['h2'] }, accepted),
  deadlineMs: 300,
  recoveryMs: 2_000,
  drive: (port) =>
    driveGateway(
      {
        backend: [
          {
            host: [`https://127.0.0.1:${port}`],
            url_pattern: '/a',
            extra_config: { 'backend/http/client': { http2: true } },
          },
        ],
      },
      {},
      { client_tls: { ca_certs: [authority.certificate] } },
    ),
});
