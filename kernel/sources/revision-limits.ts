import type { SourceRevision } from '#contract';
import { formatNameOf } from '../config/index.ts';

/** Maximum number of files of a configuration. */
const MAX_FILES = 1_000;

/** Maximum length of the path of a file, in characters. */
const MAX_PATH = 512;

/** Names that a file system interprets, or that can leave the directory. */
const unsafe = /(?:^|\/)(?:\.{0,2})(?:\/|$)|[\\\0]/;

/** @throws Error for a revision that cannot be stored in a directory: no file, too much, or a path that leaves the directory. */
export function demandUsable({ files }: SourceRevision, maxBytes: number): void {
  if (files.size > MAX_FILES) throw new Error(`the configuration has more than ${MAX_FILES} files`);
  let bytes = 0;
  for (const [path, content] of files) {
    if (path.length > MAX_PATH || unsafe.test(path)) {
      throw new Error(`${JSON.stringify(path.slice(0, 100))} is not a valid path of a file`);
    }
    bytes += content.length;
  }
  if (bytes > maxBytes) throw new Error(`the configuration is larger than ${maxBytes / 1024 / 1024} MiB`);
  const [main] = files.keys();
  if (main === undefined) throw new Error('the configuration has no file');
  if (formatNameOf(main) === undefined) {
    throw new Error(
      `the format of ${JSON.stringify(main)} is unknown: the name must end with .json, .yaml, .yml or .toml`,
    );
  }
}
