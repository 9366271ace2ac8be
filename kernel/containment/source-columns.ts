import { createRequire, SourceMap, type SourceMapPayload } from 'node:module';

/**
 * Translates positions in the JavaScript that plugins from files are compiled to into positions in their source. Lines
 * are the same in both, columns are not.
 */

/** A position in a file; lines and columns start at 1. */
export interface SourcePlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

interface Translated {
  readonly source: string;
  /** Source map, created when a position is first translated. */
  map?: SourceMap;
}

/** Maximum number of files whose source is kept; the oldest are dropped. */
const KEPT_SOURCES = 1000;

const sources = new Map<string, Translated>();
/** Errors whose stacks already contain positions in the source. */
const placed = new WeakSet<Error>();

/** Compiles a plugin's source to JavaScript. @throws for a syntax error, with `loc`. */
export function translate(file: string, source: string, withMap = false): { code: string; sourceMap?: object } {
  const { transform } = createRequire(import.meta.url)('sucrase') as typeof import('sucrase');
  return transform(source, {
    transforms: /\.m?ts$/.test(file) ? ['typescript', 'imports'] : ['imports'],
    disableESTransforms: true,
    filePath: file,
    ...(withMap && { sourceMapOptions: { compiledFilename: file } }),
  });
}

/** Remembers the source of a file: later stacks of this thread that contain the file refer to code compiled from it. */
export function noteSource(file: string, source: string): void {
  sources.delete(file);
  sources.set(file, { source });
  if (sources.size > KEPT_SOURCES) sources.delete(sources.keys().next().value!);
}

/** The remembered sources of the given files. */
export function notedSources(files: readonly string[]): (readonly [string, string])[] {
  return files.flatMap((file) => {
    const { source } = sources.get(file) ?? {};
    return source === undefined ? [] : [[file, source] as const];
  });
}

/** Marks an error whose stack must not be translated. */
export function notePlaced<E extends Error>(error: E): E {
  placed.add(error);
  return error;
}

/** The stack of an error, with its columns translated to the source. */
export function stackInSource(error: Partial<Error>, stack: string): string {
  if (sources.size === 0 || placed.has(error as Error)) return stack;
  return stack.replaceAll(/(\/.*?|[A-Za-z]:\\.*?):(\d+):(\d+)(?=\)?$)/gm, (text, file: string, line, column) =>
    sources.has(file) ? textOf(placeInSource({ file, line: Number(line), column: Number(column) })) : text,
  );
}

/** Translates a position in compiled code to the source. @param source source to use instead of the remembered one. */
export function placeInSource(place: SourcePlace, source?: string): SourcePlace {
  const translated = source === undefined ? sources.get(place.file) : { source };
  if (!translated) return place;
  translated.map ??= mapOf(place.file, translated.source);
  const entry = translated.map.findEntry(place.line - 1, place.column - 1);
  const isThere = 'originalLine' in entry && entry.originalLine === place.line - 1;
  return { ...place, column: isThere ? entry.originalColumn + 1 : 1 };
}

/** Formats a position, as in `/app/plugins/audit.ts:12:7`. */
export function textOf({ file, line, column }: SourcePlace): string {
  return `${file}:${line}:${column}`;
}

function mapOf(file: string, source: string): SourceMap {
  return new SourceMap(translate(file, source, true).sourceMap as SourceMapPayload);
}
