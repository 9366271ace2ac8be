import { equal } from 'node:assert/strict';
import { mock } from 'node:test';
import { ByteStream, discard } from '#contract';

describe('a discarded body', () => {
  let cancelled: number;
  const stream = (): ByteStream => new ByteStream({ cancel: () => cancelled++ });

  beforeEach(() => {
    cancelled = 0;
    mock.timers.enable({ apis: ['setTimeout'] });
  });
  afterEach(() => mock.timers.reset());

  it('is read to its end if it is short, so that its connection can be reused', () => {
    const body = stream();
    discard(body);
    body.write(Buffer.alloc(1000));
    body.end();
    mock.timers.tick(10_000);
    equal(cancelled, 0);
  });

  it('is canceled if it is longer than 64 KiB', () => {
    const body = stream();
    discard(body);
    equal(body.write(Buffer.alloc(64 * 1024)), true);
    equal(cancelled, 0);
    body.write(Buffer.alloc(1));
    equal(cancelled, 1);
  });

  it('is not read further if it has arrived completely or is not a stream', () => {
    const body = stream();
    body.end();
    discard(body);
    equal(body.arrived, true);
    discard(Buffer.from('a'));
    discard(null);
    mock.timers.tick(1000);
    equal(cancelled, 0);
  });

  it('is no longer tracked once it has ended, failed or been canceled', () => {
    const { setTimeout, clearTimeout } = globalThis;
    const waits = new Set<unknown>();
    mock.method(globalThis, 'setTimeout', (...given: Parameters<typeof setTimeout>) => {
      const timer = setTimeout(...given);
      waits.add(timer);
      return timer;
    });
    mock.method(globalThis, 'clearTimeout', (timer: NodeJS.Timeout) => {
      waits.delete(timer);
      clearTimeout(timer);
    });
    const finishes = [
      (body: ByteStream) => body.end(),
      (body: ByteStream) => body.fail(new Error('broken')),
      (body: ByteStream) => body.write(Buffer.alloc(65 * 1024)),
    ];
    for (const finish of finishes) {
      const body = stream();
      discard(body);
      equal(waits.size, 1);
      finish(body);
      equal(waits.size, 0);
    }
    mock.reset();
  });

  it('is canceled if its end does not arrive in time', () => {
    discard(stream());
    mock.timers.tick(1000);
    equal(cancelled, 1);
  });
});
