import { relative, resolve, sep } from 'node:path';

/** The path of a file from the working directory, with slashes; undefined for a file outside of it. */
export function pathFromHere(file: string): string | undefined {
  const steps = relative(process.cwd(), resolve(file)).split(sep);
  return steps[0] === '..' ? undefined : steps.join('/');
}
