import { type Conversion, type Data, type DataObject, isObject, joinPointer } from '#contract';
import { fill, Inventory } from '../llm/inventory.ts';
import { encodingOf, STREAMING } from '../llm/output.ts';
import { listOf, referencesIn } from './references.ts';
import { streamEncodings, UNBOUNDED } from './schema.ts';

const name = 'ai/router';

/**
 * Writes the backend of every provider that a router refers to into its `targets`, so that it is compiled and checked
 * like any other backend. Configuration fault: ROUTER_PROVIDER.
 */
export function expandRouters(document: DataObject, report: Conversion): void {
  const inventory = new Inventory(document, report, 'ROUTER_PROVIDER');
  const holders = new Map<string, DataObject>();
  for (const { holder, pointer } of report.holders(document)) {
    holders.set(pointer, holder);
    const components = holder['extra_config'];
    const config = isObject(components) && Object.hasOwn(components, name) ? components[name] : undefined;
    const around = holders.get(pointer.replace(/\/backend\/\d+$/, ''));
    if (!isObject(config) || !around || around === holder) continue;
    // The host is never called. It prevents a follow-up error about missing hosts if the router is invalid.
    fill(holder, { host: ['http://localhost'], url_pattern: '/', method: 'POST' });
    expand(document, around, config, { inventory, pointer: joinPointer(pointer, 'extra_config', name) });
  }
}

interface Place {
  readonly inventory: Inventory;
  readonly pointer: string;
}

function expand(document: DataObject, around: DataObject, config: DataObject, { inventory, pointer }: Place): void {
  const written = listOf(config['targets']).filter(isObject);
  const named = new Set(written.map(({ provider }) => provider));
  const references = new Map<string, string>();
  for (const [provider, at] of referencesIn(config, pointer))
    if (!references.has(provider)) references.set(provider, at);
  const used = [...references].map(([provider, at]) => ({ provider, found: inventory.provider(provider, at) }));
  const vendors = new Set(used.map(({ found }) => found?.vendor));
  const [vendor] = vendors;
  const format = config['format'] ?? (vendors.size > 1 ? 'openai' : 'native');
  const output = around['output_encoding'] ?? document['output_encoding'];
  const isStream = typeof output === 'string' && streamEncodings.has(output);
  for (const { provider, found } of used) {
    if (named.has(provider) || !found) continue;
    written.push({ provider, backend: [{ extra_config: { 'ai/llm': { provider } } }] });
  }
  for (const [index, target] of written.entries()) {
    fill(target, {
      endpoint: `/${encodeURIComponent(String(target['provider']))}`,
      timeout: UNBOUNDED,
      output_encoding: isStream ? output : 'json',
    });
    for (const [position, backend] of listOf(target['backend']).entries()) {
      const at = joinPointer(pointer, 'targets', index, 'backend', position);
      if (isObject(backend)) settle(backend, isStream ? format : 'native', inventory, at);
    }
  }
  config['targets'] = written;
  // The backends use the encoding that the client receives, so that components can inspect each message of a stream.
  if (output === STREAMING && vendor && pointer.startsWith('/endpoints/')) {
    around['output_encoding'] = encodingOf(vendor, format);
  }
}

function settle(backend: DataObject, format: Data, inventory: Inventory, pointer: string): void {
  inventory.resolve(backend, pointer);
  const components = backend['extra_config'];
  if (isObject(components) && Object.hasOwn(components, name)) {
    inventory.report.error('ROUTER_TARGET', joinPointer(pointer, 'extra_config', name), 'a target cannot be a router', {
      hint: 'Use its routes in the outer router.',
    });
  }
  const model = isObject(components) ? components['ai/llm'] : undefined;
  if (isObject(model) && format !== 'native') fill(model, { format });
}
