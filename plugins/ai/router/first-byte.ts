import { BackendError, ByteStream, type CallError, Reply, toCallError } from '#contract';

/** Waits until a stream has begun. Returns a failed reply if it ends or fails before its first byte. */
export function begun(reply: Reply): Reply | Promise<Reply> {
  const { body } = reply;
  if (!(body instanceof ByteStream)) return reply;
  return new Promise((resolve) => {
    let isBegun = false;
    const output = new ByteStream({ resume: () => body.resume(), cancel: (reason) => body.cancel(reason) });
    const fail = (error: CallError) => resolve(Reply.failed(error));
    body.flow({
      write(chunk) {
        if (!isBegun) {
          isBegun = true;
          reply.body = output;
          resolve(reply);
        }
        return output.write(chunk);
      },
      end() {
        output.end();
        if (!isBegun) fail(new BackendError('ROUTER_EMPTY', 'the provider sent an empty stream'));
      },
      fail(error) {
        output.fail(error);
        if (!isBegun) fail(toCallError(error));
      },
    });
  });
}
