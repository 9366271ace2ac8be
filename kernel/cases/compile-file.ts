import { basename, dirname, extname, resolve } from 'node:path';
import { ConfigError, copyData, type Data, isObject } from '#contract';
import { compileSchema } from '../config/index.ts';
import { ConfigErrors } from '../contract/internal.ts';
import { compileMocks, compileTest } from './compile-test.ts';
import type { Mock } from './mock.ts';
import { readRecording } from './recording.ts';
import { type FileData, fileSchema } from './schema.ts';
import { compileSpec } from './spec.ts';
import { type SpecData, specSchema } from './spec-schema.ts';
import type { Test } from './test.ts';

/** The content of a file with tests, ready to run. */
export interface CompiledFile {
  /** Whether the file is a spec in KrakenD's format. All specs of a run share one gateway. */
  readonly isSpec: boolean;
  /** Mocks of all tests. */
  readonly mocks: readonly Mock[];
  readonly tests: readonly Test[];
}

/** Compiles the data of a file. @param path of the file, which recordings are relative to. @throws ConfigErrors, ConfigError. */
export function compileFile(data: Data, path: string): CompiledFile {
  const isSpec = isObject(data) && Object.hasOwn(data, 'in') && !Object.hasOwn(data, 'tests');
  const { value, errors } = compileSchema(isSpec ? specSchema : fileSchema)(copyData(data), '');
  if (errors.length > 0) throw new ConfigErrors(errors);
  if (isSpec) {
    const name = basename(path, extname(path));
    return { isSpec, mocks: [], tests: collect([value as SpecData], (spec) => compileSpec(spec, name)) };
  }
  const { backends, recordings, tests } = value as FileData;
  const recorded = recordings.flatMap((name, at) => readRecording(resolve(dirname(path), name), `/recordings/${at}`));
  const mocks = [...compileMocks(backends), ...recorded];
  const written = (data as unknown as { tests: readonly object[] }).tests;
  const compiled = collect(tests, (test, at) =>
    compileTest(test, `/tests/${at}`, mocks, Object.hasOwn(written[at]!, 'expect')),
  );
  return { isSpec, mocks, tests: compiled };
}

/** Compiles all entries. @throws ConfigErrors with all errors. */
function collect<T>(entries: readonly T[], make: (entry: T, at: number) => Test): Test[] {
  const errors: ConfigError[] = [];
  const tests = entries.flatMap((entry, at) => {
    try {
      return [make(entry, at)];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      errors.push(error);
      return [];
    }
  });
  if (errors.length > 0) throw new ConfigErrors(errors);
  return tests;
}
