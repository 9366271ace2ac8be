import type { HeaderBag } from '#contract';
import type { SpanAttribute } from '../../services/tracing/trace.ts';

/** Puts headers on a span. */
export type HeaderReport = (
  headers: HeaderBag,
  kind: 'request' | 'response',
  attributes: Record<string, SpanAttribute>,
) => void;

/** Whoever reads these can act for the client. */
export const credentials: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'set-cookie',
  'proxy-authorization',
]);

/** Longest value, in characters, and longest of all values of one message together; what comes beyond is left out. */
const MAX_VALUE = 1024;
const MAX_VALUES = 8192;

/** What puts headers on spans; null where nobody wants that. */
export function headerReport(
  config: { readonly report_headers: boolean; readonly skip_headers: readonly string[] } | undefined,
): HeaderReport | null {
  if (!config?.report_headers) return null;
  const skipped = new Set([...credentials, ...config.skip_headers.map((name) => name.toLowerCase())]);
  return reportOf((name) => !skipped.has(name));
}

/**
 * What puts headers of requests on spans; null where nobody wants that.
 * @param names in any letter case; `*` stands for all but those with credentials.
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

/** @param isReported gets names in lower case. */
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

/** A text of bounded length that does not keep a longer one in memory. */
export function shortened(text: string, most: number): string {
  return text.length <= most ? text : Buffer.from(text.slice(0, most)).toString();
}
