import { httpTransport } from '../../../plugins/telemetry/lib/otlp/http-transport.ts';
import { httpDialect } from '../dialects.ts';
import { hostileTarget } from '../hostile-target.ts';

/** A misbehaving OTLP collector over HTTP. */
export const otlp = hostileTarget({
  name: 'otlp',
  dialect: httpDialect('', 'Content-Type: application/x-protobuf'),
  rooms: ['plugins/telemetry/lib/otlp/'],
  deadlineMs: 300,
  recoveryMs: 1_000,
  drive(port) {
    const transport = httpTransport(
      { host: '127.0.0.1', port, secure: false, headers: {}, userAgent: 'a' } as never,
      '/v1/traces',
    );
    return {
      ask: async () => (await transport.send(Buffer.from('abc'), 300)).status === 'success',
      close: () => transport.shutdown(),
    };
  },
});
