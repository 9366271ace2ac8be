import type { Infer } from '#contract';

/** What a script is configured by, at each of its places. */
export const scriptFields = {
  sources: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    description:
      'Files with Lua code that is run first, in this order as if they were one; relative to the working directory.',
    default: [],
    examples: [['scripts/common.lua']],
  },
  pre: {
    type: 'string',
    description:
      'Lua code to run before the call. A script that takes more than 100 ms of processor time, or more than 64 MiB, is ended with an error.',
    examples: ["request.load():headers('X-Team', 'checkout')"],
  },
  live: {
    type: 'boolean',
    description: 'Read the files at every request; their checksums are then not looked at.',
    default: false,
  },
  md5: {
    type: 'object',
    values: { type: 'string', pattern: '^[0-9a-f]{32}$' },
    description: 'Checksums of files by their paths as in `sources`: MD5, hexadecimal.',
    default: {},
    examples: [{ 'scripts/common.lua': '6f5902ac237024bdd0c176cb93063dc4' }],
  },
  allow_open_libs: {
    type: 'boolean',
    description:
      'Give the script string, math, coroutine and the time of os beside table. Files and processes stay out of reach.',
    default: false,
  },
} as const;

/** What a script may have besides where it sees the answer. */
export const aroundFields = {
  post: {
    type: 'string',
    description: 'Lua code that is run after the call, unless that failed.',
    examples: ["response.load():data():set('seen', true)"],
  },
  skip_next: {
    type: 'boolean',
    description: 'Do not make the call: `post` gets an empty response.',
    default: false,
  },
} as const;

export const aroundSchema = {
  type: 'object',
  description: 'A script around a call.',
  properties: { ...scriptFields, ...aroundFields },
} as const;

export type ScriptConfig = Infer<typeof aroundSchema>;
