import { GatewayError } from '../contract/internal.ts';
import { commonPrefix, commonSuffix } from '../values/common-ends.ts';
import type { Channel } from './channel.ts';
import { type ChangeOrder, type PrepareOrder, TEXT_UNKNOWN, type TextChange } from './messages.ts';

/** Shorter texts, in characters, travel as they are. */
const WORTH_IT = 65_536;

/** The order for a worker that serves another configuration: with what its text differs in. Null where it is to have all. */
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
 * Has a worker get ready for a configuration.
 * @param serving what it serves, as far as it is known here. @throws as of `Channel.ask`.
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
    // It serves another one.
    if (!(error instanceof GatewayError) || error.code !== TEXT_UNKNOWN) throw error;
    await channel.ask('prepare', order, timeoutMs);
  }
}

/** The text that a change makes of another one. */
export function changedText(before: string, { start, end, text }: TextChange): string {
  return before.slice(0, start) + text + before.slice(end);
}
