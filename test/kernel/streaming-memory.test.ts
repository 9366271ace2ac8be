import { ok } from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { pass } from '../../scripts/memory/passage.ts';

const MiB = 1024 * 1024;

describe('the memory of the gateway', function () {
  this.timeout(120_000);

  before(function () {
    // Skipped on other systems, where reading the memory of a process requires a program that may not be installed.
    if (!existsSync('/proc/self/status')) this.skip();
  });

  for (const output of ['no-op', 'streaming', 'sse']) {
    it(`stays constant while 256 MiB are streamed to a client that keeps pausing: ${output}`, async () => {
      const { before, samples, taken } = await pass(output, 256 * MiB, 32 * MiB);
      ok(taken > 240 * MiB, `only ${taken} bytes came through`);
      ok(samples.filter(({ stalled }) => stalled).length >= 6, 'the client never held the stream up');
      // Ignores the first quarter, in which code is compiled and garbage collection reaches its steady state.
      const early = samples.filter((sample) => sample.taken < 64 * MiB).map(({ residentBytes }) => residentBytes);
      const later = samples.filter((sample) => sample.taken >= 64 * MiB).map(({ residentBytes }) => residentBytes);
      const grown = Math.max(...later) - Math.max(...early);
      ok(grown < 96 * MiB, `memory grew by ${grown} bytes in the course of the stream`);
      ok(Math.max(...early, ...later) - before < 128 * MiB, 'a stream takes more than 128 MiB');
    });
  }
});
