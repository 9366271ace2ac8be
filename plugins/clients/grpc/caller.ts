import { ByteStream, type Call, type CallError, type Cancellation, CancelledError } from '#contract';
import { GrpcError, INTERNAL, UNAVAILABLE } from '../../engines/grpc/status.ts';
import { formatTimeout } from '../../engines/grpc/timeout.ts';
import type { Channel, Channels } from './channels.ts';
import { Exchange, type Incoming, type Outgoing } from './exchange.ts';

/** Call settings of a backend's method. */
export interface CallerSettings {
  readonly channels: Channels;
  readonly path: string;
  /** Maximum size of one response message. */
  readonly maxBytes: number;
  readonly idleMs: number;
  /** Whether a call is sent to another server if its own is unreachable or unavailable. */
  readonly usesOthers: boolean;
}

/** Maximum number of known addresses that can replace one another. */
const MAX_KNOWN = 64;

/** Calls one method, at the address chosen by the load balancer. */
export class Caller {
  readonly #settings: CallerSettings;
  /** Known addresses, in the order in which they were first used. */
  readonly #known = new Set<string>();

  /** @param known addresses from the configuration. */
  constructor(settings: CallerSettings, known: readonly string[]) {
    this.#settings = settings;
    for (const origin of known) this.#known.add(origin);
  }

  /** Calls a unary method. Rejects with a GrpcError, or with the reason why the call was canceled. */
  unary(origin: string, metadata: Outgoing['headers'], frame: Buffer, call: Call): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      let message: Uint8Array | null = null;
      let count = 0;
      this.#start(origin, metadata, frame, call, {
        message: (bytes) => {
          message ??= bytes;
          count += 1;
        },
        ended: (failure) => {
          if (failure) reject(failure);
          else if (count === 1) resolve(message!);
          else reject(new GrpcError(INTERNAL, `the server has sent ${count} messages, not one`));
        },
        aborted: reject,
      });
    });
  }

  /**
   * Calls a streaming method. Resolves to the stream of messages, as written by `each`, once there is a first message
   * or the call has succeeded. Rejects like `unary` for failures before the first message.
   */
  stream(
    origin: string,
    metadata: Outgoing['headers'],
    frame: Buffer,
    call: Call,
    each: (message: Uint8Array) => Uint8Array,
  ): Promise<ByteStream> {
    return new Promise((resolve, reject) => {
      let exchange: Running | null = null;
      const body = new ByteStream({
        resume: () => exchange?.resume(),
        cancel: (reason) => exchange?.cancel(reason),
      });
      const fail = (error: Error) => {
        reject(error);
        body.fail(error);
      };
      exchange = this.#start(origin, metadata, frame, call, {
        message: (bytes) => {
          let chunk: Uint8Array;
          try {
            chunk = each(bytes);
          } catch (error) {
            exchange?.cancel(error as Error);
            fail(error as Error);
            return;
          }
          if (!body.write(chunk)) exchange?.pause();
          resolve(body);
        },
        ended: (failure) => {
          if (failure) return fail(failure);
          body.end();
          resolve(body);
        },
        aborted: fail,
      });
    });
  }

  #start(
    origin: string,
    metadata: Outgoing['headers'],
    frame: Buffer,
    call: Call,
    incoming: Incoming & Aborted,
  ): Running {
    return new Running(this.#settings, (avoided) => this.#channel(origin, avoided), {
      metadata,
      frame,
      call,
      incoming,
    });
  }

  /** Returns the channel to an address, or to another known address if the first one is failing. @param avoided channel that has just failed. */
  #channel(origin: string, avoided: Channel | null): Channel | undefined {
    const { channels, usesOthers } = this.#settings;
    const chosen = channels.to(origin);
    if (!usesOthers) return chosen;
    if (!this.#known.has(origin) && this.#known.size < MAX_KNOWN) this.#known.add(origin);
    const isGood = (channel: Channel | undefined) => channel && channel !== avoided && !channel.isFailing;
    if (isGood(chosen)) return chosen;
    for (const other of this.#known) {
      const channel = channels.to(other);
      if (isGood(channel)) return channel;
    }
    return avoided ? undefined : chosen;
  }
}

interface Aborted {
  aborted(reason: Error): void;
}

interface Sending {
  readonly metadata: Outgoing['headers'];
  readonly frame: Buffer;
  readonly call: Call;
  readonly incoming: Incoming & Aborted;
}

/** One call, in at most two attempts. */
class Running {
  readonly #settings: CallerSettings;
  readonly #channel: (avoided: Channel | null) => Channel | undefined;
  readonly #sending: Sending;
  readonly #cancellation: Cancellation | null;
  #exchange: Exchange | null = null;
  #isOver = false;
  #attempts = 0;
  #isPassedOn = false;

  constructor(settings: CallerSettings, channel: (avoided: Channel | null) => Channel | undefined, sending: Sending) {
    this.#settings = settings;
    this.#channel = channel;
    this.#sending = sending;
    this.#cancellation = sending.call.onCancel((reason) => this.#giveUp(reason));
    if (!this.#isOver) this.#attempt(channel(null));
  }

  pause(): void {
    this.#exchange?.pause();
  }

  resume(): void {
    this.#exchange?.resume();
  }

  /** Called when the reader cancels the stream. */
  cancel(reason: Error): void {
    this.#giveUp(reason);
  }

  #attempt(channel: Channel | undefined): void {
    const { metadata, frame, call, incoming } = this.#sending;
    if (!channel) return this.#end(new GrpcError(UNAVAILABLE, 'the address of the backend is not valid'));
    this.#attempts += 1;
    const { remainingMs } = call;
    const headers: Outgoing['headers'] = Object.assign(Object.create(null), metadata, {
      ':method': 'POST',
      ':path': this.#settings.path,
      'content-type': 'application/grpc',
      te: 'trailers',
      'grpc-accept-encoding': 'identity',
    });
    if (remainingMs !== Number.POSITIVE_INFINITY) headers['grpc-timeout'] = formatTimeout(remainingMs);
    const { maxBytes, idleMs } = this.#settings;
    const exchange = new Exchange(channel, maxBytes, idleMs, {
      message: (bytes) => {
        this.#isPassedOn = true;
        if (!this.#isOver) incoming.message(bytes);
      },
      ended: (failure) => this.#settle(channel, exchange, failure),
    });
    this.#exchange = exchange;
    exchange.send({ headers, frame });
  }

  #settle(channel: Channel, exchange: Exchange, failure: GrpcError | null): void {
    if (this.#isOver) return;
    if (failure && this.#attempts === 1 && !this.#sending.call.reason) {
      if (exchange.isRefused) return this.#attempt(channel);
      // If a server states when to retry, no other server is tried in its place.
      const isSilent = failure.status === UNAVAILABLE && failure.pushback === undefined;
      const other = this.#settings.usesOthers && isSilent && !this.#isPassedOn;
      const next = other ? this.#channel(channel) : undefined;
      if (next) return this.#attempt(next);
    }
    this.#end(failure);
  }

  #end(failure: GrpcError | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancellation?.off();
    this.#sending.incoming.ended(failure);
  }

  #giveUp(reason: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancellation?.off();
    this.#exchange?.cancel((reason as CallError).code === 'CALL_DEADLINE');
    this.#sending.incoming.aborted(reason ?? new CancelledError());
  }
}
