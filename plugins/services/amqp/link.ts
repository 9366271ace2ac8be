import { lookup } from 'node:dns/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { type Channel, type ChannelModel, connect, type Options, type SocketOptions } from 'amqplib';
import { type DeniedAddresses, timerMs } from '#contract';
import type { TlsClient } from '../client-tls.ts';
import type { AmqpAddress } from './address.ts';
import { failByEarlyErrors } from './early-errors.ts';
import { reasonOf } from './trouble.ts';

/** What a connection is made with. */
export interface AmqpSettings {
  readonly address: AmqpAddress;
  /** Null for a plain connection. */
  readonly tls: TlsClient | null;
  /** Where no connection may lead. */
  readonly denied: DeniedAddresses;
}

/** An open connection. */
export interface AmqpLink {
  readonly model: ChannelModel;
  /** Why the broker takes no messages at the moment, as when its memory is full; null when it does. */
  readonly blocked: string | null;
  /** Resolves with the reason once the connection is lost or closed. */
  readonly closed: Promise<Error>;
  /** Says good-bye, which takes at most a second; then the socket is gone whatever the broker does. Never throws. */
  close(): Promise<void>;
}

/** Longest wait for the end of a connection that the gateway closes, in milliseconds. */
const GOODBYE_MS = 1000;

/** The largest frame that is read: that of a broker which has not agreed to a smaller one is an attack. */
const FRAME_BYTES = 131_072;

/**
 * Connects, authenticates and opens the virtual host.
 * @param signal gives it up.
 * @throws Error with the reason, after `connectMs` of the address at the latest.
 */
export async function openLink({ address, tls, denied }: AmqpSettings, signal: AbortSignal): Promise<AmqpLink> {
  failByEarlyErrors();
  const { host, port, username, password, vhost, heartbeatS: heartbeat, connectMs } = address;
  const ending = new AbortController();
  const giveUp = () => ending.abort();
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    giveUp();
  }, timerMs(connectMs));
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  try {
    if (denied.hasPort(port)) await demandAllowed(denied, host, port);
    const model = await connect(
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
      // The signal ends the socket, in the handshake and whenever it is given later.
      { noDelay: true, keepAlive: true, ...tls, signal: ending.signal } as SocketOptions,
    );
    return watched(model, ending);
  } catch (error) {
    giveUp();
    if (isLate) throw new Error(`no connection within ${connectMs}ms`);
    throw new Error(signal.aborted ? 'closed' : reasonOf(error), { cause: error });
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', giveUp);
  }
}

/**
 * Ends a connection with its one channel. What the library has to say for a channel, acknowledgements too, waits in a queue
 * that the end of the connection would overtake.
 */
export async function closeWith(link: AmqpLink, channel: Channel): Promise<void> {
  const ended = channel.close().catch(() => {});
  await Promise.race([ended, link.closed, pause(GOODBYE_MS, undefined, { ref: false })]);
  await link.close();
}

/** @throws Error when a connection would come out at the admin port of the gateway itself. */
async function demandAllowed(denied: DeniedAddresses, host: string, port: number): Promise<void> {
  const addresses = await lookup(host, { all: true });
  if (addresses.some(({ address }) => denied.has(address, port))) {
    throw new Error('the gateway does not connect to its own admin port');
  }
}

function watched(model: ChannelModel, ending: AbortController): AmqpLink {
  let blocked: string | null = null;
  let trouble: Error | null = null;
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<Error>();
  model.on('blocked', (reason) => {
    blocked = reason || 'the broker takes no messages';
  });
  model.on('unblocked', () => {
    blocked = null;
  });
  // Without listeners an error would end the process.
  model.on('error', (error) => {
    trouble ??= error;
  });
  model.on('handler-error', (error) => {
    trouble ??= error;
    ending.abort();
  });
  model.once('close', (error) => {
    onClosed(trouble ?? error ?? new Error('closed'));
    // The library waits for the broker to end the socket.
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
