import { deepEqual, rejects } from 'node:assert/strict';
import { BackendError, Call, type PipeRequest, Reply, toCallError } from '#contract';
import { reportingInterruptions } from '../../../../plugins/ai/llm/interrupted.ts';
import { listeningToModels, type ModelUsage, modelListenersOf } from '../../../../plugins/shared/ports/model-usage.ts';

const request = {} as PipeRequest;
const usage = { input: 40, output: 60, cost: undefined };

describe('model calls with a token budget', () => {
  let reported: (ModelUsage | null)[];
  let whole: Call;
  let call: Call;

  beforeEach(() => {
    reported = [];
    whole = new Call();
    call = listeningToModels(whole, (each) => void reported.push(each));
  });

  for (const [what, next] of [
    ['returns a failure', () => Reply.failed(toCallError(whole.reason))],
    ['throws', () => Promise.reject(whole.reason)],
  ] as const) {
    it(`are reported with unknown usage if they end before the response because the backend ${what}`, async () => {
      const calling = reportingInterruptions(async () => {
        whole.cancel();
        return next();
      })(request, call);
      await Promise.resolve(calling).catch(() => {});
      deepEqual(reported, [null]);
    });
  }

  it('are reported once per attempt, so an abandoned attempt counts in addition to the next one', async () => {
    const part = call.fork();
    await reportingInterruptions(async () => {
      part.cancel();
      return Reply.failed(toCallError(part.reason));
    })(request, part);
    await reportingInterruptions((_request, own) => {
      for (const listener of modelListenersOf(own)) listener(usage);
      return Reply.data({});
    })(request, call);
    deepEqual(reported, [null, usage]);
  });

  it('are not reported a second time if they end after their usage was reported', async () => {
    await reportingInterruptions(async (_request, own) => {
      for (const listener of modelListenersOf(own)) listener(usage);
      whole.cancel();
      return Reply.failed(toCallError(whole.reason));
    })(request, call);
    deepEqual(reported, [usage]);
  });

  it('are not reported if they fail without an interruption', async () => {
    const failure = new BackendError('HTTP_CONNECT', 'connection refused');
    await reportingInterruptions(() => Reply.failed(failure))(request, call);
    await rejects(async () => reportingInterruptions(() => Promise.reject(failure))(request, call));
    deepEqual(reported, []);
  });
});
