import type { BackendSite, Log } from '#contract';
import type { Publisher, Subscriber } from '../../../clients/broker/message.ts';
import type { Address } from './address.ts';

/** Backend that exchanges messages, with its parsed address. */
export interface Opening {
  readonly site: BackendSite<unknown>;
  readonly address: Address;
  /** Field of the component at which errors in the address are reported. */
  readonly field: string;
  /** Log with the address as prefix. */
  readonly log: Log;
  /** Counts messages that are dropped unread. @param count Default: 1. */
  readonly discarded: (count?: number) => void;
}

/**
 * Opens the destination or source of a backend's messages when the configuration becomes active. It survives reloads.
 * @param said value of the environment variable.
 * @throws BadVariable if the value is invalid.
 */
export type Open<T> = (said: string) => T;

/** Driver for one kind of broker. Both functions validate the address, and throw a ConfigError if it is invalid. */
export interface Driver {
  /** Name such as `NATS`. */
  readonly name: string;
  /** Name of the required environment variable; undefined if none is required. */
  readonly variable?: string;
  readonly publisher?: (opening: Opening) => Open<Publisher>;
  readonly subscriber?: (opening: Opening) => Open<Subscriber>;
}

/** An environment variable is invalid. The message contains the reason, but never the value. */
export class BadVariable extends Error {}
