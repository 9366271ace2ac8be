import { posix } from 'node:path';
import { type Functions, fn } from '../function.ts';

const base = fn('string', (path) => (path === '' ? '.' : posix.basename(path) || '/'));
const dir = fn('string', (path) => {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '.' : clean(path.slice(0, slash + 1));
});
const ext = fn('string', (path) => /\.[^./]*$/.exec(path)?.[0] ?? '');
const isAbs = fn('string', (path) => path.startsWith('/'));
const cleaned = fn('string', clean);

/** Path functions; those for files use the rules of Linux and are the same as those for URLs. */
export const pathFunctions: Functions = {
  base,
  dir,
  ext,
  isAbs,
  clean: cleaned,
  osBase: base,
  osDir: dir,
  osExt: ext,
  osIsAbs: isAbs,
  osClean: cleaned,
};

function clean(path: string): string {
  const normal = posix.normalize(path);
  return normal.length > 1 ? normal.replace(/\/$/, '') : normal;
}
