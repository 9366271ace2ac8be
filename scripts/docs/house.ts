import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { graphPicture } from './graph-picture.ts';

/** Path of the picture that CONTRIBUTING.md shows. */
export const PICTURE = 'scripts/docs/house.svg';

const aliases: Readonly<Record<string, string>> = {
  '#contract': 'kernel/contract/index.ts',
  '#kernel': 'kernel/index.ts',
};

/** Node of the picture that a file belongs to: a directory of the kernel, a group of plugins, the admin API or the program. */
function nodeOf(path: string): string | undefined {
  const room = /^kernel\/([^/.]+)\//.exec(path)?.[1];
  if (room) return room;
  if (path === 'kernel/version.ts') return undefined;
  if (path.startsWith('kernel/')) return path === 'kernel/bin.ts' ? 'program' : 'facade';
  if (path.startsWith('admin/')) return 'admin';
  if (/^plugins\/(engines|clients|shared)\//.test(path)) return 'engines, clients, shared';
  return path.startsWith('plugins/') ? 'plugins' : undefined;
}

/** Imported nodes by importing node, without those that are reached through another import. */
export function edges(): ReadonlyMap<string, readonly string[]> {
  const all = new Map<string, Set<string>>();
  for (const file of globSync('{kernel,plugins,admin}/**/*.ts').sort()) {
    const from = nodeOf(file);
    if (from === undefined) continue;
    if (!all.has(from)) all.set(from, new Set());
    for (const { fileName } of ts.preProcessFile(readFileSync(file, 'utf8'), true, true).importedFiles) {
      if (!/^[.#]/.test(fileName)) continue;
      const to = nodeOf(aliases[fileName] ?? normalize(`${dirname(file)}/${fileName}`));
      if (to !== undefined && to !== from) all.get(from)!.add(to);
    }
  }
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
    [...(all.get(from) ?? [])].some((next) => {
      if (next === to) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next, to, seen);
    });
  return new Map(
    [...all].sort().map(([from, targets]) => {
      const others = [...targets];
      return [from, others.filter((to) => !others.some((next) => next !== to && reaches(next, to))).sort()] as const;
    }),
  );
}

/** Picture of the source directories and their imports: an arrow leads from a directory to one that it imports. */
export const picture = (): string => graphPicture('Source directories of Sluice and their imports', edges());

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(PICTURE, picture());
