import { deepEqual, ok } from 'node:assert/strict';
import { silentLog } from '../../../kernel/contract/internal.ts';
import { ConfigBuild } from '../../../kernel/runtime/build/config-build.ts';
import { turnsDuring } from '../../support/turns.ts';

describe('a configuration build that is discarded', () => {
  it('releases its endpoints in reverse order, while requests are served', async () => {
    const registry = { services: { log: silentLog } };
    const build = new ConfigBuild({} as never, {} as never, { registry } as never, 1);
    const released: number[] = [];
    for (let at = 0; at < 20; at++) {
      build.newHold().defer(() => {
        for (const until = performance.now() + 1; performance.now() < until; );
        released.push(at);
      });
    }
    const turns = await turnsDuring(() => build.dispose());
    deepEqual(
      released,
      Array.from({ length: 20 }, (_, at) => 19 - at),
    );
    // Each function takes 1 ms, so that at most two of them run in one turn of the event loop.
    ok(turns >= 10, String(turns));
  });
});
