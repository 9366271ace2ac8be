import type { Infer, Schema } from '#contract';

export const schema = {
  type: 'object',
  title: 'Traffic recorder',
  description:
    'Records a sample of the requests: what the client sent, the calls to HTTP backends with their responses, and the response to the client. Credentials are masked. Calls to other backends, such as queues, are counted but not recorded: `sluice replay` skips their requests. Recordings are HAR entries that `sluice test` can use as mocks.',
  examples: [
    {},
    { sample_rate: 1, max_per_endpoint: 20, fields: ['email', 'X-Customer'] },
    { sample_rate: 0.001, folder: { path: '/var/lib/sluice/traffic', max_files: 500 } },
  ],
  properties: {
    sample_rate: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: 'Fraction of the requests that are recorded. 0 disables the recorder.',
      default: 0.01,
    },
    max_bytes: {
      type: 'integer',
      minimum: 65_536,
      maximum: 1_073_741_824,
      description:
        'Maximum size of all recordings in memory, in bytes, for all workers together. The oldest recordings are dropped.',
      default: 16_777_216,
    },
    max_per_endpoint: {
      type: 'integer',
      minimum: 1,
      maximum: 100_000,
      description:
        'Maximum number of recordings in memory per endpoint. The oldest recording of the endpoint is dropped.',
      default: 100,
    },
    max_body: {
      type: 'integer',
      minimum: 0,
      maximum: 16_777_216,
      description:
        'Maximum size of a recorded body, in bytes. Longer bodies are omitted and marked. 0 omits all bodies.',
      default: 65_536,
    },
    fields: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description:
        'Names of headers, query parameters and body fields, at any depth, to mask in addition to credentials. Case-insensitive. Bodies that are neither JSON nor forms are then omitted.',
      default: [],
      examples: [['email', 'X-Customer']],
    },
    folder: {
      type: 'object',
      description: 'Folder that each recording is also written to, as a HAR file with mode 0600.',
      required: ['path'],
      properties: {
        path: {
          type: 'string',
          minLength: 1,
          description: 'Path of the folder, relative to the working directory. Created if its parent exists.',
          examples: ['/var/lib/sluice/traffic'],
        },
        max_files: {
          type: 'integer',
          minimum: 1,
          maximum: 100_000,
          description: 'Maximum number of files of the recorder in the folder. The oldest files are removed.',
          default: 1000,
        },
        max_bytes: {
          type: 'integer',
          minimum: 65_536,
          description:
            'Maximum size of all files of the recorder in the folder, in bytes. The oldest files are removed.',
          default: 268_435_456,
        },
      },
    },
  },
} as const satisfies Schema;

export type RecorderConfig = Infer<typeof schema>;
