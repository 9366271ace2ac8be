import { CallError } from '#contract';

/** A command that Redis did not carry out, or did and nobody knows: it is never sent twice. Its client is answered 500. */
export class RedisTrouble extends CallError {
  /** False when the caller ran out of time or its client disconnected, which says nothing about the server. */
  readonly isOutage: boolean;

  constructor(connection: string, reason: string, cause?: unknown, isOutage = true) {
    super('REDIS_FAILED', `redis ${connection}: ${reason}`, { view: { status: 500, body: '' }, cause });
    this.isOutage = isOutage;
  }
}
