// Measures the memory usage of a long stream to a slow client: `node scripts/memory.ts [MiB] [output ...]`.
import { inMiB, pass } from './memory/passage.ts';

const [size = '1024', ...named] = process.argv.slice(2);
const bytes = Number(size) * 1024 * 1024;
const outputs = named.length > 0 ? named : ['no-op', 'streaming'];
const ROWS = 24;

for (const output of outputs) {
  const began = performance.now();
  const { before, samples, taken } = await pass(output, bytes, Math.ceil(bytes / 16));
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const step = Math.max(1, Math.ceil(samples.length / ROWS));
  console.log(`\n${output}: ${inMiB(taken)} MiB in ${seconds} s, the client stopping sixteen times`);
  console.table(
    samples
      .filter((_, at) => at % step === 0 || at === samples.length - 1)
      .map((sample) => ({
        'taken MiB': inMiB(sample.taken),
        'under way MiB': inMiB(Math.max(0, sample.sent - sample.taken)),
        stopped: sample.stalled ? 'yes' : '',
        'resident MiB': inMiB(sample.residentBytes),
      })),
  );
  const most = samples.reduce((most, { residentBytes }) => Math.max(most, residentBytes), 0);
  console.log(`before ${inMiB(before)} MiB, at most ${inMiB(most)} MiB, growth ${inMiB(most - before)} MiB`);
}
