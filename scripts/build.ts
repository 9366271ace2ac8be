import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { bundle } from './build/bundle.ts';
import { compiler } from './build/compiler.ts';
import { componentTypes } from './build/component-types.ts';
import { bundleDashboard } from './build/dashboard.ts';
import { imports } from './build/imports.ts';

/**
 * Builds `dist/`, the content of the published package: the code in few files, the dashboard, types, including those of all
 * components, its own names for `#contract` and `#kernel`, and the reference of every namespace.
 */
rmSync('dist', { recursive: true, force: true });
const declarations = ['--project', 'tsconfig.build.json', '--emitDeclarationOnly'];
execFileSync(process.execPath, [compiler, ...declarations], { stdio: 'inherit' });
writeFileSync('dist/kernel/contract/components.d.ts', await componentTypes());
writeFileSync('dist/package.json', `${JSON.stringify({ type: 'module', imports }, null, 2)}\n`);
await bundle('dist');
await bundleDashboard('dist/dashboard');
chmodSync('dist/kernel/bin.js', 0o755);
execFileSync(process.execPath, ['scripts/docs.ts', '--no-site'], { stdio: 'inherit' });
