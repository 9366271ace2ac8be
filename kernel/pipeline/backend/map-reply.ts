import type { Call, Reply, Step } from '#contract';

/** Maps a reply to another reply. */
export type ReplyMap<R> = (reply: Reply, request: R, call: Call) => Reply | Promise<Reply>;

/** The parts of a step made by `mapReply`. */
interface Mapped<R> {
  readonly inner: Step<R>;
  readonly map: ReplyMap<R>;
}

const mappedKey = Symbol('mapped');

/** Returns a step that changes the replies of `next`. Adjacent steps made with this function share one promise. */
export function mapReply<R>(next: Step<R>, map: ReplyMap<R>): Step<R> {
  const within = (next as { [mappedKey]?: Mapped<R> })[mappedKey];
  const inner = within?.inner ?? next;
  const whole = within ? inTurn(within.map, map) : map;
  const step: Step<R> = (request, call) => {
    const reply = inner(request, call);
    return reply instanceof Promise
      ? reply.then((settled) => whole(settled, request, call))
      : whole(reply, request, call);
  };
  return Object.assign(step, { [mappedKey]: { inner, map: whole } });
}

function inTurn<R>(first: ReplyMap<R>, second: ReplyMap<R>): ReplyMap<R> {
  return (reply, request, call) => {
    const changed = first(reply, request, call);
    return changed instanceof Promise
      ? changed.then((settled) => second(settled, request, call))
      : second(changed, request, call);
  };
}
