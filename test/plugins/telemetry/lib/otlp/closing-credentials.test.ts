import { rejects } from 'node:assert/strict';
import { credentials } from '@grpc/grpc-js';
import { endingWithChannel } from '../../../../../plugins/telemetry/lib/otlp/closing-credentials.ts';

describe('credentials of a gRPC channel to a collector', () => {
  for (const [name, made] of [
    ['plain text', () => credentials.createInsecure()],
    ['TLS', () => credentials.createSsl()],
  ] as const) {
    it(`prevent attempts to connect after the channel is closed, with ${name}`, async () => {
      const connector = endingWithChannel(made())._createSecureConnector({ scheme: 'dns', path: 'localhost:1' }, {});
      await connector.waitForReady();
      connector.destroy();
      await rejects(connector.waitForReady(), /closed/);
    });
  }
});
