import { CancelledError, type Reply } from '#contract';

/** Outcome of a pipe, for metrics. */
export interface PipeOutcome {
  /** Whether the pipe or one of its backends failed for a reason other than cancellation. */
  readonly error: boolean;
  /** Whether one of the pipe's calls was canceled. */
  readonly canceled: boolean;
  /** Whether there is a complete response; a reply of bytes always counts as complete. */
  readonly complete: boolean;
}

export function outcomeOf(reply: Reply): PipeOutcome {
  const { errors, status, complete, data } = reply;
  if (errors.length === 0) {
    // `complete` is null for a rejection by a component; for a response of undecoded bytes it is not known.
    if (complete === null) return { error: status >= 400, canceled: false, complete: false };
    return complete || data === null ? fine : partial;
  }
  let error = false;
  let canceled = false;
  for (const each of errors) {
    if (each instanceof CancelledError) canceled = true;
    else error = true;
  }
  return { error, canceled, complete: complete === true };
}

const fine: PipeOutcome = Object.freeze({ error: false, canceled: false, complete: true });
const partial: PipeOutcome = Object.freeze({ error: false, canceled: false, complete: false });
