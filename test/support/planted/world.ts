import type { Operations } from '#kernel';

/** A gateway with all systems that it calls, and steps that make it call them. */
export interface World {
  readonly gateway: Operations;
  /** The gateway's address, for requests that a fault must not affect. */
  readonly url: string;
  /** Beginnings of the paths of files whose handlers fail. Default: all. */
  readonly rooms?: readonly string[];
  /** Steps. Each uses a part of the gateway, and throws if that does not work. */
  readonly steps: Readonly<Record<string, () => Promise<unknown>>>;
  /** Checks, by the names of steps, that everything works again after a fault in the step. Default: the step itself. */
  readonly works?: Readonly<Record<string, () => Promise<unknown>>>;
  /** Whether the request for `/held` has reached its backend. */
  isHeld(): boolean;
  /** Completes the request for `/held`, which is pending during the whole test. */
  release(): Promise<void>;
  close(): Promise<void>;
}
