import type { DataObject } from '../values/data.ts';
import { printJson } from '../values/json.ts';

/** Response format: JSON, or a stream of events. */
export type ReplyForm = 'json' | 'events';

const mediaTypes: Readonly<Record<ReplyForm, string>> = { json: 'application/json', events: 'text/event-stream' };

/** Maximum length of an `Accept` header that is read; the rest is ignored. */
const MAX_ACCEPT = 4096;

/**
 * Returns the preferred format if the client accepts it, otherwise the other one; null when it accepts neither.
 * @param accept the header; undefined when the client accepts anything.
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

/** Returns the headers of a response in a format, as a flat list. */
export function replyHeaders(form: ReplyForm): string[] {
  return form === 'json'
    ? ['Content-Type', mediaTypes.json]
    : ['Content-Type', mediaTypes.events, 'Cache-Control', 'no-cache, no-transform', 'X-Accel-Buffering', 'no'];
}

/** Formats a message; in a stream of events it is the only event. */
export function writtenMessage(message: DataObject, form: ReplyForm): string {
  return form === 'json' ? printJson(message) : `event: message\ndata: ${printJson(message)}\n\n`;
}
