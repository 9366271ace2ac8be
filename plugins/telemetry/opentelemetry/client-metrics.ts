import type { ConnectionTimes, MeterAttributes, Reply } from '#contract';
import type { Distribution, Series, Sum } from '../lib/metrics/series.ts';
import type { ClientInstruments } from './instruments.ts';

/** Maximum number of addresses of a backend, and of statuses of an address, whose series are cached. */
const MAX_KNOWN = 64;

/** Failure of a request. */
export type ClientFailure = 'failed' | 'canceled' | 'timedout' | null;

/** Measures the requests to one backend. */
export class ClientMetrics {
  /** Whether connections are measured as well. */
  readonly isDetailed: boolean;
  readonly #instruments: ClientInstruments;
  readonly #attributes: MeterAttributes;
  readonly #known = new Map<string, ClientSeries>();

  constructor(instruments: ClientInstruments, attributes: MeterAttributes, isDetailed: boolean) {
    this.#instruments = instruments;
    this.#attributes = attributes;
    this.isDetailed = isDetailed;
  }

  /** Returns the series of an address. @param origin as in `http://host:port`. */
  of(origin: string): ClientSeries {
    const known = this.#known.get(origin);
    if (known) return known;
    const series = new ClientSeries(this.#instruments, { ...this.#attributes, ...addressOf(origin) }, this.isDetailed);
    if (this.#known.size < MAX_KNOWN) this.#known.set(origin, series);
    return series;
  }
}

function addressOf(origin: string): MeterAttributes {
  if (!URL.canParse(origin)) return { 'server.address': '', 'server.port': 0 };
  const { hostname, port, protocol } = new URL(origin);
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) };
}

interface AnswerSeries {
  readonly duration: Distribution;
  readonly size: Distribution;
  readonly sent: Series;
}

/** The series of one address of a backend. */
export class ClientSeries {
  readonly #instruments: ClientInstruments;
  readonly #attributes: MeterAttributes;
  readonly #counts: ClientInstruments['outcomes'];
  readonly #answers = new Map<number, AnswerSeries>();
  readonly #started: Series | undefined;
  readonly #wait: Distribution | null;
  readonly #read: {
    readonly size: Sum;
    readonly time: Sum;
    readonly sizes: Distribution;
    readonly times: Distribution;
  };

  constructor(instruments: ClientInstruments, attributes: MeterAttributes, isDetailed: boolean) {
    const { outcomes, detailed, connection, read } = instruments;
    this.#instruments = instruments;
    this.#attributes = Object.freeze(attributes);
    this.#counts = isDetailed ? detailed : outcomes;
    this.#started = this.#counts?.started.at(this.#attributes);
    this.#wait = isDetailed ? connection.wait.at(this.#attributes) : null;
    this.#read = {
      size: read.size.at(this.#attributes),
      time: read.time.at(this.#attributes),
      sizes: read.sizes.at(this.#attributes),
      times: read.times.at(this.#attributes),
    };
  }

  started(): void {
    this.#started?.add(1);
  }

  /**
   * Records the arrival of the response headers, or the failure of the request.
   * @param sentBytes size of the request body; undefined if unknown.
   */
  answered(ms: number, reply: Reply, failure: ClientFailure, sentBytes: number | undefined): void {
    const status = failure ? 0 : reply.status;
    const series = this.#answers.get(status) ?? this.#find(status);
    series.duration.add(ms / 1000);
    if (sentBytes !== undefined) series.sent.add(sentBytes);
    if (failure) {
      if (failure === 'canceled') this.#count('canceled');
      else this.#count('failed');
      if (failure === 'timedout') this.#count('timedOut');
      return;
    }
    // A response without a body has no size, regardless of its headers, so none is counted.
    if (reply.body === null) return;
    const length = reply.headers.get('content-length');
    if (length === undefined) this.#count('noContentLength');
    else series.size.add(Number(length));
  }

  connected(waitMs: number, opened: ConnectionTimes | null): void {
    this.#wait?.add(waitMs / 1000);
    if (!this.#wait || !opened) return;
    const { dns, tls } = this.#instruments.connection;
    dns.at(this.#attributes).add(opened.dnsMs / 1000);
    if (opened.tlsMs > 0) tls.at(this.#attributes).add(opened.tlsMs / 1000);
  }

  /** Records that a body was read to its end, or that it failed. */
  read(bytes: number, ms: number, isFailed: boolean): void {
    const { size, time, sizes, times } = this.#read;
    size.add(bytes);
    time.add(ms / 1000);
    sizes.add(bytes);
    times.add(ms / 1000);
    if (isFailed) this.#instruments.read.errors.at({ ...this.#attributes, error: 'true' }).add(1);
  }

  #count(what: 'failed' | 'canceled' | 'timedOut' | 'noContentLength'): void {
    this.#counts?.[what].at(this.#attributes).add(1);
  }

  #find(status: number): AnswerSeries {
    const attributes = Object.freeze({ ...this.#attributes, 'http.response.status_code': status });
    const { duration, responseSize, requestSize } = this.#instruments;
    const series = {
      duration: duration.at(attributes),
      size: responseSize.at(attributes),
      sent: requestSize.at(attributes),
    };
    if (this.#answers.size < MAX_KNOWN) this.#answers.set(status, series);
    return series;
  }
}
