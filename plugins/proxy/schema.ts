import type { Schema } from '#contract';

const flatmapFilter = {
  type: 'array',
  description: 'Operations on the response data, applied in order.',
  items: {
    type: 'object',
    properties: {
      type: {
        type: 'any',
        description: 'Operation type: move, del or append. Other values are ignored with a warning.',
        examples: ['move', 'del', 'append'],
      },
      args: {
        type: 'array',
        items: { type: 'string' },
        description:
          'Dotted paths of the fields in the response data to move, delete or append to. A number selects an array item by index; `*` matches every child.',
        default: [],
        examples: [['user.name', 'name']],
      },
    },
  },
  examples: [[{ type: 'move', args: ['user.name', 'name'] }]],
} as const satisfies Schema;

/** Schema of the namespace in an endpoint. */
export const endpointProxySchema = {
  type: 'object',
  title: 'Proxy',
  examples: [{ static: { strategy: 'incomplete', data: { partial: true } } }],
  properties: {
    sequential: { type: 'boolean', description: 'Calls the backends one after another.', default: false },
    sequential_propagated_params: {
      type: 'array',
      items: { type: 'string', pattern: '^resp[0-9]+(_[^\\s]+)?$' },
      description:
        'Values of earlier responses that components of later backends can use as parameters: `resp0_user.id` is the field `user.id` of the first response, `resp0` the whole body of the first response if its encoding is no-op.',
      default: [],
      examples: [['resp0_user.id']],
    },
    static: {
      type: 'object',
      description: 'Static data added to the response. Default: none.',
      properties: {
        data: {
          type: 'object',
          description: 'Top-level keys and values to set. They replace keys of the same name from backends.',
          examples: [{ partial: true }],
        },
        strategy: {
          type: 'string',
          enum: ['always', 'success', 'complete', 'errored', 'incomplete'],
          description:
            'Condition for adding the data. `always`: every response; `success`: no error occurred; `complete`: no error occurred and all backends responded; `errored`: an error occurred; `incomplete`: a backend response is missing.',
        },
      },
      required: ['data', 'strategy'],
    },
    flatmap_filter: flatmapFilter,
    combiner: {
      type: 'string',
      enum: ['default', 'deep', 'append', 'ordered'],
      description:
        'Merge strategy for the backend responses, which are merged in declaration order. `default` and `ordered`: if several responses have the same top-level key, the last one wins. `append`: as `default`, but arrays under the same key are concatenated. `deep`: objects under the same key are merged at any depth.',
      default: 'default',
    },
    max_payload: {
      type: 'integer',
      minimum: 0,
      description:
        'Maximum request body size of this endpoint in bytes. Also applies to bodies that a component parses. 0 sets no endpoint-level limit.',
      default: 0,
    },
    decompress_gzip: {
      type: 'boolean',
      description: 'Decompresses gzip request bodies before any component reads them.',
      default: false,
    },
    force_sandboxed_request: {
      type: 'boolean',
      description: 'Gives each backend its own copy of the request.',
      unused: { because: 'each backend always gets its own copy of the request', unless: [true] },
    },
    strategy: {
      type: 'string',
      enum: ['parallel', 'sequential', 'fallback'],
      description:
        'Order of the backend calls, in the form of version 4 of the format. It replaces `sequential` and takes precedence over it. `parallel`: all at once; `sequential`: one after another; `fallback`: calls the next backend only if the previous one failed, for any reason, and returns a single response. All attempts share 85 % of the timeout of the endpoint. Default: parallel.',
    },
  },
} as const satisfies Schema;

/** Schema of the namespace in a backend. */
export const backendProxySchema = {
  type: 'object',
  title: 'Proxy',
  examples: [{ flatmap_filter: [{ type: 'move', args: ['user.name', 'name'] }] }],
  properties: {
    flatmap_filter: flatmapFilter,
    shadow: {
      type: 'boolean',
      description: 'Sends the backend a copy of the traffic and discards its response.',
      default: false,
    },
    shadow_timeout: {
      type: 'duration',
      description: "Timeout of the shadow call. 0 means the endpoint's timeout. Default: 0.",
      examples: ['500ms'],
    },
  },
} as const satisfies Schema;
