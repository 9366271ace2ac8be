import { isDeepStrictEqual } from 'node:util';
import type { ConfigError } from '#contract';
import { ConfigErrors } from '../../contract/internal.ts';
import type { Read } from '../../templates/index.ts';
import { isList, isMap, type Value, valueAt } from '../../templates/value.ts';
import { parentPointer } from '../../values/pointer.ts';
import type { Document } from '../syntax/load.ts';
import { type Locate, type Position, PositionedError, type TextRange } from '../syntax/position.ts';
import { UnreadableError } from '../syntax/unreadable.ts';
import type { Rendered } from './renderer.ts';
import type { SourceMap } from './source-map.ts';

/** Maps the positions of a document to its template, the templates that it calls, and the settings. */
export function inTemplate(document: Document, rendered: Rendered): Document {
  const { template, map } = rendered;
  return {
    ...document,
    written: template,
    warnings: document.warnings.map((warning) => moved(warning, map)),
    locate: (pointer, which, range) => {
      const position = document.locate(pointer, which, range);
      return position && (inSettings(document, rendered, pointer, which, range) ?? map.toSource(position));
    },
  };
}

/** Position in the settings files of a value that a template action has read; undefined for any other value. */
function inSettings(document: Document, { map, settings }: Rendered, ...[pointer, which, range]: Parameters<Locate>) {
  const isTemplates = isText(map, document.locate(pointer, which)!);
  if (isTemplates && which === 'key') return undefined;
  for (let at = pointer; ; at = parentPointer(at)) {
    const position = document.locate(at, 'value');
    const field = position && fieldAt(map, map.rangeOf(position), document.valueAt(at));
    if (field) return settings.locate(field, pointer.slice(at.length), which, range);
    if (isTemplates || at === '') return undefined;
  }
}

/** True for literal text of the template, including a quoted action. */
function isText(map: SourceMap, position: Position): boolean {
  const { start } = map.rangeOf(position);
  return map.stretchAt(start)?.mark.isText === true;
}

/** Field whose value a single action inserted at a range, alone or between quotes of the template. */
function fieldAt({ stretchAt }: SourceMap, { start, end }: TextRange, value: unknown): Read | null {
  for (const margin of [0, 1]) {
    const stretch = stretchAt(start + margin);
    if (!stretch?.mark.read || stretch.mark.output !== start + margin || stretch.end < end - margin) continue;
    const { holder, key } = stretch.mark.read;
    if (isMap(holder) && isSame(valueAt(holder, key), value)) return stretch.mark.read;
  }
  return null;
}

/** Whether an action inserted the field unchanged, not only one of its members or a combination of several. */
function isSame(field: Value, made: unknown): boolean {
  if (typeof made !== 'object' || made === null) return typeof field !== 'object' && String(field) === String(made);
  if (isList(field)) return Array.isArray(made) && made.length === field.length;
  return isMap(field) && isDeepStrictEqual(Object.keys(field).sort(), Object.keys(made).sort());
}

/** Parses rendered output and maps errors to the template. @throws UnreadableError. */
export function parseRendered<T>({ template, map }: Rendered, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    throw new UnreadableError(
      template,
      error.errors.map((each) => moved(each, map)),
    );
  }
}

function moved(error: ConfigError, { toSource }: SourceMap): ConfigError {
  if (!(error instanceof PositionedError)) return error;
  const { code, pointer, reason, position, places, hint, cause } = error;
  const source = position && toSource(position);
  return new PositionedError(code, pointer, reason, {
    file: source?.file ?? error.file,
    position: source,
    places: places.map((place) => ({ ...place, position: toSource(place.position) })),
    hint,
    cause,
  });
}

/** Adds positions in an unfinished document to the errors thrown by `work`. */
export function placedIn<T>(document: Document, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ConfigErrors) || error instanceof UnreadableError) throw error;
    const errors = error.errors.map(({ code, pointer, message, cause }) => {
      const position = placeOf(document, pointer);
      return new PositionedError(code, pointer, message, { file: position?.file ?? document.file, position, cause });
    });
    throw new UnreadableError(document.written, errors);
  }
}

/** Maps values from an included file to the position of the include. */
export function placeOf(document: Document, pointer: string): PositionedError['position'] {
  for (let at = pointer; at !== ''; at = parentPointer(at)) {
    const position = document.locate(at, 'value');
    if (position) return position;
  }
  return undefined;
}
