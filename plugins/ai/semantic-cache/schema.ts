import type { Infer, Schema } from '#contract';
import { partSyntax } from '../lib/request-part.ts';
import { secretField } from '../lib/secret-field.ts';

export const serviceSchema = {
  type: 'object',
  title: 'Embedders of semantic caches',
  examples: [
    {
      embedders: [
        {
          name: 'default',
          url: 'https://api.openai.com/v1/embeddings',
          model: 'text-embedding-3-small',
          credentials: `\${OPENAI_KEY}`,
        },
      ],
    },
    { embedders: [{ name: 'local', url: 'http://127.0.0.1:11434/v1/embeddings', vector_dimension: 384 }] },
  ],
  properties: {
    embedders: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: {
            type: 'string',
            minLength: 1,
            description: 'Unique name of the embedder, which endpoints and backends refer to.',
            examples: ['default'],
          },
          url: {
            type: 'string',
            minLength: 1,
            description:
              'URL of a server with OpenAI\'s embeddings API. It receives `{"input", "model"}` in a POST request. An addition to KrakenD. Required without `model_path`.',
            examples: ['https://api.openai.com/v1/embeddings'],
          },
          model: {
            type: 'string',
            minLength: 1,
            description: 'Model name that is sent to the embeddings API. Default: none.',
            examples: ['text-embedding-3-small'],
          },
          credentials: {
            ...secretField,
            description: 'Bearer token for the embeddings API. Use an environment variable.',
            examples: [`\${OPENAI_KEY}`],
          },
          timeout: {
            type: 'duration',
            description: 'Timeout of one embedding. Requests that exceed it bypass the cache.',
            default: '2s',
          },
          vector_dimension: {
            type: 'integer',
            minimum: 1,
            maximum: 8192,
            description:
              'Number of dimensions of the vectors. Other vectors are not used, and their requests bypass the cache. Default: any number up to 8192.',
            examples: [1536],
          },
          model_path: {
            type: 'string',
            minLength: 1,
            description:
              'Directory of an embedding model in the layout of sentence-transformers: `model.onnx` or `onnx/model.onnx` without external data, `tokenizer.json`, and the optional files `tokenizer_config.json`, `config.json`, `sentence_bert_config.json`, `modules.json` and `1_Pooling/config.json` (mean or CLS pooling; mean without the file). The model is loaded on first use, once per worker, and runs in a thread of its own, one text at a time with at most 100 queued. Texts with more tokens than the model reads, or with words unknown to it, bypass the cache. Requires `npm install onnxruntime-web @huggingface/tokenizers`. To replace a model, use another directory. Cannot be combined with `url`.',
            examples: ['/etc/krakend/models/sentence-transformers_all-MiniLM-L6-v2'],
          },
        },
      },
      description: 'Servers and models that turn texts into vectors.',
      default: [],
    },
  },
} as const satisfies Schema;

export const cacheSchema = {
  type: 'object',
  title: 'Semantic cache',
  examples: [
    { req_content: 'req_body.prompt', key_variants: ['req_body.user'], max_distance: 0.1, ttl: '1h' },
    { embedder: 'default', key_variants: ['req_body.model'] },
  ],
  properties: {
    embedder: {
      type: 'string',
      minLength: 1,
      description: 'Name of the embedder, as declared at the root.',
      default: 'default',
    },
    max_distance: {
      type: 'number',
      minimum: 0,
      maximum: 2,
      description:
        'Maximum cosine distance of requests with the same response: 0 requires the same direction, larger values allow greater differences.',
      default: 0.25,
    },
    key_variants: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: `Parts of the request whose values separate responses: requests that differ in one of them never share a response. ${partSyntax}. Without a part that identifies the caller, callers share responses.`,
      default: [],
      examples: [['req_headers.X-User', 'req_body.model']],
    },
    req_content: {
      type: 'string',
      minLength: 1,
      description: `Part of the request that is compared by meaning: ${partSyntax}. Parts that are neither here nor in key_variants do not separate responses, except for path parameters, query strings, and the fields of a body that determine the model and the form of its response. Default: the whole body.`,
      examples: ['req_body.messages'],
    },
    ttl: {
      type: 'duration',
      description: 'Time for which a response is stored.',
      default: '600s',
    },
    redis_connection: {
      type: 'string',
      minLength: 1,
      description:
        'Name of a connection declared in `redis` at the root of the configuration. Gateways with the same connection share responses. Redis 8 or later compares the vectors itself, up to 20,000 for each group of requests that can share responses; for earlier versions (6.2 or later), each gateway compares up to 2,000 of them, in a copy of up to 64 MiB. Default: responses are stored in the memory of the gateway, for all its workers together.',
      examples: ['default'],
    },
  },
} as const satisfies Schema;

export type EmbedderConfig = Infer<typeof serviceSchema>['embedders'][number];
export type CacheConfig = Infer<typeof cacheSchema>;
