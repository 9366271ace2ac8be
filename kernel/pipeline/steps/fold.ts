import type { AfterHook, Call, Reply, Step, Wrap } from '#contract';
import { afterHook } from '../../contract/internal.ts';

/** Combines wraps, outermost first, and the innermost step into one step. Adds no overhead without wraps. */
export function fold<R>(wraps: readonly Wrap<R>[], innermost: Step<R>): Step<R> {
  return stagesOf(wraps).reduceRight((next, stage) => stage.wrap(next), innermost);
}

/** One stage of a pipe: a wrap, or adjacent hooks that see the same reply. */
export interface FoldedStage<R> {
  readonly wrap: Wrap<R>;
  /** The hooks, in the order in which they process the reply; null for any other wrap. */
  readonly hooks: readonly AfterHook<R>[] | null;
}

/** Returns the stages into which wraps are combined, outermost first; adjacent hooks on the reply share one. */
export function stagesOf<R>(wraps: readonly Wrap<R>[]): FoldedStage<R>[] {
  const stages: { wrap: Wrap<R>; hooks: AfterHook<R>[] | null }[] = [];
  for (const wrap of wraps) {
    const hook = afterHook(wrap);
    const last = stages.at(-1);
    if (!hook) stages.push({ wrap, hooks: null });
    else if (!last?.hooks) stages.push({ wrap, hooks: [hook] });
    else {
      // Inner hooks process the reply before outer ones.
      last.hooks.unshift(hook);
      last.wrap = together(last.hooks);
    }
  }
  return stages;
}

function together<R>(hooks: readonly AfterHook<R>[]): Wrap<R> {
  return (next) => (request, call) => {
    const reply = next(request, call);
    return reply instanceof Promise
      ? reply.then((settled) => runFrom(0, hooks, settled, request, call))
      : runFrom(0, hooks, reply, request, call);
  };
}

function runFrom<R>(
  start: number,
  hooks: readonly AfterHook<R>[],
  reply: Reply,
  request: R,
  call: Call,
): Reply | Promise<Reply> {
  for (let at = start; at < hooks.length; at++) {
    const pending = hooks[at]!(reply, request, call);
    if (pending instanceof Promise) return pending.then(() => runFrom(at + 1, hooks, reply, request, call));
  }
  return reply;
}
