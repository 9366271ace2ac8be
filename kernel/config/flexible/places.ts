import type { ConfigError } from '#contract';
import { ConfigErrors } from '../../contract/internal.ts';
import { parentPointer } from '../../values/pointer.ts';
import type { Document } from '../syntax/load.ts';
import { PositionedError } from '../syntax/position.ts';
import { UnreadableError } from '../syntax/unreadable.ts';
import type { Rendered } from './renderer.ts';
import type { ToTemplate } from './source-map.ts';

/** A document whose places are those of the template that it was made of. */
export function inTemplate(document: Document, { template, toTemplate }: Rendered): Document {
  return {
    ...document,
    written: template,
    warnings: document.warnings.map((warning) => moved(warning, toTemplate)),
    locate: (...place) => {
      const position = document.locate(...place);
      return position && toTemplate(position);
    },
  };
}

/** Parses what a template made: mistakes in it are placed in the template. @throws UnreadableError. */
export function parseRendered<T>({ template, toTemplate }: Rendered, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    throw new UnreadableError(
      template,
      error.errors.map((each) => moved(each, toTemplate)),
    );
  }
}

function moved(error: ConfigError, toTemplate: ToTemplate): ConfigError {
  if (!(error instanceof PositionedError)) return error;
  const { code, pointer, reason, file, position, places, hint, cause } = error;
  return new PositionedError(code, pointer, reason, {
    file,
    position: position && toTemplate(position),
    places: places.map((place) => ({ ...place, position: toTemplate(place.position) })),
    hint,
    cause,
  });
}

/** Mistakes of a document that is not finished, with their places in it. */
export function placedIn<T>(document: Document, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ConfigErrors) || error instanceof UnreadableError) throw error;
    const errors = error.errors.map(({ code, pointer, message, cause }) => {
      const position = placeOf(document, pointer);
      return new PositionedError(code, pointer, message, { file: document.file, position, cause });
    });
    throw new UnreadableError(document.written, errors);
  }
}

/** What a file that is included has made is placed where it is included. */
export function placeOf(document: Document, pointer: string): PositionedError['position'] {
  for (let at = pointer; at !== ''; at = parentPointer(at)) {
    const position = document.locate(at, 'value');
    if (position) return position;
  }
  return undefined;
}
