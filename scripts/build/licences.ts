import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Licenses of the bundled packages. @param files paths of the bundled modules. @throws Error for a package without a license. */
export function licencesOf(files: Iterable<string>): string {
  const folders = new Set(Array.from(files, (file) => /^\/.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? ''));
  folders.delete('');
  const texts = new Map(Array.from(folders, (folder) => [titleOf(folder), licenceOf(folder)]));
  const sections = [...texts].sort(([one], [other]) => (one < other ? -1 : 1)).map((lines) => lines.join('\n\n'));
  return `The code in lib/ contains these packages.\n\n${sections.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

function titleOf(folder: string): string {
  const { name, version, license } = manifestOf(folder);
  if (!license) throw new Error(`${folder} names no licence`);
  return `${name} ${version} (${license})`;
}

function licenceOf(folder: string): string {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  const text = file === undefined ? licenceInReadme(folder) : readFileSync(join(folder, file), 'utf8');
  if (!text) throw new Error(`${folder} has no text of its licence`);
  return text.trim();
}

/** License of a package that has it only in its README, as the last section. */
function licenceInReadme(folder: string): string | undefined {
  const file = readdirSync(folder).find((name) => /^readme/i.test(name));
  return file && /^#+ *licen[cs]e\s*$([\s\S]*)/im.exec(readFileSync(join(folder, file), 'utf8'))?.[1];
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
