import type { Instrument } from '../lib/metrics/instrument.ts';
import type { Distribution, Sum } from '../lib/metrics/series.ts';
import type { MetricStore } from '../lib/metrics/store.ts';

/** Prefix of names that no convention defines, taken from KrakenD, whose dashboards use it. */
export const PREFIX = 'krakend';

/** Attribute with the layer of a span. */
export const STAGE = `${PREFIX}.stage`;

type Histogram = Instrument<Distribution>;
type Counter = Instrument<Sum>;

/** Instruments of one store. */
export interface Instruments {
  readonly serverDuration: Histogram;
  readonly serverSize: Histogram;
  readonly proxyDuration: Histogram;
  readonly backendDuration: Histogram;
  readonly client: ClientInstruments;
}

/** Instruments for requests to backends. */
export interface ClientInstruments {
  readonly duration: Histogram;
  readonly responseSize: Histogram;
  readonly requestSize: Histogram | Counter;
  /** Outcome counters; null if outcomes are not counted. */
  readonly outcomes: OutcomeCounters | null;
  readonly connection: ConnectionHistograms;
  readonly read: ReadInstruments;
  /** Outcome counters for detailed reporting; with the 1.27 names, the only ones. */
  readonly detailed: OutcomeCounters;
}

export interface OutcomeCounters {
  readonly started: Counter;
  readonly failed: Counter;
  readonly canceled: Counter;
  readonly timedOut: Counter;
  readonly noContentLength: Counter;
}

export interface ConnectionHistograms {
  readonly wait: Histogram;
  readonly dns: Histogram;
  readonly tls: Histogram;
}

export interface ReadInstruments {
  readonly size: Counter;
  readonly time: Counter;
  readonly errors: Counter;
  readonly sizes: Histogram;
  readonly times: Histogram;
}

/** Bucket bounds of histograms. */
export interface Buckets {
  /** Bucket bounds of durations, in seconds. */
  readonly time: readonly number[];
  /** Bucket bounds of sizes, in bytes. */
  readonly size: readonly number[];
}

/** @param isNew use the names of the 1.27 conventions. */
export function openInstruments(store: MetricStore, { time, size }: Buckets, isNew: boolean): Instruments {
  const times = (name: string, description: string) => store.histogram(name, { description, unit: 's', bounds: time });
  const sizes = (name: string, description: string) => store.histogram(name, { description, unit: 'By', bounds: size });
  const counter = (name: string, description: string, unit?: string) =>
    store.counter(name, unit === undefined ? { description } : { description, unit });
  const sent = 'Size of request bodies to backends.';
  const counters: OutcomeCounters = {
    started: counter('http.client.request.started.count', 'Requests to backends.'),
    failed: counter('http.client.request.failed.count', 'Backend requests that failed.'),
    canceled: counter('http.client.request.canceled.count', 'Backend requests that were canceled.'),
    timedOut: counter('http.client.request.timedout.count', 'Backend requests that timed out.'),
    noContentLength: counter('http.client.response.no-content-length', 'Responses without a Content-Length.'),
  };
  return {
    serverDuration: times(
      isNew ? 'http.server.request.duration' : 'http.server.duration',
      'Duration of client requests.',
    ),
    serverSize: sizes(
      isNew ? 'http.server.response.body.size' : 'http.server.response.size',
      'Size of response bodies to clients.',
    ),
    proxyDuration: times(`${PREFIX}.proxy.duration`, 'Duration of endpoint pipelines.'),
    backendDuration: times(`${PREFIX}.backend.duration`, 'Duration of backend pipelines.'),
    client: {
      duration: times(
        isNew ? 'http.client.request.duration' : 'http.client.duration',
        'Time from sending a backend request to receiving the response headers.',
      ),
      responseSize: sizes(
        isNew ? 'http.client.response.body.size' : 'http.client.response.size',
        'Content-Length of backend responses.',
      ),
      requestSize: isNew
        ? sizes('http.client.request.body.size', sent)
        : counter('http.client.request.size', sent, 'By'),
      outcomes: isNew ? null : counters,
      detailed: counters,
      connection: {
        wait: times('http.client.request.get-conn.duration', 'Time spent waiting for a connection to a backend.'),
        dns: times('http.client.request.dns.duration', 'Duration of DNS lookups of backend names.'),
        tls: times('http.client.request.tls.duration', 'Duration of TLS handshakes with backends.'),
      },
      read: {
        size: counter('http.client.response.read.size', 'Bytes read from backend responses.', 'By'),
        time: counter('http.client.response.read.time', 'Time spent reading backend responses.', 's'),
        errors: counter('http.client.response.read.errors', 'Backend responses that were interrupted.'),
        sizes: sizes('http.client.response.read.size-hist', 'Bytes read from a backend response.'),
        times: times('http.client.response.read.time-hist', 'Time spent reading a backend response.'),
      },
    },
  };
}
