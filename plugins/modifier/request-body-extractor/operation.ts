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
import { limitedWarning } from '../../services/limited-warning.ts';
import { readExpression } from '../lib/jmespath/read-expression.ts';
import type { ExtractorConfig, OperationConfig } from './schema.ts';

/** Where values go. */
export interface Destinations {
  readonly headers: HeaderBag;
  readonly query: Query;
}

/** Copies one value of a body to its destination. */
export type Operation = (body: Data, to: Destinations) => void;

/** Headers that say how a message is cut or where it goes: nothing that a client sends may decide that. */
const ownHeaders: ReadonlySet<string> = new Set(['content-length', 'expect', 'host']);

/** Longest value that is written, in characters: what a client may send in its headers altogether. */
const MAX_VALUE = 16 * 1024;

/**
 * Compiles one operation.
 *
 * @param at position among the operations.
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

/** What is written of a value; null for nothing. */
function textOf(value: Data): string | null {
  if (value === null || typeof value === 'string') return value;
  try {
    return printJson(value);
  } catch (error) {
    // It is nested so deeply that no text can be made of it.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The bytes of a text in UTF-8, which is how a header carries what is not ASCII. */
function headerText(text: string): string {
  return /^[\t\x20-\x7e]*$/.test(text) ? text : Buffer.from(text).toString('latin1');
}
