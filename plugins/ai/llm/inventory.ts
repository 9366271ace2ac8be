import { type Conversion, type Data, type DataObject, findNear, isObject, joinPointer } from '#contract';
import { httpUrl } from '../../shared/calls/http-url.ts';
import { vendors } from './schema.ts';
import type { Vendor } from './vendor.ts';

/** A provider of the inventory, read from a configuration that has not been validated. */
export interface Provider {
  readonly vendor: Vendor;
  readonly model: string;
  /** Fields of a backend that calls the provider, `extra_config` excluded. */
  readonly address: DataObject;
  /** Configuration of `ai/llm` in that backend. */
  readonly settings: DataObject;
}

/** Fields of a provider that `ai/llm` has as well. */
const shared = ['credentials', 'debug', 'input_template', 'output_template', 'price'] as const;

/**
 * The providers declared at the root, by name. Null for a provider that is not valid: `ai/providers` or the schema
 * reports why.
 */
export function inventoryOf(document: DataObject): ReadonlyMap<string, Provider | null> {
  const inventory = new Map<string, Provider | null>();
  for (const entry of entriesOf(document)) {
    if (isObject(entry) && typeof entry['name'] === 'string') inventory.set(entry['name'], providerOf(entry));
  }
  return inventory;
}

/** The entries of the inventory, valid or not. */
export function entriesOf(document: DataObject): readonly Data[] {
  const components = document['extra_config'];
  const config = isObject(components) ? components['ai/providers'] : undefined;
  const list = isObject(config) ? config['providers'] : undefined;
  return Array.isArray(list) ? list : [];
}

export function providerOf(entry: DataObject): Provider | null {
  const vendor = vendors.find(({ name }) => name === entry['provider']);
  const { model: named, variables: written = {} } = entry;
  if (!vendor || !isObject(written)) return null;
  const isNamed = vendor.variables.properties?.['model'] !== undefined;
  const inVariables = isNamed ? written['model'] : undefined;
  const model = named ?? inVariables ?? vendor.defaultModel;
  if (typeof model !== 'string') return null;
  const address = addressOf(vendor, model, entry['endpoint']);
  if (!address) return null;
  const own = Object.fromEntries(
    shared.filter((field) => entry[field] !== undefined).map((field) => [field, entry[field]!]),
  );
  const variables = isNamed ? { ...written, model } : written;
  return { vendor, model, address, settings: { [vendor.name]: { [vendor.version]: { ...own, variables } } } };
}

/** Address of the vendor's API, or the configured `endpoint` that replaces it; null if the endpoint is not a valid address. */
export function addressOf(vendor: Vendor, model: string, endpoint: Data | undefined): DataObject | null {
  // Colons are not percent-encoded: they are valid in paths, and part of the model names of Bedrock.
  const usual = new URL(vendor.address(encodeURIComponent(model.toWellFormed()).replaceAll('%3A', ':')));
  const url = endpoint === undefined ? usual : typeof endpoint === 'string' ? httpUrl(endpoint) : null;
  if (!url) return null;
  const path = url.pathname === '/' ? usual.pathname : url.pathname;
  return { host: [url.origin], url_pattern: path + url.search, method: 'POST' };
}

/** Adds the fields that an object does not have; invalid values stay, so that they are reported. */
export function fill(object: DataObject, fields: DataObject): void {
  for (const [field, value] of Object.entries(fields)) if (!Object.hasOwn(object, field)) object[field] = value;
}

/** Placeholder address of a backend whose provider is not valid. The address is never called. */
const nowhere: DataObject = { host: ['http://localhost'], url_pattern: '/' };

/** Resolves references to providers, and reports those to providers that are not declared. */
export class Inventory {
  readonly #providers: ReadonlyMap<string, Provider | null>;
  readonly report: Conversion;
  readonly #code: string;

  /** @param code error code of references to undeclared providers. */
  constructor(document: DataObject, report: Conversion, code: string) {
    this.#providers = inventoryOf(document);
    this.report = report;
    this.#code = code;
  }

  /** Returns the provider. Returns null for a provider that is not valid or not declared; the latter is reported at the pointer. */
  provider(name: string, pointer: string): Provider | null {
    const provider = this.#providers.get(name);
    if (provider !== undefined) return provider;
    const near = findNear(name, [...this.#providers.keys()]);
    this.report.error(this.#code, pointer, `unknown provider "${name}"`, {
      hint: near ? `Did you mean "${near.name}"?` : 'Declare the provider in "ai/providers" at the root.',
      fix: near?.isSure ? { value: near.name } : undefined,
    });
    return null;
  }
  /**
   * Replaces a reference to a provider in `ai/llm` of a backend with the settings and the address of the provider.
   * Warning: LLM_ADDRESS.
   */
  resolve(backend: DataObject, pointer: string): void {
    const components = backend['extra_config'];
    const config = isObject(components) && Object.hasOwn(components, 'ai/llm') ? components['ai/llm'] : undefined;
    const name = isObject(config) ? config['provider'] : undefined;
    if (!isObject(config) || !isObject(components) || typeof name !== 'string') return;
    const provider = this.provider(name, joinPointer(pointer, 'extra_config', 'ai/llm', 'provider'));
    const { provider: _, ...rest } = config;
    if (!provider || Object.keys(rest).some((key) => key !== 'format')) {
      // The error of the provider is already reported. The placeholder address prevents follow-up errors.
      fill(backend, structuredClone(nowhere));
      return;
    }
    if (backend['host'] !== undefined) {
      const message = `host has no effect: provider "${name}" defines its address`;
      this.report.warn('LLM_ADDRESS', joinPointer(pointer, 'host'), message, {
        hint: 'Remove it, or set "endpoint" of the provider.',
      });
    }
    Object.assign(backend, structuredClone(provider.address));
    components['ai/llm'] = { ...rest, ...structuredClone(provider.settings) };
    this.report.derived(joinPointer(pointer, 'extra_config', 'ai/llm'));
  }
}

/** Replaces all references to providers in `ai/llm`. Configuration fault: LLM_PROVIDER; warning: LLM_ADDRESS. */
export function resolveProviders(document: DataObject, report: Conversion): void {
  const inventory = new Inventory(document, report, 'LLM_PROVIDER');
  for (const { holder, pointer } of report.holders(document)) inventory.resolve(holder, pointer);
}
