import { lookup } from 'node:dns/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { type Channel, type ChannelModel, connect, type Options, type SocketOptions } from 'amqplib';
import { connectionOwner, type DeniedAddresses, runOwned, timerMs } from '#contract';
import { within } from '../../shared/calls/during.ts';
import type { TlsClient } from '../tls/client-tls.ts';
import type { AmqpAddress } from './address.ts';
import { reasonOf } from './amqp-error.ts';
import { failByEarlyErrors } from './early-errors.ts';
import { reportHandlerError } from './handler-error.ts';

/** Settings that a connection is opened with. */
export interface AmqpSettings {
  readonly address: AmqpAddress;
  /** TLS settings; null for a connection without TLS. */
  readonly tls: TlsClient | null;
  /** Destinations that a connection must not reach. */
  readonly denied: DeniedAddresses;
}

export interface AmqpLink {
  readonly model: ChannelModel;
  /** Why the broker accepts no messages at the moment, such as full memory; null while it accepts them. */
  readonly blocked: string | null;
  /** Resolves with the reason once the connection is lost or closed. */
  readonly closed: Promise<Error>;
  /** Closes the connection cleanly, within one second; after that the socket is destroyed regardless of the broker. Never throws. */
  close(): Promise<void>;
}

/** Longest wait for a connection that the gateway closes, in milliseconds. */
const GOODBYE_MS = 1000;

/** Largest frame that is read: a larger one from a broker that has not negotiated the frame size is an attack. */
const FRAME_BYTES = 131_072;

/**
 * Connects, authenticates and opens the virtual host.
 * @param signal cancels the attempt.
 * @throws Error with the reason, after `connectMs` of the address at the latest.
 */
export async function openLink({ address, tls, denied }: AmqpSettings, signal: AbortSignal): Promise<AmqpLink> {
  failByEarlyErrors();
  const { host, port, username, password, vhost, heartbeatS: heartbeat, connectMs } = address;
  const ending = new AbortController();
  const ended = Promise.withResolvers<Error>();
  const owner = connectionOwner('broker connection', address.name, (error) => {
    ended.resolve(error);
    ending.abort();
  });
  const giveUp = () => ending.abort();
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    giveUp();
  }, timerMs(connectMs));
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  try {
    // The name lookup has the same time limit, because a name server may not respond for longer than the attempt may
    // take.
    if (denied.hasPort(port)) {
      await within(Number.POSITIVE_INFINITY, demandAllowed(denied, host, port), ending.signal);
    }
    const model = await runOwned(
      owner,
      connect,
      {
        protocol: address.isEncrypted ? 'amqps' : 'amqp',
        hostname: host,
        port,
        username,
        password,
        vhost,
        heartbeat,
        frameMax: FRAME_BYTES,
        maxFrameSize: FRAME_BYTES,
      } as Options.Connect,
      // Aborting the signal destroys the socket, during the handshake and at any later time.
      { noDelay: true, keepAlive: true, ...tls, signal: ending.signal } as SocketOptions,
    );
    return watched(model, ending, ended);
  } catch (error) {
    giveUp();
    if (isLate) throw new Error(`not connected within ${connectMs}ms`);
    throw new Error(signal.aborted ? 'closed' : reasonOf(error), { cause: error });
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', giveUp);
  }
}

/**
 * Closes a connection with its only channel. The library queues what it sends for a channel, including
 * acknowledgements; closing the connection directly would overtake that queue.
 */
export async function closeWith(link: AmqpLink, channel: Channel): Promise<void> {
  const ended = channel.close().catch(() => {});
  await Promise.race([ended, link.closed, pause(GOODBYE_MS, undefined, { ref: false })]);
  await link.close();
}

/** @throws Error when a connection would reach the gateway's own admin port. */
async function demandAllowed(denied: DeniedAddresses, host: string, port: number): Promise<void> {
  const addresses = await lookup(host, { all: true });
  if (addresses.some(({ address }) => denied.has(address, port))) {
    throw new Error('the gateway does not connect to its own admin port');
  }
}

/** @param ended settles when the connection is lost, or after an error in one of its handlers. */
function watched(model: ChannelModel, ending: AbortController, ended: PromiseWithResolvers<Error>): AmqpLink {
  let blocked: string | null = null;
  let problem: Error | null = null;
  const { promise: closed, resolve: onClosed } = ended;
  model.on('blocked', (reason) => {
    blocked = reason || 'the broker accepts no messages';
  });
  model.on('unblocked', () => {
    blocked = null;
  });
  // Without this listener, an error would end the process.
  model.on('error', (error) => {
    problem ??= error;
  });
  model.on('handler-error', (error) => {
    reportHandlerError(error);
    onClosed(problem ?? error);
    ending.abort();
  });
  model.once('close', (error) => {
    onClosed(problem ?? error ?? new Error('closed'));
    // The socket is destroyed, because the library would wait for the broker to end it.
    ending.abort();
  });
  return {
    model,
    closed,
    get blocked() {
      return blocked;
    },
    async close() {
      const late = setTimeout(() => ending.abort(), GOODBYE_MS);
      model.close().catch(() => ending.abort());
      await closed;
      clearTimeout(late);
    },
  };
}
