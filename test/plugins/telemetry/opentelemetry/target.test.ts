import { deepEqual } from 'node:assert/strict';
import { openExporters } from '../../../../plugins/telemetry/opentelemetry/exporters.ts';

describe('an OTLP collector', () => {
  /** The connection key shows the request target. */
  const targetOf = (config: object): { host: string; port: number; secure: boolean; useHttp: boolean } => {
    let kept: never;
    const site = {
      setting: () => undefined,
      connectsTo() {},
      use: (name: string) => (name === 'version' ? '1.2.3' : { at: () => ({}) }),
      keep(key: never) {
        kept = key;
      },
    };
    const telemetry = { exporters: { otlp: [{ name: 'a', ...config }] } };
    openExporters(site as never, telemetry as never, { resource: {}, headers: undefined, label: '' });
    const { host, port, secure, useHttp } = (kept! as { target: never })['target'] as never;
    return { host, port, secure, useHttp };
  };

  it('has a default port: 4318 for HTTP and 4317 for gRPC', () => {
    const http = { host: 'otel', use_http: true };
    deepEqual(
      [targetOf(http), targetOf({ host: 'otel', use_http: false }), targetOf({ ...http, port: 80 })].map(
        ({ port }) => port,
      ),
      [4318, 4317, 80],
    );
  });

  it('is called over TLS for https hosts, with names and addresses of any form', () => {
    const hosts = ['otel', 'http://otel', 'https://otel/', 'https://[::1]'].map((host) => targetOf({ host }));
    deepEqual(
      hosts.map(({ host, secure }) => [host, secure]),
      [
        ['otel', false],
        ['otel', false],
        ['otel', true],
        ['::1', true],
      ],
    );
  });
});
