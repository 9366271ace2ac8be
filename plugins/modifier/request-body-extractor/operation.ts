import {
  CallError,
  canonicalHeaderName,
  type Data,
  getPath,
  type HeaderBag,
  isHeaderName,
  isHopByHop,
  isObject,
  printJson,
  type Query,
  type Site,
} from '#contract';
import { limitedWarning } from '../../shared/logging/limited-warning.ts';
import { readExpression } from '../lib/jmespath/read-expression.ts';
import type { ExtractorConfig, OperationConfig } from './schema.ts';

/** Destinations of values. */
export interface Destinations {
  readonly headers: HeaderBag;
  readonly query: Query;
}

/** Copies one value of a body to its destination. */
export type Operation = (body: Data, to: Destinations) => void;

/** Headers that control framing or routing, which must not depend on a client's body. */
const ownHeaders: ReadonlySet<string> = new Set(['content-length', 'expect', 'host']);

/** Maximum length of a written value, in characters: the limit for all headers of a client. */
const MAX_VALUE = 16 * 1024;

/**
 * Compiles one operation.
 *
 * @param at position in the list of operations.
 * @throws ConfigError EXTRACTOR_HEADER, JMESPATH_SYNTAX.
 */
export function compileOperation(site: Site<ExtractorConfig>, config: OperationConfig, at: number): Operation {
  const { type, target, on_conflict: onConflict } = config;
  const warn = limitedWarning(site.log, site.use('clock'));
  const read = compileReader(site, config, `/operations/${at}/expression`, warn);
  const isHeader = type === 'header';
  if (isHeader) checkHeader(site, target, `/operations/${at}/target`);
  const name = isHeader ? canonicalHeaderName(target) : target;
  const key = isHeader ? target.toLowerCase() : target;
  const unwritable = isHeader ? /[^\t\P{Cc}]/u : /[\r\n\0]/;
  const place = `operation ${at + 1}`;
  return (body, { headers, query }) => {
    const text = textOf(read(body, place));
    if (text === null) return;
    if (text.length > MAX_VALUE) {
      warn(() => `${place}: the value for ${name} has more than ${MAX_VALUE} characters and is not written`);
      return;
    }
    const destination = isHeader ? headers : query;
    if (onConflict === 'skip' && destination.has(key)) return;
    if (unwritable.test(text)) {
      warn(() => `${place}: the value for ${name} contains a control character and is not written`);
      return;
    }
    const value = isHeader ? headerText(text) : text;
    if (onConflict === 'append') destination.append(name, value);
    else destination.set(name, value);
  };
}

type Reader = (body: Data, place: string) => Data;

function compileReader(
  site: Site<ExtractorConfig>,
  config: OperationConfig,
  pointer: string,
  warn: (message: () => string) => void,
): Reader {
  if (config.strategy === 'dotnotation') {
    const path = config.expression.split('.');
    return (body) => (isObject(body) ? (getPath(body, path) ?? null) : null);
  }
  const expression = readExpression(site, config.expression, pointer);
  return (body, place) => {
    try {
      return expression.search(body);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      warn(() => `${place} is skipped: ${error.message}`);
      return null;
    }
  };
}

function checkHeader(site: Site<ExtractorConfig>, target: string, pointer: string): void {
  if (!isHeaderName(target)) throw site.fault('EXTRACTOR_HEADER', pointer, `"${target}" is not a header name`);
  const lower = target.toLowerCase();
  if (!isHopByHop(lower) && !ownHeaders.has(lower)) return;
  throw site.fault('EXTRACTOR_HEADER', pointer, `${target} is a connection header and cannot be set from a body`);
}

/** Converts a value to text; null if it is not written. */
function textOf(value: Data): string | null {
  if (value === null || typeof value === 'string') return value;
  try {
    return printJson(value);
  } catch (error) {
    // A value that is nested too deeply to be printed is not written.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Converts a text to one character per UTF-8 byte, which is how headers carry non-ASCII text. */
function headerText(text: string): string {
  return /^[\t\x20-\x7e]*$/.test(text) ? text : Buffer.from(text).toString('latin1');
}
