import type { HeaderBag } from '#contract';
import type { SpanAttribute } from '../lib/tracing/trace.ts';

/** Adds headers to a span. */
export type HeaderReport = (
  headers: HeaderBag,
  kind: 'request' | 'response',
  attributes: Record<string, SpanAttribute>,
) => void;

/** Headers whose values allow a reader to impersonate the client. */
export const credentials: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'set-cookie',
  'proxy-authorization',
]);

/** Maximum length of a value and of all values of one message, in characters; the excess is omitted. */
const MAX_VALUE = 1024;
const MAX_VALUES = 8192;

/** Creates the header report of the configuration; null if headers are not reported. */
export function headerReport(
  config: { readonly report_headers: boolean; readonly skip_headers: readonly string[] } | undefined,
): HeaderReport | null {
  if (!config?.report_headers) return null;
  const skipped = new Set([...credentials, ...config.skip_headers.map((name) => name.toLowerCase())]);
  return reportOf((name) => !skipped.has(name));
}

/**
 * Creates a report of request headers; null if no headers are reported.
 * @param names in any letter case; `*` selects all headers except credentials.
 */
export function requestHeaderReport(names: readonly string[]): HeaderReport | null {
  if (names.length === 0) return null;
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  const all = wanted.has('*');
  const report = reportOf((name) => wanted.has(name) || (all && !credentials.has(name)));
  return (headers, kind, attributes) => {
    if (kind === 'request') report(headers, kind, attributes);
  };
}

/** @param isReported receives names in lower case. */
function reportOf(isReported: (name: string) => boolean): HeaderReport {
  return (headers, kind, attributes) => {
    let length = 0;
    for (const [name, value] of headers) {
      const lower = name.toLowerCase();
      if (!isReported(lower)) continue;
      const short = shortened(value, MAX_VALUE);
      length += lower.length + short.length;
      if (length > MAX_VALUES) return;
      const key = `http.${kind}.header.${lower}`;
      const others = attributes[key] as readonly string[] | undefined;
      attributes[key] = others ? [...others, short] : [short];
    }
  };
}

/** Truncates a text, without keeping the longer one in memory. */
export function shortened(text: string, most: number): string {
  return text.length <= most ? text : Buffer.from(text.slice(0, most)).toString();
}
