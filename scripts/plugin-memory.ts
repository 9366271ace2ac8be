// Measures the memory retained after edits of a plugin, under load: `node scripts/plugin-memory.ts [EDITS]`.
import { openEditedPlugin } from './memory/edited-plugin.ts';
import { type LiveHeap, liveHeap } from './memory/live-heap.ts';

const [edits = 500] = process.argv.slice(2).map(Number);

const FIRST = 100;
const STEP = 50;
/**
 * Growth above which the measurement fails, as a share. A plugin of this size takes about 100 kB: if all versions were
 * retained, the heap would double.
 */
const TOLERANCE = 0.05;

const gateway = await openEditedPlugin();
let first: LiveHeap | null = null;
let last: LiveHeap = { data: 0, code: 0 };
for (let edit = 1; edit <= edits; edit++) {
  await gateway.edit();
  if (edit < FIRST || (edit % STEP !== 0 && edit !== edits)) continue;
  last = await liveHeap();
  first ??= last;
  const rss = process.memoryUsage.rss();
  console.log(`${edit} edits: in use ${mb(last.data)} MB, compiled code ${mb(last.code)} MB, resident ${mb(rss)} MB`);
}
const { answered, failed } = await gateway.close();
const growth = last.data / first!.data - 1;
const percent = (100 * growth).toFixed(1);
console.log(`edits ${FIRST} to ${edits}: ${percent} %; ${answered} requests answered meanwhile, ${failed} failed`);
process.exitCode = growth <= TOLERANCE && failed === 0 ? 0 : 1;

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(2);
}
