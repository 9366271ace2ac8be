import { deepEqual, equal } from 'node:assert/strict';
import { ByteStream, type Call, HeaderBag, Reply } from '#contract';
import { withTimeout } from '../../../kernel/pipeline/steps/with-timeout.ts';
import { newCall, pipeRequest } from './requests.ts';

/** A body with its own deadline, as its source and its reader see it. */
async function timed(respond: (reply: Reply) => Reply | Promise<Reply> = (reply) => reply) {
  const reported: string[] = [];
  const body = new ByteStream({
    resume: () => void reported.push('resume'),
    cancel: (reason) => void reported.push(`cancel: ${reason.message}`),
  });
  let own!: Call;
  const step = withTimeout(60_000, (_request, call) => {
    own = call;
    return respond(Reply.raw(200, new HeaderBag(), body));
  });
  const around = newCall();
  const reply = await step(pipeRequest(), around);
  const output = reply.body as ByteStream;
  const got: string[] = [];
  let isFull = false;
  const flow = () =>
    output.flow({
      write: (chunk) => {
        got.push(String(Buffer.from(chunk)));
        return !isFull;
      },
      end: () => void got.push('end'),
      fail: (error) => void got.push(`fail: ${error.message}`),
    });
  return {
    body,
    output,
    told: reported,
    got,
    flow,
    fill: () => {
      isFull = true;
    },
    /** True if the call has finished: then it is not notified of the end of its parent. */
    isOver: () => {
      around.cancel(new Error('late'));
      return own.reason === null;
    },
  };
}

describe('a step with its own timeout', () => {
  it('is subject to the timeout until its last byte has arrived', async () => {
    const { isOver, body, flow, told: reported } = await timed();
    flow();
    body.write(Buffer.from('a'));
    equal(isOver(), false);
    deepEqual(reported, []);
    body.end();
  });

  it('ends with the last byte, or with the failure of the bytes', async () => {
    for (const respond of [undefined, async (reply: Reply) => reply]) {
      const ended = await timed(respond);
      ended.flow();
      ended.body.write(Buffer.from('a'));
      ended.body.end();
      deepEqual([ended.got, ended.isOver()], [['a', 'end'], true]);
    }
    const broken = await timed();
    broken.flow();
    broken.body.fail(new Error('reset'));
    deepEqual([broken.got, broken.isOver()], [['fail: reset'], true]);
    const left = await timed();
    left.output.cancel(new Error('left'));
    deepEqual([left.told, left.isOver()], [['cancel: left'], true]);
  });

  it('reads bytes no faster than its reader', async () => {
    const { body, output, told: reported, flow, fill } = await timed();
    flow();
    fill();
    equal(body.write(Buffer.from('a')), false);
    output.resume();
    deepEqual(reported, ['resume']);
    body.end();
  });

  it('ends at once for a reply without a stream', async () => {
    const { isOver } = await timed(() => Reply.data({}));
    equal(isOver(), true);
  });
});
