import type { FaultOwner } from '../../contract/internal.ts';

/** An exchange that can be aborted. */
export interface Failing {
  /** Name of the endpoint, for example `GET /users`. */
  readonly name: string;
  /** Ends the exchange with 500, or closes its connection if the response has begun. */
  fail(): void;
}

/**
 * Fault owner of everything that runs for a request. Connections and timers that a request has started outlive it and
 * keep their owner in memory, so the owner releases the exchange when it has ended.
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
