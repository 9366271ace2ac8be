import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { built } from '../../scripts/build/built.ts';

/** Creates a folder like `npm install` of the package, without the types. The caller removes it. */
export async function installBuilt(): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'sluice-built-'));
  const installed = join(home, 'node_modules/sluice');
  cpSync(await built(), join(installed, 'dist'), { recursive: true });
  copyFileSync('package.json', join(installed, 'package.json'));
  writeFileSync(join(home, 'package.json'), JSON.stringify({ type: 'module' }));
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  for (const name of Object.keys(dependencies)) {
    const link = join(home, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(resolve('node_modules', name), link);
  }
  return home;
}
