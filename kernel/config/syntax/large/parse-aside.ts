import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { parseExact } from '#contract';
import {
  type Document,
  documentFrom,
  formatNameOf,
  parseDocument,
  refuseFaults,
  textToParse,
  wrongAsAWhole,
} from '../load.ts';
import type { Parsed } from '../text-format.ts';
import { parseInSlices } from './parse-in-slices.ts';

/** Text for a thread to parse. */
export interface ThreadText {
  readonly text: string;
  /** The extension determines the format. */
  readonly file: string;
}

/** Result of the thread. */
export interface ThreadParse extends Omit<Parsed, 'data'> {
  /** The data as JSON; null if there are faults. */
  readonly json: string | null;
}

/** Texts shorter than this, in characters, are parsed directly, which takes a few milliseconds; a thread takes 50 to start. */
const SHORT = 16_384;

const program = new URL(`./parse-thread${extname(import.meta.url)}`, import.meta.url);

/**
 * Parses like `parseDocument`, without blocking requests: JSON in short slices; other formats, and JSON with comments
 * or errors, on a separate thread.
 */
export async function parseAside(source: string, file: string): Promise<Document> {
  if (source.length < SHORT) return parseDocument(source, file);
  const text = textToParse(source, file);
  const data = (formatNameOf(file) ?? 'json') === 'json' ? await parseInSlices(text) : null;
  if (data) return documentFrom({ data, faults: [] }, text, file);
  const parsed = await inTurn(() => parseOnThread({ text, file }));
  // Errors after which a parser gives up have no positions yet.
  if (!parsed) return parseDocument(source, file);
  refuseFaults(parsed, text, file);
  return documentFrom(parsed, text, file);
}

/**
 * Resolves when the last parse has ended. Only one thread runs at a time, because it needs far more memory than its
 * text.
 */
let last: Promise<unknown> = Promise.resolve();

function inTurn<T>(parse: () => Promise<T>): Promise<T> {
  const parsed = last.then(parse);
  last = parsed.catch(() => {});
  return parsed;
}

/** @returns null if the thread gave no result. @throws UnreadableError if it ran out of memory. */
async function parseOnThread(workerData: ThreadText): Promise<Parsed | null> {
  let thread: Worker | null = null;
  try {
    thread = new Worker(program, { name: 'parse', execArgv: [], workerData });
    const ended = once(thread, 'exit').then(() => [null]);
    const [report] = (await Promise.race([once(thread, 'message'), ended])) as [ThreadParse | null];
    if (!report) return null;
    const { json, ...rest } = report;
    return { ...rest, data: json === null ? null : ((await parseInSlices(json)) ?? parseExact(json)) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') return null;
    // Texts are not parsed on the main thread if a thread ran out of memory: the process would end.
    throw wrongAsAWhole(workerData.text, workerData.file, 'not enough memory to parse it', error);
  } finally {
    await thread?.terminate();
  }
}
