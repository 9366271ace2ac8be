import { type AtService, type Call, type ClientRequest, HeaderBag, type Log } from '#contract';
import type { Answer } from '../pipeline/render.ts';

/** Lets those who asked see the head of an answer, and change it. */
export type SeeHead = (answer: Answer, request: ClientRequest, call: Call) => Answer;

/** @param hooks in the order in which they see a head. @returns null for none. */
export function compileHeads(hooks: readonly NonNullable<AtService['head']>[], log: Log): SeeHead | null {
  if (hooks.length === 0) return null;
  return (answer, request, call) => {
    const head = { status: answer.status, headers: new HeaderBag(answer.headers) };
    for (const hook of hooks) {
      try {
        hook(head, request, call);
      } catch (error) {
        log.error(() => `a component failed at the head of an answer: ${error instanceof Error ? error.stack : error}`);
      }
    }
    return { ...answer, status: head.status, headers: head.headers.list };
  };
}
