import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { atEndpoint, definePlugin, Reply } from '#contract';

const file = fileURLToPath(import.meta.url);

/** A plugin that counts as loaded from this file. A query parameter determines its behavior, in any process. */
export const misbehaving = definePlugin({
  name: 'test/misbehaving',
  description: 'Does what it should not.',
  contract: 1,
  source: { file, hash: 'one', files: [file] },
  places: [
    atEndpoint({ type: 'object', properties: {} }, () => ({
      endpoint: (next) => (request, call) => {
        const act = request.query.get('act');
        if (act === 'throw') throw new TypeError('boom');
        if (act === 'reject') void Promise.reject(new TypeError('stray'));
        if (act === 'timer') setTimeout(throwLater);
        if (act === 'loop') spin(Number.POSITIVE_INFINITY);
        if (act === 'block') spin(Number(request.query.get('ms')));
        if (act === 'next') return next(request, call);
        if (act === 'await')
          return delay(1)
            .then(() => spin(Number(request.query.get('ms'))))
            .then(() => Reply.data(null));
        return Reply.data({ pid: process.pid });
      },
    })),
  ],
});

function throwLater(): never {
  throw new TypeError('late');
}

/** Blocks the event loop. */
export function spin(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
