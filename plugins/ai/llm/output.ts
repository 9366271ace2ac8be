import { type BackendSite, type Data, type DataObject, isObject, joinPointer, type Messages } from '#contract';
import { chosenVendor, vendors } from './schema.ts';
import type { Vendor } from './vendor.ts';

/** Name of the output encoding that is replaced with the encoding of the vendor's streams. */
export const STREAMING = 'streaming';

/** Encoding of a stream as it is sent to the client. */
export function encodingOf(vendor: Vendor, format: unknown): 'sse' | 'eventstream' {
  return format === 'openai' || format === 'anthropic' ? 'sse' : vendor.stream.encoding;
}

/**
 * Sets the output encoding of endpoints that use `streaming` to the encoding of their models, so that each message of a
 * stream can be inspected.
 */
export function resolveStreaming(document: DataObject): void {
  for (const endpoint of listOf(document['endpoints'])) {
    if (!isObject(endpoint)) continue;
    const output = Object.hasOwn(endpoint, 'output_encoding')
      ? endpoint['output_encoding']
      : document['output_encoding'];
    if (output !== STREAMING) continue;
    const encodings = new Set(listOf(endpoint['backend']).map(writtenEncoding));
    const [encoding] = encodings;
    if (encodings.size === 1 && encoding !== undefined) endpoint['output_encoding'] = encoding;
  }
}

/**
 * Returns the encoding of a backend's streams; undefined if the backend is not a model or its configuration is invalid.
 */
function writtenEncoding(backend: Data): string | undefined {
  const components = isObject(backend) ? backend['extra_config'] : undefined;
  const config = isObject(components) ? components['ai/llm'] : undefined;
  if (!isObject(config)) return undefined;
  for (const vendor of vendors) {
    const versions = config[vendor.name];
    const settings = isObject(versions) ? versions[vendor.version] : undefined;
    if (isObject(settings)) return encodingOf(vendor, settings['format'] ?? config['format']);
  }
  return undefined;
}

function listOf(value: Data | undefined): readonly Data[] {
  return Array.isArray(value) ? value : [];
}

/** Splits the vendor's stream into messages; null for responses that are not streamed. */
export interface StreamOutput {
  readonly messages: Messages;
}

const decoders = ['json', 'safejson', 'fast-json'];

/**
 * Determines how the responses of a backend are sent to the client.
 *
 * @throws ConfigError LLM_OUTPUT, LLM_TEMPLATE, LLM_PATH, LLM_ENCODING. Warnings LLM_FORMAT, LLM_SHAPE.
 */
export function outputOf(site: BackendSite<DataObject>): StreamOutput | null {
  const { vendor, settings, pointer, formatAt } = chosenVendor(site);
  const { output_encoding: name } = site.endpoint;
  const output = site.encoding(name);
  checkPath(site, vendor, output?.streams === true);
  if (!output?.streams) {
    // A raw output is not reported here, because it is already rejected for components that read data.
    if (!output?.raw) checkWhole(site, settings.format, formatAt);
    return null;
  }
  const expected = encodingOf(vendor, settings.format);
  if (name !== expected && name !== STREAMING) {
    throw site.fault(
      'LLM_OUTPUT',
      '',
      `${vendor.name} streams in the format ${expected}, which cannot be written as ${name}`,
      {
        hint: `Set "output_encoding" to "${STREAMING}"${expected === 'eventstream' && name === 'sse' ? ', or "format" to "openai"' : ''}.`,
      },
    );
  }
  for (const field of ['input_template', 'output_template'] as const) {
    if (settings[field] === undefined) continue;
    throw site.fault('LLM_TEMPLATE', joinPointer(pointer, field), `${field} does not apply to streams`, {
      hint: 'Set "output_encoding" to "json".',
    });
  }
  return { messages: site.encoding(vendor.stream.encoding)!.messages! };
}

/**
 * @throws ConfigError LLM_PATH if the URL streams but the output does not, or if the URL cannot be converted to one
 * that streams.
 */
function checkPath(site: BackendSite<DataObject>, { name, stream: { asks } }: Vendor, streams: boolean): void {
  if (asks === 'payload') return;
  const path = site.backend.url_pattern.split('?', 1)[0]!;
  if (!streams && path.endsWith(asks.becomes)) {
    throw site.fault(
      'LLM_PATH',
      '',
      `the url_pattern requests a stream from ${name}, but the endpoint does not stream`,
      {
        hint: `Set "output_encoding" to "${STREAMING}", or a url_pattern that ends in ${asks.path}.`,
      },
    );
  }
  if (streams && !path.endsWith(asks.becomes) && !path.endsWith(asks.path)) {
    throw site.fault('LLM_PATH', '', `${name} cannot stream from this url_pattern`, {
      hint: `Set a url_pattern that ends in ${asks.path}.`,
    });
  }
}

/** @throws ConfigError LLM_ENCODING if the backend's response is not decoded as JSON. */
function checkWhole(site: BackendSite<DataObject>, format: string, formatAt: string): void {
  const { encoding, target, allow, deny, mapping } = site.backend;
  if (!decoders.includes(encoding)) {
    throw site.fault('LLM_ENCODING', '', `ai/llm needs a JSON response, but the backend encoding is "${encoding}"`, {
      hint: 'Set "encoding" to "json".',
    });
  }
  if (format !== 'native')
    site.warn('LLM_FORMAT', formatAt, 'format has no effect: the endpoint does not stream', {
      hint: `Set "output_encoding" to "${STREAMING}".`,
    });
  const shaping = { target, allow, deny, mapping };
  for (const [field, value] of Object.entries(shaping)) {
    if (!value || Object.keys(value).length === 0) continue;
    site.warn('LLM_SHAPE', '', `${field} of the backend changes the response of the vendor before ai/llm reads it`, {
      hint: `Remove it; change the response at the endpoint instead.`,
    });
  }
}
