import type { Log, Reply } from '#contract';

/** One ERROR line for each thing that failed; a fault of ours with its stack. */
export function logErrors(reply: Reply, log: Log, several: boolean): void {
  for (const [index, error] of reply.errors.entries()) {
    const lead = several ? `Error #${index}: ` : '';
    const detail = error.code === 'GATEWAY_FAULT' && error.cause instanceof Error ? `\n${error.cause.stack}` : '';
    if (error.code === 'CALL_CANCELLED') log.debug(`${lead}${error.message}`);
    else log.error(`${lead}${error.message}${detail}`);
  }
}
