import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { licencesOf } from './licences.ts';

const SOURCE = 'admin/dashboard/page';

/** Largest size of all files of the dashboard together, compressed with gzip, in bytes. */
const MAX_BYTES = 250_000;

/**
 * Bundles the dashboard: one script, one style sheet and the page that names them. Files are named by their content.
 * @returns the size of all files, compressed with gzip, in bytes.
 * @throws Error when they exceed 250 kB.
 */
export async function bundleDashboard(folder: string): Promise<number> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const build = await rolldown({
    input: `${SOURCE}/main.tsx`,
    platform: 'browser',
    tsconfig: `${SOURCE}/tsconfig.json`,
    logLevel: 'warn',
  });
  const { output } = await build.generate({ format: 'esm', minify: true, comments: false });
  await build.close();
  const [script] = output;
  writeFileSync(join(folder, 'THIRD-PARTY.txt'), licencesOf(Object.keys(script.modules)));
  const { resolve } = createRequire(import.meta.url);
  const styles = [resolve('uplot/dist/uPlot.min.css'), ...globSync(`${SOURCE}/styles/*.css`).sort()];
  const files = [
    { part: 'script', extension: 'js', content: script.code },
    { part: 'styles', extension: 'css', content: styles.map((path) => readFileSync(path, 'utf8')).join('\n') },
  ];
  let page = readFileSync(`${SOURCE}/index.html`, 'utf8');
  let size = 0;
  for (const { part, extension, content } of files) {
    const name = `${part}-${createHash('sha256').update(content).digest('hex').slice(0, 12)}.${extension}`;
    writeFileSync(join(folder, name), content);
    page = page.replace(`{{${part}}}`, `/dashboard/${name}`);
    size += gzipSync(content).length;
  }
  writeFileSync(join(folder, 'index.html'), page);
  size += gzipSync(page).length;
  if (size > MAX_BYTES) throw new Error(`the dashboard has ${size} bytes, more than ${MAX_BYTES}`);
  return size;
}
