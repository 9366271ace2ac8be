/** Addresses that the gateway under test listens on and fetches from. */
export interface Places {
  readonly port: number;
  readonly backend: string;
}

/** A configuration in which everything but the event stream changes with each revision. */
export function configuration(revision: number, { port, backend }: Places): object {
  const at = (kind: string, more: object = {}) => ({ url_pattern: `/${kind}/${revision}`, ...more });
  const stamp = { proxy: { static: { data: { config: revision }, strategy: 'always' } } };
  return {
    version: 3,
    name: `revision ${revision}`,
    port,
    listen_ip: '127.0.0.1',
    timeout: '60s',
    host: [backend],
    extra_config: {
      router: { logger_skip_paths: ['/one', '/pair', '/upload', '/big', '/events'] },
      'telemetry/logging': { level: 'WARNING', stdout: true },
    },
    endpoints: [
      { endpoint: '/one', backend: [at('one')], extra_config: stamp },
      { endpoint: '/pair', backend: [at('one', { group: 'x' }), at('one', { group: 'y' })], extra_config: stamp },
      { endpoint: '/upload', method: 'POST', backend: [at('one', { method: 'POST' })], extra_config: stamp },
      { endpoint: '/big', output_encoding: 'no-op', backend: [{ ...at('big'), encoding: 'no-op' }] },
      {
        endpoint: '/events',
        output_encoding: 'sse',
        timeout: '24h',
        backend: [{ url_pattern: '/events/0', encoding: 'sse' }],
      },
    ],
  };
}

/** Configurations that must be rejected, each in a different step. */
export const broken: readonly ((revision: number, places: Places) => string)[] = [
  (revision, places) => JSON.stringify(configuration(revision, places)).slice(0, -40),
  (revision, places) => JSON.stringify({ ...configuration(revision, places), prot: 1 }),
  (revision, places) => JSON.stringify({ ...configuration(revision, places), timeout: 'soon' }),
  (revision, places) =>
    JSON.stringify({ ...configuration(revision, places), port: Number(new URL(places.backend).port) }),
  (revision, places) =>
    JSON.stringify({ ...configuration(revision, places), tls: { keys: [{ public_key: 'no', private_key: 'no' }] } }),
];
