import { type EndpointSite, meterOf } from '#contract';
import type { WebsocketConfig } from './schema.ts';

/** Counts what goes on at one endpoint. Nothing of it waits or throws. */
export interface Measures {
  opened(): void;
  closed(): void;
  /** A client sent a message. */
  received(): void;
  /** A client was sent one. */
  sent(): void;
  /** The connection to the backend was made again. */
  reconnected(): void;
}

const unmeasured: Measures = { opened() {}, closed() {}, received() {}, sent() {}, reconnected() {} };

/** What is measured where somebody exports it. */
export function measuresOf(site: EndpointSite<WebsocketConfig>): Measures {
  const meter = site.config.disable_otel_metrics ? null : meterOf(site);
  if (!meter) return unmeasured;
  const endpoint = { endpoint: site.endpoint.endpoint };
  const connections = meter.upDownCounter('websocket.connections', { description: 'Open WebSockets of clients.' });
  const messages = meter.counter('websocket.messages', { description: 'Messages of clients and to clients.' });
  const reconnections = meter.counter('websocket.reconnections', {
    description: 'Connections to backends that were made again.',
  });
  const incoming = { ...endpoint, direction: 'in' };
  const outgoing = { ...endpoint, direction: 'out' };
  return {
    opened: () => connections.add(1, endpoint),
    closed: () => connections.add(-1, endpoint),
    received: () => messages.add(1, incoming),
    sent: () => messages.add(1, outgoing),
    reconnected: () => reconnections.add(1, endpoint),
  };
}
