import { parseArgs } from 'node:util';
import { isMeasured, startCoverage } from './block-coverage.ts';
import { runCampaign } from './campaign.ts';
import { keepFind } from './corpus.ts';
import { targets } from './targets/index.ts';

/**
 * Fuzzes targets with random inputs: `npm run fuzz -- [TARGET ...] [--minutes 1] [--seed NUMBER]`. Each target runs for
 * the given minutes, or executions (`--executions`); without names, all targets run one after another. `--guided`
 * changes inputs that reached new blocks of the code under test. It finds errors that need exact values, but runs only 20
 * to 50 % of the inputs, and usually reaches fewer blocks in the same time. `--coverage` prints the executed blocks before and after. A failing
 * input is shrunk, printed and saved in `test/fuzz-corpus/TARGET`, where `npm test` replays it from then on. Exits with 1
 * after a find.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '1' },
    executions: { type: 'string' },
    seed: { type: 'string' },
    guided: { type: 'boolean', default: false },
    coverage: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const minutes = Number(values.minutes);
const maxExecutions = Number(values.executions ?? Number.POSITIVE_INFINITY);
if (
  !positionals.every((name) => Object.hasOwn(targets, name)) ||
  !Number.isInteger(seed) ||
  !(minutes > 0) ||
  !(maxExecutions > 0)
) {
  const options = '[--minutes 1] [--executions N] [--seed N] [--guided] [--coverage]';
  console.error(`usage: npm run fuzz -- [TARGET ...] ${options}\n\nTargets:`);
  for (const load of Object.values(targets)) {
    const { name, law } = await load();
    console.error(`  ${name.padEnd(16)}${law}`);
  }
  process.exit(2);
}
if (values.guided || values.coverage) startCoverage();

console.log(`seed ${seed}`);
for (const name of positionals.length > 0 ? positionals : Object.keys(targets)) {
  const each = await targets[name]!();
  const target = values.guided ? each : { ...each, isGuided: false };
  const since = performance.now();
  const report = await runCampaign(target, { limitMs: minutes * 60_000, maxExecutions, seed });
  const { executions, find, grownBytes, blocks, kept } = report;
  const seconds = (performance.now() - since) / 1000;
  console.log(
    `${target.name}: ${executions} executions, ${(executions / seconds).toFixed(1)} a second, ` +
      `heap ${Math.round(grownBytes / 1024)} KiB larger${isMeasured() ? `, ${kept} inputs kept` : ''}`,
  );
  if (values.coverage && blocks)
    console.log(
      `${target.name}: blocks ${blocks.before} -> ${blocks.after} of ${blocks.total} in ${target.rooms.join(' ')}`,
    );
  if (!find) continue;
  process.exitCode = 1;
  console.log(`FIND ${keepFind(target.name, find.input, find.message)}\n${find.message}`);
}
process.exit();
