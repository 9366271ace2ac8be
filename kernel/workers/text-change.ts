import { GatewayError } from '../contract/internal.ts';
import { commonPrefix, commonSuffix } from '../values/common-ends.ts';
import type { Channel } from './channel.ts';
import { type ChangeOrder, type PrepareOrder, TEXT_UNKNOWN, type TextChange } from './messages.ts';

/** Minimum text length, in characters, for sending changes only. */
const WORTH_IT = 65_536;

/** Creates the order for a worker that serves another configuration, with the differences in its text. Null if the full text must be sent. */
function changeOrder(serving: PrepareOrder | null, { text, ...order }: PrepareOrder): ChangeOrder | null {
  if (!serving || text.length < WORTH_IT) return null;
  const start = commonPrefix(serving.text, text);
  const same = commonSuffix(serving.text, text, start);
  const change: TextChange = {
    of: serving.revision,
    start,
    end: serving.text.length - same,
    text: text.slice(start, text.length - same),
  };
  return { ...order, change };
}

/**
 * Makes a worker prepare a configuration.
 * @param serving its serving configuration, as far as it is known here. @throws see `Channel.ask`.
 */
export async function askToPrepare(
  channel: Channel,
  serving: PrepareOrder | null,
  order: PrepareOrder,
  timeoutMs: number,
): Promise<void> {
  try {
    await channel.ask('prepare', changeOrder(serving, order) ?? order, timeoutMs);
  } catch (error) {
    // The worker lacks the base text, so it gets the full text.
    if (!(error instanceof GatewayError) || error.code !== TEXT_UNKNOWN) throw error;
    await channel.ask('prepare', order, timeoutMs);
  }
}

/** Applies a change to a text. */
export function changedText(before: string, { start, end, text }: TextChange): string {
  return before.slice(0, start) + text + before.slice(end);
}
