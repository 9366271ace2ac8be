import type { BackendSite, Log } from '#contract';
import type { Publisher, Subscriber } from '../../../services/broker/message.ts';
import type { Address } from './address.ts';

/** A backend that exchanges messages, and how its address is written. */
export interface Opening {
  readonly site: BackendSite<unknown>;
  readonly address: Address;
  /** The field of the component that a mistake in the address is shown at. */
  readonly field: string;
  /** With the prefix of the address. */
  readonly log: Log;
  /** Counts messages that are dropped unread. @param count Default: 1. */
  readonly discarded: (count?: number) => void;
}

/**
 * Opens what a backend sends to or takes from, when the configuration serves; it is kept over reloads.
 * @param said the variable of the environment. @throws BadVariable where nothing can be done with that.
 */
export type Open<T> = (said: string) => T;

/** How messages are exchanged with one kind of broker. Both look at the address and throw a ConfigError for a mistake there. */
export interface Driver {
  /** As in `NATS`. */
  readonly name: string;
  /** Variable of the environment without which nothing can be opened; undefined where there is none. */
  readonly variable?: string;
  readonly publisher?: (opening: Opening) => Open<Publisher>;
  readonly subscriber?: (opening: Opening) => Open<Subscriber>;
}

/** What the environment says is of no use. The message says why, and never the value. */
export class BadVariable extends Error {}
