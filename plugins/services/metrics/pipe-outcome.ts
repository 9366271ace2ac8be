import { CancelledError, type Reply } from '#contract';

/** How a pipe ended, as metrics tell it. */
export interface PipeOutcome {
  /** The pipe failed, or a backend of it did, and was not only given up. */
  readonly error: boolean;
  /** A call of it was given up. */
  readonly canceled: boolean;
  /** There is an answer and it is complete; one of bytes always is. */
  readonly complete: boolean;
}

export function outcomeOf(reply: Reply): PipeOutcome {
  const { errors, status, complete, data } = reply;
  if (errors.length === 0) {
    // A refusal is an answer of a component; a reply of bytes says nothing of completeness.
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
