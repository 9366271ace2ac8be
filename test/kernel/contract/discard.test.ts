import { equal } from 'node:assert/strict';
import { mock } from 'node:test';
import { ByteStream, discard } from '#contract';

describe('a body that nobody wants', () => {
  let cancelled: number;
  const stream = (): ByteStream => new ByteStream({ cancel: () => cancelled++ });

  beforeEach(() => {
    cancelled = 0;
    mock.timers.enable({ apis: ['setTimeout'] });
  });
  afterEach(() => mock.timers.reset());

  it('is read to its end when it is short, so that its connection can be used again', () => {
    const body = stream();
    discard(body);
    body.write(Buffer.alloc(1000));
    body.end();
    mock.timers.tick(10_000);
    equal(cancelled, 0);
  });

  it('is given up when it is long', () => {
    const body = stream();
    discard(body);
    body.write(Buffer.alloc(64 * 1024 + 1));
    equal(cancelled, 1);
  });

  it('is given up when its end does not come', () => {
    discard(stream());
    mock.timers.tick(1000);
    equal(cancelled, 1);
  });
});
