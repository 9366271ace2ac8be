import { traceDelegate } from '../../../plugins/telemetry/lib/otlp/delegates.ts';
import { ExportError } from '../../../plugins/telemetry/lib/otlp/export-error.ts';
import { hostileTarget } from '../hostile-target.ts';
import { http2Dialect } from '../http2-dialect.ts';

/** A misbehaving OTLP collector over gRPC. */
export const otlpGrpc = hostileTarget({
  name: 'otlp-grpc',
  dialect: http2Dialect({
    head: [
      [':status', '200'],
      ['content-type', 'application/grpc'],
    ],
    body: Buffer.alloc(5),
    trailers: [['grpc-status', '0']],
  }),
  rooms: ['plugins/telemetry/lib/otlp/'],
  deadlineMs: 4_000,
  recoveryMs: 6_000,
  drive(port) {
    const delegate = traceDelegate({
      host: '127.0.0.1',
      port,
      secure: false,
      useHttp: false,
      headers: { 'x-a': 'b' },
      authorities: [],
      distrustsSystem: false,
      userAgent: 'a',
    });
    return {
      async ask() {
        try {
          await delegate.send([]);
          return true;
        } catch (error) {
          if (error instanceof ExportError) return false;
          throw error;
        }
      },
      close: () => delegate.close(),
    };
  },
});
