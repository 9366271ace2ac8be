// Measures the memory retained after configuration changes: `node scripts/reload-memory.ts [CHANGES] [ENDPOINTS]`.
import { openChangingGateway } from './memory/changing-gateway.ts';
import { type LiveHeap, liveHeap } from './memory/live-heap.ts';

const [changes = 5_000, endpoints = 100] = process.argv.slice(2).map(Number);

const FIRST = 100;
const ROWS = 12;
const TOLERANCE = 0.05;

const inMB = (bytes: number) => (bytes / 1e6).toFixed(2).padStart(6);

const gateway = await openChangingGateway(endpoints);
const step = Math.max(1, Math.ceil((changes - FIRST) / ROWS));
let first: LiveHeap | null = null;
let last: LiveHeap = { data: 0, code: 0 };
for (let change = 1; change <= changes; change++) {
  await gateway.change();
  if (change < FIRST || ((change - FIRST) % step !== 0 && change !== changes)) continue;
  last = await liveHeap();
  first ??= last;
  console.log(
    `${String(change).padStart(6)} changes: in use ${inMB(last.data)} MB, compiled code ${inMB(last.code)} MB`,
  );
}
await gateway.close();
const growth = last.data / first!.data - 1;
console.log(`${endpoints} endpoints, from change ${FIRST} to ${changes}: ${(100 * growth).toFixed(1)} %`);
process.exitCode = growth <= TOLERANCE ? 0 : 1;
