import type { BackendSite } from '#contract';
import type { DescMethod } from '../../engines/grpc/catalog.ts';
import type { Config } from './schema.ts';

/** Encoding of stream messages, for outputs that consist of messages. */
export interface MessageFormat {
  readonly contentType: string;
  readonly write: (json: string) => Uint8Array;
}

const formats: ReadonlyMap<string, MessageFormat> = new Map([
  ['ndjson', { contentType: 'application/x-ndjson', write: (json) => Buffer.from(`${json}\n`) }],
  ['sse', { contentType: 'text/event-stream', write: (json) => Buffer.from(`data: ${json}\n\n`) }],
]);

/**
 * Returns how the endpoint encodes stream messages; null if its output is data.
 * @throws ConfigError GRPC_OUTPUT if it supports neither.
 */
export function outputOf(site: BackendSite<Config>, { methodKind }: DescMethod): MessageFormat | null {
  const { output_encoding: output } = site.endpoint;
  if (!site.encoding(output)?.raw) return null;
  const format = formats.get(output);
  if (format && methodKind === 'server_streaming') return format;
  throw site.fault('GRPC_OUTPUT', '', `messages of gRPC cannot be written as ${output}`, {
    hint:
      methodKind === 'unary'
        ? 'a decoded output such as "json"'
        : '"ndjson" or "sse", or a decoded output such as "json"',
  });
}
