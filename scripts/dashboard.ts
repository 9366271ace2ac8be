// Builds the dashboard and shows it with a demonstration gateway: `npm run dashboard`.
import { spawnSync } from 'node:child_process';
import { bundleDashboard } from './build/dashboard.ts';

const size = await bundleDashboard('dist/dashboard');
console.log(`dist/dashboard: ${Math.round(size / 1000)} kB`);
const command = ['kernel/bin.ts', 'dashboard', '--demo', ...process.argv.slice(2)];
process.exitCode = spawnSync(process.execPath, command, { stdio: 'inherit' }).status ?? 1;
