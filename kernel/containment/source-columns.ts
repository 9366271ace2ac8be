import { createRequire, SourceMap, type SourceMapPayload } from 'node:module';

/** Plugins from files run as JavaScript that was made of their source: lines stay where they are, columns do not. */

/** A place in a file; lines and columns count from 1. */
export interface SourcePlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

interface Translated {
  readonly source: string;
  /** Made when a place is first asked for. */
  map?: SourceMap;
}

/** Files whose source is kept for that, the newest. */
const KEPT_SOURCES = 1000;

const sources = new Map<string, Translated>();
/** Errors whose stack names places of the source already. */
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

/** From now on stacks of this thread that name the file mean what was made of this source. */
export function noteSource(file: string, source: string): void {
  sources.delete(file);
  sources.set(file, { source });
  if (sources.size > KEPT_SOURCES) sources.delete(sources.keys().next().value!);
}

/** The sources of those files that were noted. */
export function notedSources(files: readonly string[]): (readonly [string, string])[] {
  return files.flatMap((file) => {
    const { source } = sources.get(file) ?? {};
    return source === undefined ? [] : [[file, source] as const];
  });
}

/** The stack of an error will be left as it is. */
export function notePlaced<E extends Error>(error: E): E {
  placed.add(error);
  return error;
}

/** The stack of an error, with the columns of the sources. */
export function stackInSource(error: Partial<Error>, stack: string): string {
  if (sources.size === 0 || placed.has(error as Error)) return stack;
  return stack.replaceAll(/(\/.*?|[A-Za-z]:\\.*?):(\d+):(\d+)(?=\)?$)/gm, (text, file: string, line, column) =>
    sources.has(file) ? textOf(placeInSource({ file, line: Number(line), column: Number(column) })) : text,
  );
}

/** The place in the source of a place in what was made of it. @param source other than the one that was noted. */
export function placeInSource(place: SourcePlace, source?: string): SourcePlace {
  const translated = source === undefined ? sources.get(place.file) : { source };
  if (!translated) return place;
  translated.map ??= mapOf(place.file, translated.source);
  const entry = translated.map.findEntry(place.line - 1, place.column - 1);
  const isThere = 'originalLine' in entry && entry.originalLine === place.line - 1;
  return { ...place, column: isThere ? entry.originalColumn + 1 : 1 };
}

/** As in `/app/plugins/audit.ts:12:7`. */
export function textOf({ file, line, column }: SourcePlace): string {
  return `${file}:${line}:${column}`;
}

function mapOf(file: string, source: string): SourceMap {
  return new SourceMap(translate(file, source, true).sourceMap as SourceMapPayload);
}
