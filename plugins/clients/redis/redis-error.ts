import { CallError } from '#contract';

/** A Redis command that failed or whose outcome is unknown: it is never sent twice. The client receives 500. */
export class RedisError extends CallError {
  /** False if the call timed out or its client disconnected, which says nothing about the server. */
  readonly isOutage: boolean;

  constructor(connection: string, reason: string, cause?: unknown, isOutage = true) {
    super('REDIS_FAILED', `redis ${connection}: ${reason}`, { view: { status: 500, body: '' }, cause });
    this.isOutage = isOutage;
  }
}
