import type { Infer, Schema } from '#contract';
import { secretField } from '../lib/secret-field.ts';
import { priceField, vendors } from '../llm/schema.ts';

const names = vendors.map(({ name }) => name);
const credentials = `\${LLM_KEY}`;

const provider = {
  type: 'object',
  description: 'A model of a vendor, with everything that is needed to call it.',
  required: ['name', 'provider', 'credentials'],
  properties: {
    name: {
      type: 'string',
      minLength: 1,
      description: 'Name that `ai/llm` and `ai/router` refer to. Must be unique.',
      examples: ['fast-chat'],
    },
    provider: {
      type: 'string',
      enum: names,
      description: 'Vendor of the model, or another server with the same API.',
      examples: ['openai'],
    },
    model: {
      type: 'string',
      minLength: 1,
      description: `Name of the model. Default: ${vendors.map((vendor) => `${vendor.defaultModel} (${vendor.name})`).join(', ')}.`,
      examples: ['gpt-5.4-mini'],
    },
    credentials: {
      ...secretField,
      description:
        'API key of the gateway at the vendor. Use an environment variable. A server without authentication accepts any value.',
      examples: [credentials],
    },
    endpoint: {
      type: 'string',
      minLength: 1,
      description:
        "URL of the API, for a proxy, a private deployment or another region. Without a path, the vendor's usual path is used. Default: the vendor's public API.",
      examples: ['https://models.internal/v1/responses'],
    },
    variables: {
      type: 'object',
      values: { type: 'any', description: 'Value of a variable.' },
      default: {},
      description: 'Model parameters and values for templates, the same as `variables` of a vendor in `ai/llm`.',
      examples: [{ temperature: 0.2 }],
    },
    streaming: {
      type: 'boolean',
      description: 'Streams responses, for endpoints with `"output_encoding": "streaming"`.',
      default: false,
      unused: { because: 'the output_encoding of an endpoint decides whether responses are streamed' },
    },
    input_template: {
      type: 'string',
      minLength: 1,
      description: 'Path of the Go template that renders the request to the vendor. Default: built in.',
      examples: ['./prompt.tmpl'],
    },
    output_template: {
      type: 'string',
      minLength: 1,
      description: 'Path of the Go template that renders the JSON response to the client. Default: built in.',
      examples: ['./answer.tmpl'],
    },
    debug: {
      type: 'boolean',
      description: 'Logs requests to the vendor and its responses at DEBUG, prompts included. Credentials are masked.',
      default: false,
    },
    price: priceField,
  },
} as const satisfies Schema;

export const schema = {
  type: 'object',
  title: 'Providers of language models',
  required: ['providers'],
  examples: [
    { providers: [{ name: 'fast-chat', provider: 'openai', model: 'gpt-5.4-mini', credentials }] },
    {
      providers: [
        {
          name: 'careful',
          provider: 'anthropic',
          credentials,
          endpoint: 'https://models.internal',
          variables: { max_tokens: 2000 },
          price: { input: 1, output: 5 },
        },
      ],
    },
  ],
  properties: {
    providers: {
      type: 'array',
      items: provider,
      description: 'Providers that backends can refer to by name.',
    },
  },
} as const satisfies Schema;

export type ProvidersConfig = Infer<typeof schema>;
