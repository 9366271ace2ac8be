import type { Call, Reply, Step } from '#contract';

/** Makes a reply of a reply. */
export type ReplyMap<R> = (reply: Reply, request: R, call: Call) => Reply | Promise<Reply>;

/** What a step was made of that changes replies only. */
interface Mapped<R> {
  readonly inner: Step<R>;
  readonly map: ReplyMap<R>;
}

const mappedKey = Symbol('mapped');

/**
 * A step whose replies are those of another one, changed. Steps made so that stand next to each other wait for one promise
 * together.
 */
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
