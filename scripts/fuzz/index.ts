import { parseArgs } from 'node:util';
import { runCampaign } from './campaign.ts';
import { keepFind } from './corpus.ts';
import { targets } from './targets/index.ts';

/**
 * Fuzzes targets with random inputs: `npm run fuzz -- [TARGET ...] [--minutes 1] [--seed NUMBER]`. Each target runs for
 * the given minutes; without names, all targets run one after another. A failing input is shrunk, printed and saved in
 * `test/fuzz-corpus/TARGET`, where `npm test` replays it from then on. Exits with 1 after a find.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: 'string', default: '1' }, seed: { type: 'string' } },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const minutes = Number(values.minutes);
const unknown = positionals.filter((name) => !targets.some((target) => target.name === name));
if (unknown.length > 0 || !Number.isInteger(seed) || !(minutes > 0)) {
  console.error(`usage: npm run fuzz -- [TARGET ...] [--minutes 1] [--seed NUMBER]\n\nTargets:`);
  for (const { name, law } of targets) console.error(`  ${name.padEnd(16)}${law}`);
  process.exit(2);
}

console.log(`seed ${seed}`);
for (const target of targets) {
  if (positionals.length > 0 && !positionals.includes(target.name)) continue;
  const { executions, find, grownBytes } = await runCampaign(target, { limitMs: minutes * 60_000, seed });
  console.log(`${target.name}: ${executions} executions, heap ${Math.round(grownBytes / 1024)} KiB larger`);
  if (!find) continue;
  process.exitCode = 1;
  console.log(`FIND ${keepFind(target.name, find.input, find.message)}\n${find.message}`);
}
process.exit();
