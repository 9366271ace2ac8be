import { CallError } from '#contract';

/** A command that Redis did not carry out, or did and nobody knows: it is never sent twice. Its client is answered 500. */
export class RedisTrouble extends CallError {
  constructor(connection: string, reason: string, cause?: unknown) {
    super('REDIS_FAILED', `redis ${connection}: ${reason}`, { view: { status: 500, body: '' }, cause });
  }
}
