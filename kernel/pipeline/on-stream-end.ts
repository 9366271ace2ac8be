import { ByteStream } from '#contract';

/** The same bytes; `over` is called once when they have ended, broken off, or are not wanted any more. */
export function onStreamEnd(body: ByteStream, over: () => void): ByteStream {
  const output = new ByteStream({
    resume: () => body.resume(),
    cancel(reason) {
      over();
      body.cancel(reason);
    },
  });
  body.flow({
    write: (chunk) => output.write(chunk),
    end() {
      over();
      output.end();
    },
    fail(error) {
      over();
      output.fail(error);
    },
  });
  return output;
}
