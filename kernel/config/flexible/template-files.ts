import { basename, isAbsolute, join } from 'node:path';
import { ConfigErrors } from '../../contract/internal.ts';
import { Failure } from '../../templates/budget.ts';
import { bounded, type TemplateFunction } from '../../templates/function.ts';
import type { FlexibleOptions } from './options.ts';
import { type SourceFiles, settingsError } from './source-files.ts';

/** Templates that can be called, by name, with the path of each. */
export interface NamedTemplates {
  readonly texts: Readonly<Record<string, string>>;
  readonly paths: ReadonlyMap<string, string>;
}

/**
 * Reads the templates in the directories: each by its base name and, in directories that are searched recursively, by
 * its relative path. The simple engine reads only files named `*.tmpl`.
 * @throws ConfigErrors with every unreadable file.
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

/** Template function `include "file"`: inserts the text of a partial unchanged. @throws ConfigErrors for a missing directory. */
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
