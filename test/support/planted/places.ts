/**
 * Possible owners of the handlers in each part of the gateway, by path prefix; the longest one applies. It covers every file that registers timers or handlers at emitters of the system.
 */
const places: Readonly<Record<string, readonly string[]>> = {
  'admin/': ['admin'],
  // Accepts connections; each connection owns its handlers from its first event on.
  'admin/server/socket-listener.ts': ['admin', 'process'],
  'kernel/attack/': ['process'],
  'kernel/containment/': ['process'],
  'kernel/cases/': ['process'],
  'kernel/containment/watchdog': ['plugin watchdog'],
  'kernel/contract/': ['request', 'client connection', 'backend connection', 'component'],
  'kernel/control/': ['change', 'process'],
  // The standard output and error of the process have no owner; an output of a component belongs to the component.
  'kernel/inspect/': ['admin', 'process'],
  'kernel/logging/': ['component', 'process'],
  // This code handles the HTTP/2 clients of all code in the process, also of code without an owner.
  'kernel/net/': ['client connection', 'backend connection', 'request', 'process'],
  'kernel/pipeline/': ['request', 'client connection', 'message'],
  'kernel/registry/': ['change'],
  'kernel/registry/isolation/': ['plugin thread'],
  'kernel/runtime/': ['change', 'component'],
  'kernel/runtime/kept/plugin-port.ts': ['component', 'plugin port'],
  'kernel/runtime/watch/': ['file watcher', 'admin'],
  'kernel/runtime/build/warm-up.ts': ['change'],
  'kernel/server/': ['client connection', 'request'],
  // Accepts connections; each connection owns its handlers from its first event on.
  'kernel/server/port/protocols.ts': ['client connection', 'process'],
  // Checks all connections of the port, so it belongs to no single connection.
  'kernel/server/http1/server.ts': ['client connection', 'request', 'process'],
  'kernel/server/http2/lost-connections.ts': ['process'],
  'kernel/values/': ['process'],
  'kernel/workers/': ['worker', 'process'],
  'plugins/': ['component', 'request', 'message'],
  'plugins/async/': ['component', 'broker connection', 'message'],
  'plugins/auth/basic/comparisons.ts': ['component', 'thread'],
  'plugins/backend/': ['backend connection', 'request', 'client connection', 'broker connection', 'component'],
  'plugins/clients/': ['component', 'request'],
  'plugins/clients/amqp/': ['broker connection', 'component', 'request'],
  'plugins/clients/broker/': ['broker connection', 'component', 'request'],
  'plugins/clients/http2/': ['backend connection', 'request'],
  'plugins/clients/kafka/': ['broker connection', 'component', 'request'],
  'plugins/source/': ['configuration source', 'process'],
  'plugins/telemetry/lib/metrics/prometheus-port.ts': ['plugin port'],
  'plugins/clients/nats/': ['broker connection', 'component', 'request'],
  'plugins/clients/redis/': ['redis connection', 'request', 'component'],
  'plugins/telemetry/': ['component', 'log connection', 'telemetry connection', 'plugin port'],
  'plugins/telemetry/lib/otlp/': ['component', 'telemetry connection'],
  'plugins/websocket/': ['request', 'client connection', 'backend connection', 'component'],
};

/** The owners that count an error in a handler of this file. @returns none for a file that is not covered. */
export function placesFor(file: string): readonly string[] {
  const known = Object.keys(places).filter((beginning) => file.startsWith(beginning));
  return places[known.toSorted((a, b) => b.length - a.length)[0] ?? ''] ?? [];
}

export const beginnings: readonly string[] = Object.keys(places);
