import type { Infer, Schema } from '#contract';
import { partSyntax } from '../lib/request-part.ts';
import { secretField } from '../lib/secret-field.ts';

const reqContent = {
  type: 'string',
  minLength: 1,
  description: `Part of the request that is classified: ${partSyntax}. Default: the whole body.`,
  examples: ['req_body.messages', 'req_headers.x-user'],
} as const;

const timeout = {
  type: 'duration',
  description: 'Timeout of one classification. An addition to KrakenD.',
  default: '2s',
} as const;

const notdiamond = {
  type: 'object',
  description: 'Settings of the engine `notdiamond`, which chooses by the model selection of Not Diamond.',
  required: ['credentials'],
  properties: {
    credentials: {
      ...secretField,
      description: 'API key at Not Diamond. Use an environment variable.',
      examples: [`\${NOTDIAMOND_KEY}`],
    },
    base_url: {
      type: 'string',
      minLength: 1,
      description: 'Base URL of the API, without the version.',
      default: 'https://api.notdiamond.ai',
    },
    metric: { type: 'string', enum: ['accuracy'], description: 'Metric to optimize.', default: 'accuracy' },
    tradeoff: {
      type: 'string',
      enum: ['cost', 'latency'],
      description:
        'Preference among models of similar quality: cheaper or faster. Cannot be combined with `cost_quality_tradeoff`. Default: cost.',
    },
    cost_quality_tradeoff: {
      type: 'integer',
      description:
        'Balance between cost and quality, as Not Diamond defines it. Cannot be combined with `tradeoff`. Default: `tradeoff` applies.',
      examples: [5],
    },
    disable_hash_content: {
      type: 'boolean',
      description: 'Disables hashing: by default, Not Diamond is requested to hash the content of prompts.',
      default: false,
    },
    req_content: reqContent,
    timeout,
  },
} as const satisfies Schema;

const http = {
  type: 'object',
  description:
    'Settings of the engine `http`, a server of your own. It receives `{"content": …, "providers": [{"name", "vendor", "model"}]}` in a POST request and responds with `{"provider": "<name>"}`. An addition to KrakenD.',
  required: ['url'],
  properties: {
    url: {
      type: 'string',
      minLength: 1,
      description: 'URL of the server that classifies requests.',
      examples: ['https://classifier.example.com/choose'],
    },
    credentials: {
      ...secretField,
      description: 'Bearer token for the server that classifies requests.',
      examples: [`\${CLASSIFIER_KEY}`],
    },
    req_content: reqContent,
    timeout,
  },
} as const satisfies Schema;

const name = (what: string, example: string) =>
  ({
    type: 'string',
    minLength: 1,
    description: `Unique name of the ${what}, which routes of \`ai/router\` refer to.`,
    examples: [example],
  }) as const;

const gate = {
  type: 'object',
  required: ['name', 'rule'],
  properties: {
    name: name('gate', 'plan_enterprise'),
    rule: {
      type: 'string',
      enum: ['header', 'policy'],
      description: 'Type of the condition. Its settings are in the field with the same name.',
      examples: ['header'],
    },
    header: {
      type: 'object',
      description:
        'Condition on a request header. Clients can send any value: use a header that the gateway sets, such as a propagated claim.',
      required: ['name', 'value'],
      properties: {
        name: {
          type: 'string',
          minLength: 1,
          description: 'Header name, case-insensitive. Must be listed in `input_headers` of the endpoint.',
          examples: ['X-Plan'],
        },
        value: { type: 'string', description: 'Header value, case-sensitive.', examples: ['enterprise'] },
      },
    },
    policy: {
      type: 'object',
      description: 'Condition as an expression.',
      required: ['value'],
      properties: {
        value: {
          type: 'string',
          minLength: 1,
          description:
            'CEL expression with the variables and functions of security policies, `req_body` and `JWT` included. An evaluation error counts as false.',
          examples: ["getHeader('X-Plan') == 'enterprise'"],
        },
      },
    },
  },
} as const satisfies Schema;

const classifier = {
  type: 'object',
  required: ['name', 'engine'],
  properties: {
    name: name('classifier', 'smart'),
    engine: {
      type: 'string',
      enum: ['notdiamond', 'http'],
      description: 'Engine that chooses the provider. Its settings are in the field with the same name.',
      examples: ['notdiamond'],
    },
    notdiamond,
    http,
  },
} as const satisfies Schema;

export const schema = {
  type: 'object',
  title: 'Gates and classifiers',
  examples: [
    {
      gates: [{ name: 'plan_enterprise', rule: 'header', header: { name: 'X-Plan', value: 'enterprise' } }],
      classifiers: [
        { name: 'smart', engine: 'notdiamond', notdiamond: { credentials: `\${NOTDIAMOND_KEY}`, tradeoff: 'latency' } },
      ],
    },
    {
      gates: [{ name: 'long', rule: 'policy', policy: { value: 'size(req_body) > 4000' } }],
      classifiers: [{ name: 'own', engine: 'http', http: { url: 'https://classifier.example.com/choose' } }],
    },
  ],
  properties: {
    gates: {
      type: 'array',
      items: gate,
      description: 'Named conditions. A route applies if all of its gates pass.',
      default: [],
    },
    classifiers: {
      type: 'array',
      items: classifier,
      description: 'Named engines that choose one of the providers of a route.',
      default: [],
    },
  },
} as const satisfies Schema;

export type ClassifiersConfig = Infer<typeof schema>;
export type GateConfig = ClassifiersConfig['gates'][number];
export type ClassifierConfig = ClassifiersConfig['classifiers'][number];
export type NotDiamondConfig = NonNullable<ClassifierConfig['notdiamond']>;
export type HttpConfig = NonNullable<ClassifierConfig['http']>;
