import type { DataObject } from '../values/data.ts';
import { printJson } from '../values/json.ts';

/** How an answer is written: as JSON, or as a stream of events. */
export type ReplyForm = 'json' | 'events';

const mediaTypes: Readonly<Record<ReplyForm, string>> = { json: 'application/json', events: 'text/event-stream' };

/** Reading an `Accept` longer than this is not worth it. */
const MAX_ACCEPT = 4096;

/**
 * The form that is preferred where the client takes it, else the other one; null where it takes neither.
 * @param accept the header; undefined for a client that takes anything.
 */
export function replyForm(accept: string | undefined, preferred: ReplyForm): ReplyForm | null {
  const choices: readonly ReplyForm[] = [preferred, preferred === 'json' ? 'events' : 'json'];
  if (accept === undefined || accept.trim() === '') return preferred;
  const ranges = accept
    .slice(0, MAX_ACCEPT)
    .toLowerCase()
    .split(',')
    .map((range) => range.split(';').map((text) => text.trim()))
    .filter(([, ...parameters]) => !parameters.some((text) => /^q\s*=\s*0(?:\.0*)?$/.test(text)))
    .map(([type]) => type!);
  const takes = (form: ReplyForm) => {
    const type = mediaTypes[form];
    return ranges.some((range) => range === type || range === '*/*' || range === `${type.split('/')[0]}/*`);
  };
  return choices.find(takes) ?? null;
}

/** Headers of an answer in a form, as a flat list. */
export function replyHeaders(form: ReplyForm): string[] {
  return form === 'json'
    ? ['Content-Type', mediaTypes.json]
    : ['Content-Type', mediaTypes.events, 'Cache-Control', 'no-cache, no-transform', 'X-Accel-Buffering', 'no'];
}

/** A message in a form; of events it is the only one. */
export function writtenMessage(message: DataObject, form: ReplyForm): string {
  return form === 'json' ? printJson(message) : `event: message\ndata: ${printJson(message)}\n\n`;
}
