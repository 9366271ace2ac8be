import type { Infer } from '#contract';

/** Settings of a script, the same for the service, endpoints and backends. */
export const scriptFields = {
  sources: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    description:
      'Lua source files that run before `pre` and `post`, in order, as a single script of at most 262,144 characters. Paths are relative to the working directory.',
    default: [],
    examples: [['scripts/common.lua']],
  },
  pre: {
    type: 'string',
    description:
      'Lua code to run before the call, at most 262,144 characters. Scripts are terminated with an error after 100 ms of CPU time or 64 MiB of memory.',
    examples: ["request.load():headers('X-Team', 'checkout')"],
  },
  live: {
    type: 'boolean',
    description: 'Reads the source files on every request, without verifying their checksums.',
    default: false,
  },
  md5: {
    type: 'object',
    values: { type: 'string', pattern: '^[0-9a-f]{32}$' },
    description: 'MD5 checksums of source files in hexadecimal. The keys are the paths in `sources`.',
    default: {},
    examples: [{ 'scripts/common.lua': '6f5902ac237024bdd0c176cb93063dc4' }],
  },
  allow_open_libs: {
    type: 'boolean',
    description:
      'Gives scripts access to string, math, coroutine and the time functions of os in addition to table. Files and processes remain inaccessible.',
    default: false,
  },
} as const;

/** Additional settings of scripts that can read the response. */
export const aroundFields = {
  post: {
    type: 'string',
    description: 'Lua code to run after a successful call.',
    examples: ["response.load():data():set('seen', true)"],
  },
  skip_next: {
    type: 'boolean',
    description:
      'Skips the call to the backend or endpoint after the script `pre` has run. The script `post` then receives an empty response.',
    default: false,
  },
} as const;

export const aroundSchema = {
  type: 'object',
  description: 'Lua script that runs before and after a call.',
  properties: { ...scriptFields, ...aroundFields },
} as const;

export type ScriptConfig = Infer<typeof aroundSchema>;
