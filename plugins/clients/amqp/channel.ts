import type { ConfirmChannel } from 'amqplib';
import { Silence, within } from '../../shared/calls/during.ts';
import { KeptLink, type Link } from '../broker/kept-link.ts';
import { AmqpError, NOT_CONNECTED, reasonOf } from './amqp-error.ts';
import type { AmqpConnection } from './connection.ts';
import { reportHandlerError } from './handler-error.ts';
import type { AmqpLink } from './link.ts';
import { limitMessages } from './message-limit.ts';

/** Sets up a channel for one purpose, such as publishing, and shuts it down. */
export interface ChannelUse<T> {
  /**
   * Sets up the channel, for example by declaring a queue; a failure counts as a failed connection attempt. @param lost
   * must be called when the channel can no longer be used.
   */
  open(channel: ConfirmChannel, link: AmqpLink, lost: (error: Error) => void): Promise<T>;
  /** Shuts down the use of the channel before the channel is closed; not called when the channel was lost. */
  close?(value: T): Promise<void>;
}

/** An open channel with the value that `ChannelUse.open` has returned. */
export interface OpenChannel<T> extends Link {
  readonly value: T;
}

/** Maximum number of attempts in the first series, regardless of the configured limit for later ones. */
const FIRST_ATTEMPTS = 3;

/** Longest wait for the broker to open and set up a channel, and to close one, in milliseconds. */
const OPENING_MS = 10_000;
const CLOSING_MS = 1000;

/** Creates a channel that is reopened whenever it is lost, with its connection if necessary. Fails with AmqpError without an open channel. */
export function keptChannel<T>(connection: AmqpConnection, use: ChannelUse<T>): KeptLink<OpenChannel<T>> {
  return new KeptLink({
    name: `[AMQP] ${connection.name}`,
    connect: (onLost, signal) => openChannel(connection, use, onLost, signal),
    reasonOf,
    firstAttempts: FIRST_ATTEMPTS,
    failure: () => new AmqpError(NOT_CONNECTED),
  });
}

async function openChannel<T>(
  connection: AmqpConnection,
  use: ChannelUse<T>,
  onLost: (error: Error) => void,
  signal: AbortSignal,
): Promise<OpenChannel<T>> {
  // The connection is opened with its own timeout, and closing the channel does not wait for it.
  const link = await within(Number.POSITIVE_INFINITY, connection.link(), signal);
  try {
    return await openOn(link, use, onLost, signal);
  } catch (error) {
    // The connection is closed, because a broker that does not respond here would not respond on other channels either.
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
  let problem: Error | null = null;
  let isOpen = true;
  const lost = (error: Error) => {
    problem ??= error;
    if (!isOpen) return;
    isOpen = false;
    onLost(problem);
  };
  // Without this listener, an error would end the process.
  channel.on('error', (error) => {
    problem ??= error;
  });
  channel.on('handler-error', (error) => {
    reportHandlerError(error);
    problem ??= error;
    discard(channel);
  });
  // When a connection is lost, its channel closes first. The delay gives the connection time to report the reason.
  channel.on('close', () => setImmediate(lost, new Error('channel closed')));
  void link.closed.then(lost);
  limitMessages(channel);
  let value: T;
  try {
    value = await within(OPENING_MS, use.open(channel, link, lost), signal);
  } catch (error) {
    discard(channel);
    // Whether a message is the one that the library uses if the channel was closed for another reason.
    const isVague = /no reply will be forthcoming/.test((error as Error).message);
    throw (isVague && problem) || error;
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

/** Closes a channel that is no longer used, in any state. */
function discard(channel: ConfirmChannel): void {
  channel.on('error', () => {});
  channel.close().catch(() => {});
}
