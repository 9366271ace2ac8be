import { basename, isAbsolute, join } from 'node:path';
import { ConfigErrors } from '../../contract/internal.ts';
import { Failure } from '../../templates/budget.ts';
import { bounded, type TemplateFunction } from '../../templates/function.ts';
import type { FlexibleOptions } from './options.ts';
import { type SourceFiles, settingsError } from './source-files.ts';

/** Templates that can be called, by their names, and the path of each. */
export interface NamedTemplates {
  readonly texts: Readonly<Record<string, string>>;
  readonly paths: ReadonlyMap<string, string>;
}

/**
 * The templates of the directories: each by its name alone and, where they are looked into, by its path from there.
 * The simple engine takes files named `*.tmpl` alone.
 * @throws ConfigErrors with every one that cannot be read.
 */
export function readTemplates({ templates, isRecursive }: FlexibleOptions, files: SourceFiles): NamedTemplates {
  const texts = new Map<string, string>();
  const paths = new Map<string, string>();
  const errors: ConfigErrors['errors'][number][] = [];
  const add = (path: string, names: readonly string[]): void => {
    const text = files.text(path);
    for (const name of names) {
      texts.set(name, text);
      paths.set(name, path);
    }
  };
  for (const directory of templates) {
    try {
      if (isRecursive && !files.isDirectory(directory)) add(directory, [basename(directory)]);
      else
        for (const name of filesOf(directory, isRecursive, files)) {
          if (isRecursive || name.endsWith('.tmpl')) add(join(directory, name), [...new Set([name, basename(name)])]);
        }
    } catch (error) {
      errors.push(settingsError(directory, (error as Error).message, error));
    }
  }
  if (errors.length > 0) throw new ConfigErrors(errors);
  return { texts: Object.fromEntries(texts), paths };
}

function filesOf(directory: string, isRecursive: boolean, files: SourceFiles): Iterable<string> {
  if (isRecursive) return files.below(directory);
  return files
    .list(directory)
    .map(({ name }) => name)
    .filter((name) => !files.isDirectory(join(directory, name)));
}

/** `include "file"`: the text of a partial as it is. @throws ConfigErrors for a directory that is not there. */
export function includeFunction({ partials, isRecursive }: FlexibleOptions, files: SourceFiles): TemplateFunction {
  const known = new Map<string, string>();
  const errors: ConfigErrors['errors'][number][] = [];
  for (const directory of partials) {
    try {
      if (isRecursive && !files.isDirectory(directory)) known.set(basename(directory), directory);
      else if (isRecursive) {
        for (const name of files.below(directory)) {
          known.set(name, join(directory, name));
          known.set(basename(name), join(directory, name));
        }
      } else files.list(directory);
    } catch (error) {
      errors.push(settingsError(directory, (error as Error).message, error));
    }
  }
  if (errors.length > 0) throw new ConfigErrors(errors);
  return bounded('string', (run, name) => {
    const [directory = '.'] = partials;
    const path = known.get(name) ?? (isAbsolute(name) && isRecursive ? name : join(directory, name));
    try {
      const text = files.text(path);
      run.budget.claim(text.length);
      run.noteInserted({ name: path, text });
      return text;
    } catch (error) {
      throw new Failure(`cannot include ${path}: ${(error as Error).message}`);
    }
  });
}
