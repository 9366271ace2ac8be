import type { Flags } from '#contract';

/** Flags of every command that changes what serves. */
export const changeFlags = {
  message: { type: 'string', value: 'TEXT', about: 'What the history says of it.' },
  'if-match': {
    type: 'string',
    value: 'REVISION-HASH',
    about: 'Only if this one serves, as status prints it.',
  },
} as const satisfies Flags;

/** Headers of a change. @param flags with the revision it is based on, as `status` prints it. */
export function changeHeaders(flags: { readonly 'if-match'?: string | undefined }): Record<string, string | undefined> {
  const tag = flags['if-match'];
  return { 'if-match': tag === undefined || /^(?:\*|".*")$/.test(tag) ? tag : `"${tag}"` };
}
