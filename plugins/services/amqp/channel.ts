import type { ConfirmChannel } from 'amqplib';
import { Silence, within } from '../broker/during.ts';
import { KeptLink, type Link } from '../broker/kept-link.ts';
import type { AmqpConnection } from './connection.ts';
import type { AmqpLink } from './link.ts';
import { limitMessages } from './message-limit.ts';
import { AmqpTrouble, NOT_CONNECTED, reasonOf } from './trouble.ts';

/** What is done with a channel. */
export interface ChannelUse<T> {
  /** Declares and begins; a failure counts as no connection. @param lost to be called when it cannot go on. */
  open(channel: ConfirmChannel, link: AmqpLink, lost: (error: Error) => void): Promise<T>;
  /** Ends in order before the channel is closed; not called when the channel was lost. */
  close?(value: T): Promise<void>;
}

/** An open channel, and what it is used for. */
export interface OpenChannel<T> extends Link {
  readonly value: T;
}

/** Attempts at first, whatever the configuration says of later ones. */
const FIRST_ATTEMPTS = 3;

/** Longest wait for the broker to open a channel with all that it is used for, and to close one, in milliseconds. */
const OPENING_MS = 10_000;
const CLOSING_MS = 1000;

/** A channel that is opened again whenever it is lost, with its connection if need be. Whoever asks in vain gets AmqpTrouble. */
export function keptChannel<T>(connection: AmqpConnection, use: ChannelUse<T>): KeptLink<OpenChannel<T>> {
  return new KeptLink({
    name: `[AMQP] ${connection.name}`,
    connect: (onLost, signal) => openChannel(connection, use, onLost, signal),
    reasonOf,
    firstAttempts: FIRST_ATTEMPTS,
    failure: () => new AmqpTrouble(NOT_CONNECTED),
  });
}

async function openChannel<T>(
  connection: AmqpConnection,
  use: ChannelUse<T>,
  onLost: (error: Error) => void,
  signal: AbortSignal,
): Promise<OpenChannel<T>> {
  // It has a time of its own, for which who closes the channel does not wait.
  const link = await within(Number.POSITIVE_INFINITY, connection.link(), signal);
  try {
    return await openOn(link, use, onLost, signal);
  } catch (error) {
    // A broker that does not respond would not do so to others either.
    if (error instanceof Silence) await link.close();
    throw error;
  }
}

async function openOn<T>(
  link: AmqpLink,
  use: ChannelUse<T>,
  onLost: (error: Error) => void,
  signal: AbortSignal,
): Promise<OpenChannel<T>> {
  const opening = link.model.createConfirmChannel();
  const channel = await within(OPENING_MS, opening, signal).catch((error) => {
    opening.then(discard, () => {});
    throw error;
  });
  let trouble: Error | null = null;
  let isOpen = true;
  const lost = (error: Error) => {
    trouble ??= error;
    if (!isOpen) return;
    isOpen = false;
    onLost(trouble);
  };
  // Without listeners an error would end the process.
  channel.on('error', (error) => {
    trouble ??= error;
  });
  channel.on('handler-error', (error) => {
    trouble ??= error;
    discard(channel);
  });
  // With its connection it is lost first, and the connection knows why.
  channel.on('close', () => setImmediate(lost, new Error('channel closed')));
  void link.closed.then(lost);
  limitMessages(channel);
  let value: T;
  try {
    value = await within(OPENING_MS, use.open(channel, link, lost), signal);
  } catch (error) {
    discard(channel);
    // All the library says where the channel was closed for something else.
    const isVague = /no reply will be forthcoming/.test((error as Error).message);
    throw (isVague && trouble) || error;
  }
  return {
    value,
    async close() {
      if (!isOpen) return discard(channel);
      isOpen = false;
      const ended = Promise.resolve(use.close?.(value)).then(() => channel.close());
      await within(CLOSING_MS, ended).catch(() => {});
    },
  };
}

/** Closes a channel that nobody uses any more, whatever its state. */
function discard(channel: ConfirmChannel): void {
  channel.on('error', () => {});
  channel.close().catch(() => {});
}
