import { type Infer, pipeSchema, type Schema } from '#contract';

/** A timeout longer than any endpoint's, so that the timeout of the endpoint limits a completion. */
const UNBOUNDED = '24h';

const model = {
  ...pipeSchema(
    {
      name: {
        type: 'string',
        minLength: 1,
        description: 'Model name that clients send in `model`. Must be unique.',
        examples: ['gpt-4.1-mini'],
      },
      output_encoding: {
        type: 'string',
        enum: ['streaming'],
        description: 'Output encoding, always `streaming`. Whether a response is streamed depends on the request.',
        default: 'streaming',
      },
      timeout: {
        type: 'duration',
        description: 'Maximum duration of a completion, streams included. Default: the timeout of the endpoint.',
        default: UNBOUNDED,
        examples: ['2m'],
      },
    },
    {
      description: 'A model and the backend that serves it. The backend must have `ai/llm`.',
      components: ['security/policies', 'validation/cel', 'proxy'],
    },
  ),
  required: ['name', 'backend'],
} as const satisfies Schema;

export const serviceSchema = {
  type: 'object',
  title: 'Models of the OpenAI-compatible API',
  required: ['models'],
  examples: [
    {
      models: [
        {
          name: 'gpt-4.1-mini',
          backend: [
            {
              host: ['https://api.openai.com'],
              url_pattern: '/v1/responses',
              method: 'POST',
              extra_config: {
                'ai/llm': { openai: { v1: { credentials: `\${OPENAI_KEY}`, variables: { model: 'gpt-4.1-mini' } } } },
              },
            },
          ],
        },
        {
          name: 'claude',
          timeout: '2m',
          backend: [
            {
              host: ['https://api.anthropic.com'],
              url_pattern: '/v1/messages',
              method: 'POST',
              extra_config: {
                'ai/llm': {
                  anthropic: { v1: { credentials: `\${ANTHROPIC_KEY}`, variables: { model: 'claude-haiku-4-5' } } },
                },
              },
            },
          ],
        },
      ],
    },
  ],
  properties: {
    models: {
      type: 'array',
      items: model,
      minItems: 1,
      description: 'Models that clients can use, from any vendor that `ai/llm` supports.',
    },
  },
} as const satisfies Schema;

export const endpointSchema = {
  type: 'object',
  title: 'Endpoint of the OpenAI-compatible API',
  description:
    'Serves chat completions with POST, usually at `/v1/chat/completions`, or the list of models with GET, usually at `/v1/models`. If the path has a `{model}` placeholder, GET describes that model.',
  examples: [{}, { models: ['gpt-4.1-mini'] }],
  properties: {
    models: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      minItems: 1,
      uniqueItems: true,
      description: 'Names of the models available at this endpoint. Default: all models declared at the root.',
      examples: [['gpt-4.1-mini']],
    },
  },
} as const satisfies Schema;

export type ModelsConfig = Infer<typeof serviceSchema>;
export type EndpointSettings = Infer<typeof endpointSchema>;
