import type { FaultOwner } from '../contract/internal.ts';

/** An exchange that can be ended in the middle. */
export interface Failing {
  /** As in `GET /users`. */
  readonly name: string;
  /** Ends the exchange: with 500, or with its connection where the response has begun. */
  fail(): void;
}

/**
 * The owner of what runs for a request. Connections and timers that a request has started outlive it and keep its owner in
 * memory, so the owner lets go of the exchange when that has ended.
 */
export class RequestOwner implements FaultOwner {
  readonly place = 'request';
  exchange: Failing | null;

  constructor(exchange: Failing) {
    this.exchange = exchange;
  }

  describe(): string {
    return this.exchange?.name ?? 'a request that has ended';
  }

  fail(): void {
    this.exchange?.fail();
  }
}
