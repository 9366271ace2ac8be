import { deepEqual, equal } from 'node:assert/strict';
import { ByteStream, CallError, type PipeRequest, Reply, refuse, type Step } from '#contract';
import { mergeReplies, parallel } from '../../../kernel/pipeline/response/merge.ts';
import { json, startBackend, startGateway } from '../../support/gateway.ts';
import { newCall, pipeRequest } from './requests.ts';

const T = 60_000;
const respond =
  (data: Record<string, number>): Step<PipeRequest> =>
  () =>
    Reply.data(data);
const failing =
  (text: string): Step<PipeRequest> =>
  () =>
    Reply.failed(new CallError('TEST', text));

/** A step whose reply the test provides later. */
function held(): { step: Step<PipeRequest>; release: (reply: Reply) => void } {
  const { promise, resolve } = Promise.withResolvers<Reply>();
  return { step: () => promise, release: resolve };
}

const texts = (reply: Reply): string[] => reply.errors.map(({ message }) => message);

describe('the merge of several backends', () => {
  it('merges in the declared order, regardless of the order of arrival', async () => {
    const slow = held();
    const merged = parallel([slow.step, respond({ id: 2, b: 2 })], undefined, T)(pipeRequest(), newCall());
    slow.release(Reply.data({ id: 1, a: 1 }));
    deepEqual((await merged).data, { id: 2, a: 1, b: 2 });
    equal(JSON.stringify((await merged).data), '{"id":2,"a":1,"b":2}');
  });

  it('lists errors in the order in which they occurred', async () => {
    const slow = held();
    const merged = parallel([slow.step, failing('second'), failing('third')], undefined, T)(pipeRequest(), newCall());
    slow.release(Reply.failed(new CallError('TEST', 'first')));
    deepEqual(texts(await merged), ['second', 'third', 'first']);
    equal((await merged).failed, true);
  });

  it('fails only the part whose stage throws or rejects', async () => {
    const throwing: Step<PipeRequest> = () => {
      throw new Error('oops');
    };
    const rejecting: Step<PipeRequest> = () => Promise.reject(new Error('later'));
    const merged = await parallel([throwing, respond({ a: 1 }), rejecting], undefined, T)(pipeRequest(), newCall());
    deepEqual(merged.data, { a: 1 });
    equal(merged.complete, false);
    deepEqual(
      merged.errors.map(({ code }) => code),
      ['GATEWAY_FAULT', 'GATEWAY_FAULT'],
    );
  });

  it('counts a rejection without an error as a failed part', () => {
    const merged = mergeReplies([Reply.data({ a: 1 }), refuse(403)]);
    deepEqual([merged.status, merged.data, merged.complete], [200, { a: 1 }, false]);
    deepEqual(texts(merged), ['refused with status 403']);
  });

  it('fails if every part is a rejection', () => {
    const merged = mergeReplies([refuse(403), refuse(503)]);
    deepEqual([merged.status, merged.failed], [500, true]);
  });

  it('returns empty, incomplete data with 200 if every part was skipped', () => {
    const skipped = Reply.data(null);
    skipped.skipped = true;
    const merged = mergeReplies([skipped, skipped]);
    deepEqual([merged.status, merged.data, merged.complete], [200, {}, false]);
  });

  it('ignores skipped parts when it decides on completeness', () => {
    const skipped = new Reply(200);
    skipped.skipped = true;
    equal(mergeReplies([skipped, Reply.data({ a: 1 })]).complete, true);
    equal(mergeReplies([skipped, Reply.failed(new CallError('TEST', 'gone'))]).failed, true);
  });

  it('cancels every part when the call is canceled', async () => {
    const call = newCall();
    const merged = parallel([() => new Promise<Reply>(() => {}), respond({ a: 1 })], undefined, T)(pipeRequest(), call);
    call.cancel();
    deepEqual(texts(await merged), ['context canceled']);
    deepEqual((await merged).data, { a: 1 });
  });

  it('calls no backend if the call was canceled before', async () => {
    let calls = 0;
    const call = newCall();
    call.cancel();
    const step: Step<PipeRequest> = () => {
      calls++;
      return Reply.data({});
    };
    equal((await parallel([step, step], undefined, T)(pipeRequest(), call)).failed, true);
    equal(calls, 0);
  });

  it('merges once, regardless of late responses', async () => {
    const slow = held();
    const merges: unknown[] = [];
    const call = newCall();
    const combine = (sections: readonly object[]) => {
      merges.push(sections);
      return {};
    };
    const merged = parallel([slow.step, respond({ a: 1 })], combine, T)(pipeRequest(), call);
    call.cancel();
    deepEqual((await merged).complete, false);
    slow.release(Reply.data({ b: 1 }));
    await slow.step(pipeRequest(), call);
    deepEqual(merges, [[{ a: 1 }]]);
  });

  it('omits a backend without data, and lists a rejection among the errors', () => {
    const empty = Reply.data(null);
    let sections: unknown;
    const merged = mergeReplies([empty, refuse(403), Reply.data({ a: 1 })], (all) => {
      sections = all;
      return {};
    });
    deepEqual(sections, [{ a: 1 }]);
    deepEqual(
      merged.errors.map(({ code, message }) => [code, message]),
      [['CALL_REFUSED', 'refused with status 403']],
    );
  });

  it('cancels a body that it does not use', () => {
    let cancelled = 0;
    const body = new ByteStream({ cancel: () => cancelled++ });
    const raw = Reply.data({});
    raw.body = body;
    mergeReplies([raw, Reply.data({ a: 1 })]);
    body.write(Buffer.alloc(65 * 1024));
    equal(cancelled, 1);
  });
});

describe('a merged response', () => {
  it('can be as large as all its parts together', async () => {
    const large = 'x'.repeat(9 * 1024 * 1024);
    const backend = await startBackend((seen, response) => json({ [seen.target.slice(1)]: large })(seen, response));
    const gateway = await startGateway({
      host: [backend.url],
      timeout: '30s',
      endpoints: [{ endpoint: '/x', backend: [{ url_pattern: '/a' }, { url_pattern: '/b' }] }],
    });
    const { statusCode, body } = await gateway.inject({ url: '/x' });
    equal(statusCode, 200);
    equal(body.length, `{"a":"${large}","b":"${large}"}`.length);
    await gateway.close();
    await backend.close();
  });
});
