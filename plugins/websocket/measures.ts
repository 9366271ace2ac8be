import { type EndpointSite, meterOf } from '#contract';
import { isTooBig, OutOfTime } from './peer.ts';
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
  /** A message is not delivered: nobody it is for, no room, too long, or an envelope that is none. */
  dropped(): void;
  /** A connection ended with an error. */
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

/** What is measured where somebody exports it. */
export function measuresOf(site: EndpointSite<WebsocketConfig>): Measures {
  const meter = site.config.disable_otel_metrics ? null : meterOf(site);
  if (!meter) return unmeasured;
  const endpoint = { endpoint: site.endpoint.endpoint };
  const connections = meter.upDownCounter('websocket.connections', { description: 'Open client WebSockets.' });
  const messages = meter.counter('websocket.messages', { description: 'Messages from and to clients.' });
  const reconnections = meter.counter('websocket.reconnections', {
    description: 'Reconnections to backends.',
  });
  const dropped = meter.counter('websocket.dropped', { description: 'Messages that were not delivered.' });
  const failures = meter.counter('websocket.failures', {
    description: 'Client and backend connections that ended with an error.',
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

/** One of a few words, whatever the error says. */
function reasonOf(error: Error): 'size' | 'protocol' | 'time' | 'connection' {
  if (isTooBig(error)) return 'size';
  if (error instanceof OutOfTime) return 'time';
  return (error as NodeJS.ErrnoException).code?.startsWith('WS_ERR_') ? 'protocol' : 'connection';
}
