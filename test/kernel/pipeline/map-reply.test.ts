import { deepEqual, ok } from 'node:assert/strict';
import { type PipeRequest, Reply, type Step } from '#contract';
import { mapReply } from '../../../kernel/pipeline/backend/map-reply.ts';
import { newCall, pipeRequest } from './requests.ts';

const word = (text: string) => (reply: Reply) => {
  reply.headers.append('x', text);
  return reply;
};
const later = (text: string) => async (reply: Reply) => word(text)(reply);
const answer = (step: Step<PipeRequest>) => step(pipeRequest(), newCall());

describe('pipeline steps that change replies', () => {
  it('run innermost first, regardless of nesting', async () => {
    for (const inner of [() => new Reply(200), async () => new Reply(200)]) {
      for (const middle of [word, later]) {
        const step = mapReply(mapReply(mapReply(inner, word('a')), middle('b')), word('c'));
        deepEqual((await answer(step)).headers.getAll('x'), ['a', 'b', 'c']);
      }
    }
  });

  it('respond synchronously if all inner steps do', () => {
    ok(
      answer(
        mapReply(
          mapReply(() => new Reply(200), word('a')),
          word('b'),
        ),
      ) instanceof Reply,
    );
  });

  it('do not modify the steps that they wrap', async () => {
    const inner = mapReply(() => new Reply(200), word('a'));
    mapReply(inner, word('b'));
    deepEqual((await answer(inner)).headers.getAll('x'), ['a']);
  });

  it('receive the request and the call', async () => {
    const request = pipeRequest();
    const call = newCall();
    const seen: unknown[] = [];
    const see = (reply: Reply, ...rest: unknown[]) => {
      seen.push(...rest);
      return reply;
    };
    await mapReply(
      mapReply(async () => new Reply(200), see),
      see,
    )(request, call);
    deepEqual(seen, [request, call, request, call]);
  });
});
