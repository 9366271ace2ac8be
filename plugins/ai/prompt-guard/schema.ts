import type { Infer, Schema } from '#contract';

export const severities = ['critical', 'high', 'medium', 'low'] as const;
export type Severity = (typeof severities)[number];

const guard = {
  type: 'object',
  required: ['name', 'kind', 'severity', 'config'],
  properties: {
    name: {
      type: 'string',
      minLength: 1,
      description: 'Unique name of the guard, which endpoints and backends list to apply it.',
      examples: ['block_jailbreak_terms'],
    },
    kind: {
      type: 'string',
      enum: ['regex', 'classifier', 'policy'],
      description:
        'Kind of guard: `regex` matches the body against expressions, `classifier` lets a server score the body, `policy` evaluates expressions on the body and the request.',
      examples: ['regex'],
    },
    severity: {
      type: 'string',
      enum: severities,
      description: 'Severity of the attacks that the guard finds. Reported in the log and in metrics.',
      examples: ['high'],
    },
    config: {
      type: 'object',
      description: 'Settings of the guard, by its kind.',
      examples: [{ patterns: ['(?i)internal codename'] }],
      properties: {
        patterns: {
          type: 'array',
          minItems: 1,
          items: { type: 'string', minLength: 1 },
          description:
            'Expressions in RE2 syntax of a guard of the kind `regex`. A match in the body as sent, or in the decoded strings of a JSON document or form, blocks the request.',
          examples: [['(?i)internal codename', '(?i)project\\s+x']],
        },
        url: {
          type: 'string',
          minLength: 1,
          description:
            'URL of the server of a guard of the kind `classifier`. The server receives the body in a POST request and responds with `{"score": 0.0}` to `{"score": 1.0}`.',
          examples: ['https://classifier.example.com/score'],
        },
        score_threshold: {
          type: 'number',
          minimum: 0,
          maximum: 1,
          description:
            'Lowest score that passes a guard of the kind `classifier`, which requires this field. Requests with a lower score are blocked. Default: none.',
          examples: [0.6],
        },
        on_failure_block: {
          type: 'boolean',
          description:
            'Blocks requests that the server of a classifier has not scored, because it is unreachable, responds with an error, or exceeds the timeout. Default: true.',
        },
        timeout: {
          type: 'duration',
          description: 'Timeout of one request to the server of a classifier. An addition to KrakenD. Default: 2s.',
          examples: ['500ms'],
        },
        expressions: {
          type: 'array',
          minItems: 1,
          items: { type: 'string', minLength: 1 },
          description:
            'CEL expressions of a guard of the kind `policy`. They must all be true, otherwise the request is blocked. `body` is the body as a string, `meta` has `headers`, `params`, `method`, `path`, `query` and `url`. An evaluation error blocks the request.',
          examples: [['size(body) <= 8192', "meta.method == 'POST'"]],
        },
      },
    },
  },
} as const satisfies Schema;

export const serviceSchema = {
  type: 'object',
  title: 'Prompt guards',
  examples: [
    {
      guards: [
        { name: 'codenames', kind: 'regex', severity: 'high', config: { patterns: ['(?i)project\\s+x'] } },
        { name: 'size', kind: 'policy', severity: 'low', config: { expressions: ['size(body) <= 8192'] } },
      ],
    },
    {
      guards: [
        {
          name: 'scored',
          kind: 'classifier',
          severity: 'critical',
          config: { url: 'https://classifier.example.com/score', score_threshold: 0.6, on_failure_block: true },
        },
      ],
    },
  ],
  properties: {
    guards: {
      type: 'array',
      items: guard,
      description: 'Guards that endpoints and backends can apply by name.',
      default: [],
    },
  },
} as const satisfies Schema;

export const selectionSchema = {
  type: 'object',
  title: 'Prompt guard',
  examples: [{}, { guards: ['!low', '!encoded_instructions'] }],
  properties: {
    guards: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description:
        'Names of guards to apply in addition to the default guards. They are declared in `ai/prompt-guard` at the root of the configuration. Entries with `!` deselect default guards: `!all_defaults`, a severity (`!critical`, `!high`, `!medium`, `!low`), or a group (`!unicode_steganography`).',
      default: [],
      examples: [['codenames', '!medium']],
    },
  },
} as const satisfies Schema;

export type GuardConfig = Infer<typeof serviceSchema>['guards'][number];
export type Selection = Infer<typeof selectionSchema>;
