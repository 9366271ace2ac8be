import type { DataObject, Schema, Site } from '#contract';
import { secretField } from '../lib/secret-field.ts';
import type { Format, Variables, Vendor } from './vendor.ts';
import { alibabaV1 } from './vendors/alibaba-v1.ts';
import { anthropicV1 } from './vendors/anthropic-v1.ts';
import { bedrockV1 } from './vendors/bedrock-v1.ts';
import { geminiV1beta } from './vendors/gemini-v1beta.ts';
import { mistralV1 } from './vendors/mistral-v1.ts';
import { openaiV1 } from './vendors/openai-v1.ts';

/** All supported vendors, in every version. */
export const vendors: readonly Vendor[] = [openaiV1, mistralV1, anthropicV1, geminiV1beta, bedrockV1, alibabaV1];

/** Settings of one API version of a vendor. */
export interface Settings {
  readonly credentials: string;
  readonly debug: boolean;
  readonly format: Format;
  readonly input_template?: string;
  readonly output_template?: string;
  readonly variables: Variables;
  readonly price?: Price;
}

/** Prices of a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
}

export const priceField = {
  type: 'object',
  description:
    'Price of a million tokens, in any currency that all prices of the configuration share. Used for costs in token budgets, metrics and routing. Default: unknown.',
  required: ['input', 'output'],
  examples: [{ input: 0.25, output: 2 }],
  properties: {
    input: { type: 'number', minimum: 0, description: 'Price of a million input tokens.' },
    output: { type: 'number', minimum: 0, description: 'Price of a million output tokens.' },
  },
} as const satisfies Schema;

const formatField = {
  type: 'string',
  enum: ['native', 'openai', 'anthropic'],
  description:
    "Format of streamed messages: `native` passes them unchanged, `openai` converts them to chat-completion chunks, `anthropic` to events of Anthropic's Messages API. Default: native.",
} as const;

function settingsOf({ variables, needsVariables }: Vendor) {
  return {
    type: 'object',
    required: needsVariables ? ['credentials', 'variables'] : ['credentials'],
    properties: {
      credentials: {
        ...secretField,
        description: 'API key with which the gateway calls the vendor. Use an environment variable.',
        examples: [`\${LLM_KEY}`],
      },
      debug: {
        type: 'boolean',
        description:
          'Logs requests to the vendor and its responses at DEBUG, prompts included. Credentials are masked.',
        default: false,
      },
      input_template: {
        type: 'string',
        minLength: 1,
        description: 'Path of a Go template that renders the request to the vendor. Default: a built-in template.',
        examples: ['./prompt.tmpl'],
      },
      output_template: {
        type: 'string',
        minLength: 1,
        description:
          'Path of a Go template that renders the JSON response to the client. Default: a built-in template.',
        examples: ['./answer.tmpl'],
      },
      format: {
        ...formatField,
        description: 'Format of streamed messages. Takes precedence over the `format` that is set next to the vendor.',
      },
      variables: { ...variables, description: 'Model parameters, and custom values for templates.' },
      price: priceField,
    },
  } as const satisfies Schema;
}

/** Builds the schema of a vendor. Its return type is kept general: each vendor knows the types of its own fields. */
function versionsOf(name: string): { readonly type: 'object' } {
  const versions = vendors.filter((vendor) => vendor.name === name);
  const described = {
    type: 'object',
    description: `Settings of ${name} models, by API version.`,
    exactlyOneOf: [versions.map(({ version }) => version)],
    properties: Object.fromEntries(
      versions.map((vendor) => [
        vendor.version,
        { ...settingsOf(vendor), description: 'Settings of the API version.' } satisfies Schema,
      ]),
    ),
  } as const satisfies Schema;
  return described;
}

const names = [...new Set(vendors.map(({ name }) => name))];
const credentials = `\${LLM_KEY}`;

export const schema = {
  type: 'object',
  title: 'Language model',
  exactlyOneOf: [[...names, 'provider']],
  examples: [
    { openai: { v1: { credentials, variables: { model: 'model-1', max_output_tokens: 500 } } } },
    { mistral: { v1: { credentials, variables: { model: 'model-1', safe_prompt: true } } } },
    { anthropic: { v1: { credentials, variables: { model: 'model-1', stop_sequences: ['END'] } } } },
    { gemini: { v1beta: { credentials, variables: { candidate_count: 2 } } } },
    { bedrock: { v1: { credentials, variables: { top_k: 40 } } } },
    { alibaba: { v1: { credentials, variables: { model: 'model-1' } } } },
  ],
  properties: {
    provider: {
      type: 'string',
      minLength: 1,
      description:
        'Name of a provider declared in `ai/providers` at the root, which defines the vendor, its settings and the address: `host` and `method` of the backend are not needed, and its `url_pattern` has no effect.',
      examples: ['fast-chat'],
    },
    format: formatField,
    ...Object.fromEntries(names.map((name) => [name, versionsOf(name)])),
  },
} as const satisfies Schema;

/** A configured vendor. Pointers are relative to the configuration. */
export interface ChosenVendor {
  readonly vendor: Vendor;
  readonly settings: Settings;
  readonly pointer: string;
  /** JSON pointer of the `format` setting that applies. */
  readonly formatAt: string;
}

/**
 * Returns the configured vendor and its settings. A reference to a provider has been replaced with the provider's
 * settings, unless an error of the provider is reported. @param config must be valid.
 */
export function chosenVendor({ config, fault }: Pick<Site<DataObject>, 'config' | 'fault'>): ChosenVendor {
  for (const vendor of vendors) {
    const versions = config[vendor.name] as { readonly [version: string]: Settings } | undefined;
    const written = versions?.[vendor.version];
    if (!written) continue;
    const pointer = `/${vendor.name}/${vendor.version}`;
    const own = written.format as Format | undefined;
    const format = own ?? (config['format'] as Format | undefined) ?? 'native';
    return { vendor, settings: { ...written, format }, pointer, formatAt: own ? `${pointer}/format` : '/format' };
  }
  throw fault('LLM_PROVIDER', '/provider', `provider "${config['provider']}" is not valid`);
}
