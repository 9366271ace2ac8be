import { defineSlot, type PipeRequest, type Reply, type Slot, type Wrap } from '#contract';

/** Requests that one attempt has sent to the backend. */
export interface Sent {
  /** Method of the last request; empty if none was sent. */
  method: string;
  times: number;
  /** Whether a redirect was followed, so that an earlier request was processed. */
  isRedirected: boolean;
  /** `Retry-After` of the last error response. */
  retryAfter: string | undefined;
}

export const sentSlot: Slot<Sent> = defineSlot('retry attempt');

export function nothingSent(): Sent {
  return { method: '', times: 0, isRedirected: false, retryAfter: undefined };
}

/** Records the requests that attempts send. Runs below all components that change requests or decode responses. */
export const recordSent: Wrap<PipeRequest> = (next) => (request, call) => {
  const sent = call.get(sentSlot);
  if (sent === undefined) return next(request, call);
  sent.method = request.method;
  sent.times++;
  const { origin, target } = request;
  const note = (reply: Reply): Reply => {
    if (request.origin !== origin || request.target !== target) sent.isRedirected = true;
    if (reply.status >= 400) sent.retryAfter = reply.headers.get('retry-after');
    return reply;
  };
  const reply = next(request, call);
  return reply instanceof Promise ? reply.then(note) : note(reply);
};
