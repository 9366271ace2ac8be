// Injects failures into a process and its children: `SLUICE_FAILURES=plan.json node --import ./scripts/chaos/failures/preload.ts …`.
// The file is read again whenever it changes.
import { readFileSync, statSync } from 'node:fs';
import { installFailures } from './install.ts';
import { noFailures, type Plan } from './plan.ts';

const path = process.env['SLUICE_FAILURES'];
if (path !== undefined) {
  // Copies of the real functions, taken before they are wrapped.
  const [read, stat] = [readFileSync, statSync];
  const { failures } = await installFailures();
  let seen = '';
  const follow = (): void => {
    try {
      const { mtimeMs, size } = stat(path);
      const state = `${mtimeMs} ${size}`;
      if (state === seen) return;
      failures.plan = JSON.parse(read(path, 'utf8')) as Plan;
      seen = state;
    } catch {
      // If the file is incomplete, it is still being written.
      if (seen === '') failures.plan = noFailures;
    }
  };
  follow();
  setInterval(follow, 20).unref();
  process.on('exit', () => {
    if (failures.injected.size === 0) return;
    const all = [...failures.injected].map(([name, count]) => `${name} x${count}`);
    process.stderr.write(`failures injected: ${all.join(', ')}\n`);
  });
}
