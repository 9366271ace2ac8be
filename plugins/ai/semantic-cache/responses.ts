import type { Call, Site } from '#contract';
import { within } from '../../shared/calls/during.ts';
import { type Question, ResponseIndex } from './index-of-responses.ts';

/** Maximum time to wait for the process that owns the responses, in milliseconds; beyond it a request bypasses the cache. */
const PATIENCE_MS = 500;

/** Identification of a request in the cache. */
export interface Asked {
  /** Hash of the request parts that must be equal for requests to share a response. */
  readonly variant: string;
  /** Hash of the compared text. */
  readonly text: string;
}

/** Stored responses. */
export interface Responses {
  /** Finds the stored response to a request with the same text. @throws Error if the store does not respond in time. */
  same(asked: Asked, call: Call): string | null | Promise<string | null>;
  /** Finds the stored response to the nearest request within the distance. @param vector in base64. @throws the errors of `same`. */
  near(asked: Asked, vector: string, distance: number, call: Call): string | null | Promise<string | null>;
  /** Stores a response. @throws the errors of `same`. */
  keep(asked: Asked, vector: string, response: string, ttlMs: number): unknown;
}

/** Responses in memory, shared by all workers. The admin API can empty the cache under the name `semantic`. */
export function inMemory(site: Site<unknown>): Responses {
  const clock = site.use('clock');
  const share = site.share<ResponseIndex, Question, string | null>(
    'responses',
    () => new ResponseIndex(),
    (index, question) => index.answer(question, clock.now()),
  );
  const ask = (question: Question): string | null | Promise<string | null> => {
    const answer = share(question);
    return answer instanceof Promise ? within(PATIENCE_MS, answer) : answer;
  };
  site.cache('semantic', () => void ask({ does: 'clear' }));
  return {
    same: (asked) => ask({ does: 'find', ...asked, vector: null, distance: 0 }),
    near: (asked, vector, distance) => ask({ does: 'find', ...asked, vector, distance }),
    keep: (asked, vector, response, ttlMs) => ask({ does: 'keep', ...asked, vector, response, ttlMs }),
  };
}
