import type { Schema } from '#contract';

const flatmapFilter = {
  type: 'array',
  description: 'Operations on the data as a tree, each on the result of the one before.',
  items: {
    type: 'object',
    properties: {
      type: {
        type: 'any',
        description: 'What is done: move, del or append; anything else does nothing, with a warning.',
        examples: ['move', 'del', 'append'],
      },
      args: {
        type: 'array',
        items: { type: 'string' },
        description: 'Dotted paths; array members are named by their position, * stands for every child.',
        default: [],
        examples: [['user.name', 'name']],
      },
    },
  },
  examples: [[{ type: 'move', args: ['user.name', 'name'] }]],
} as const satisfies Schema;

/** The namespace in an endpoint. */
export const endpointProxySchema = {
  type: 'object',
  title: 'Proxy',
  examples: [{ static: { strategy: 'incomplete', data: { partial: true } } }],
  properties: {
    sequential: { type: 'boolean', description: 'Call the backends one after another.', default: false },
    sequential_propagated_params: {
      type: 'array',
      items: { type: 'string', pattern: '^resp[0-9]+(_[^\\s]+)?$' },
      description:
        'Values of earlier answers offered to the components of later backends as parameters: resp0_user.id is field user.id of the first backend, resp0 the whole body of a no-op backend.',
      default: [],
      examples: [['resp0_user.id']],
    },
    static: {
      type: 'object',
      description: 'Fixed data put into the response. Default: none.',
      properties: {
        data: {
          type: 'object',
          description: 'Top-level keys to set; they win over equal ones of the backends.',
          examples: [{ partial: true }],
        },
        strategy: {
          type: 'string',
          enum: ['always', 'success', 'complete', 'errored', 'incomplete'],
          description:
            'When the data is put in: always; without an error (success); without an error and with every backend (complete); with an error (errored); without some backend (incomplete).',
        },
      },
      required: ['data', 'strategy'],
    },
    flatmap_filter: flatmapFilter,
    combiner: {
      type: 'string',
      enum: ['default', 'deep', 'append', 'ordered'],
      description:
        'How the parts become one object, in order of declaration. default and ordered: later top-level keys win; append: as default, but arrays under an equal key are joined; deep: objects under equal keys are merged at any depth.',
      default: 'default',
    },
    max_payload: {
      type: 'integer',
      minimum: 0,
      description:
        'Longest request body of this endpoint in bytes, for bodies that a component parses, too. 0 sets no limit of its own.',
      default: 0,
    },
    decompress_gzip: {
      type: 'boolean',
      description: 'Inflate gzip request bodies before anything reads them.',
      default: false,
    },
    force_sandboxed_request: {
      type: 'boolean',
      description: 'Give each backend a copy of the request.',
      unused: { because: 'requests are always kept apart', unless: [true] },
    },
    strategy: {
      type: 'string',
      enum: ['parallel', 'sequential'],
      description: 'How backends are called.',
      unused: { because: 'sequential decides' },
    },
  },
} as const satisfies Schema;

/** The namespace in a backend. */
export const backendProxySchema = {
  type: 'object',
  title: 'Proxy',
  examples: [{ flatmap_filter: [{ type: 'move', args: ['user.name', 'name'] }] }],
  properties: {
    flatmap_filter: flatmapFilter,
    shadow: {
      type: 'boolean',
      description: 'The backend gets a copy of the traffic; its answer is dropped.',
      default: false,
    },
    shadow_timeout: {
      type: 'duration',
      description: "Longest duration of the shadow call; 0 means the endpoint's timeout, which is the default.",
      examples: ['500ms'],
    },
  },
} as const satisfies Schema;
