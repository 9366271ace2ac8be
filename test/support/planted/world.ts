import type { Operations } from '#kernel';

/** A gateway with all that it talks to, and the ways to make it talk. */
export interface World {
  readonly gateway: Operations;
  /** The gateway's address, for the requests that a fault must not concern. */
  readonly url: string;
  /** Each uses a part of the gateway, and throws where that does not work. */
  readonly steps: Readonly<Record<string, () => Promise<unknown>>>;
  /** Lets the request for `/held`, which is in flight all the time, end. */
  release(): Promise<void>;
  close(): Promise<void>;
}
