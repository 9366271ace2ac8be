import { equal, match, rejects } from 'node:assert/strict';
import { mock } from 'node:test';
import { atService, definePlugin } from '#contract';
import type { Operations } from '#kernel';
import { startWith } from '../../support/plugged.ts';

describe('a change whose component never finishes warming up', () => {
  let gateway: Operations;
  /** Resolves when a component starts to wait. */
  let hung: PromiseWithResolvers<void>;

  const plugin = definePlugin({
    name: 'acme/warm',
    description: 'Warms up for ever when asked to.',
    places: [
      atService(
        {
          type: 'object',
          properties: { hangs: { type: 'boolean', description: 'Ignore the signal.', default: false } },
        },
        (site) => {
          if (!site.config.hangs) return {};
          site.warm(() => {
            hung.resolve();
            return new Promise(() => {});
          });
          return {};
        },
      ),
    ],
  });
  const config = (name: string, hangs: boolean) => ({
    version: 3,
    name,
    endpoints: [],
    extra_config: { 'acme/warm': { hangs } },
  });

  beforeEach(async () => {
    hung = Promise.withResolvers();
    gateway = await startWith([plugin], config('one', false));
    mock.timers.enable({ apis: ['setTimeout'] });
  });
  afterEach(async () => {
    mock.timers.reset();
    await gateway.close();
  });

  it('is canceled two seconds after the next change was requested', async () => {
    const hanging = rejects(gateway.reload(config('two', true)), /canceled because a newer change replaces it/);
    await hung.promise;
    const next = gateway.reload(config('three', false));
    mock.timers.tick(2000);
    await hanging;
    equal((await next).result, 'applied');
  });

  it('is not canceled by a dry run', async () => {
    const hanging = gateway.reload(config('two', true)).catch((error: unknown) => error);
    await hung.promise;
    const tried = gateway.apply({ trigger: 'api', source: config('three', false), dryRun: true });
    mock.timers.tick(2000);
    mock.timers.tick(8000);
    match(String(await hanging), /did not finish within 10 s/);
    equal((await tried).result, 'dry_run');
  });

  it('ends when the gateway closes', async () => {
    const hanging = rejects(gateway.reload(config('two', true)), /the gateway is closing/);
    await hung.promise;
    mock.timers.reset();
    await gateway.close();
    await hanging;
  });
});
