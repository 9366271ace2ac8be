// Checks the types of the gateway and of the dashboard, which run in different environments.
import { spawnSync } from 'node:child_process';
import { compiler } from './build/compiler.ts';
import { writeDashboardTypes } from './build/dashboard-types.ts';

await writeDashboardTypes();
const results = ['tsconfig.json', 'admin/dashboard/page/tsconfig.json'].map((project) => {
  const args = [compiler, '--noEmit', '--checkers', '1', '--project', project];
  return spawnSync(process.execPath, args, { stdio: 'inherit' }).status;
});
process.exitCode = results.every((status) => status === 0) ? 0 : 1;
