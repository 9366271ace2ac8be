import { type EndpointSite, meterOf } from '#contract';
import { isTooBig, OutOfTime } from './peer.ts';
import type { WebsocketConfig } from './schema.ts';

/** Metrics of one endpoint. No method waits or throws. */
export interface Measures {
  opened(): void;
  closed(): void;
  /** Counts a message from a client. */
  received(): void;
  /** Counts a message to a client. */
  sent(): void;
  /** Counts a reconnection to the backend. */
  reconnected(): void;
  /** Counts an undelivered message: no recipient, no buffer space, too long, or an invalid envelope. */
  dropped(): void;
  /** Counts a connection that ended with an error. */
  failed(side: 'client' | 'backend', error: Error): void;
}

const unmeasured: Measures = {
  opened() {},
  closed() {},
  received() {},
  sent() {},
  reconnected() {},
  dropped() {},
  failed() {},
};

/** Metrics of an endpoint, recorded if an exporter is configured. */
export function measuresOf(site: EndpointSite<WebsocketConfig>): Measures {
  const meter = site.config.disable_otel_metrics ? null : meterOf(site);
  if (!meter) return unmeasured;
  const endpoint = { endpoint: site.endpoint.endpoint };
  const connections = meter.upDownCounter('websocket.connections', {
    description: 'Number of open client WebSockets.',
  });
  const messages = meter.counter('websocket.messages', { description: 'Number of messages from and to clients.' });
  const reconnections = meter.counter('websocket.reconnections', {
    description: 'Number of reconnections to backends.',
  });
  const dropped = meter.counter('websocket.dropped', { description: 'Number of messages that were not delivered.' });
  const failures = meter.counter('websocket.failures', {
    description: 'Number of client and backend connections that ended with an error.',
  });
  const incoming = { ...endpoint, direction: 'in' };
  const outgoing = { ...endpoint, direction: 'out' };
  return {
    opened: () => connections.add(1, endpoint),
    closed: () => connections.add(-1, endpoint),
    received: () => messages.add(1, incoming),
    sent: () => messages.add(1, outgoing),
    reconnected: () => reconnections.add(1, endpoint),
    dropped: () => dropped.add(1, endpoint),
    failed: (side, error) => failures.add(1, { ...endpoint, side, reason: reasonOf(error) }),
  };
}

/** Classifies an error as one of a few reasons, regardless of its message. */
function reasonOf(error: Error): 'size' | 'protocol' | 'time' | 'connection' {
  if (isTooBig(error)) return 'size';
  if (error instanceof OutOfTime) return 'time';
  return (error as NodeJS.ErrnoException).code?.startsWith('WS_ERR_') ? 'protocol' : 'connection';
}
