/** Flags of every command that changes what serves. */
export const changeOptions = {
  message: { type: 'string' },
  'if-match': { type: 'string' },
} as const;

/** The same, as a usage shows them. */
export const changeUsage = '[--message TEXT] [--if-match REVISION-HASH]';

/** Headers of a change. @param flags with the revision it is based on, as `status` prints it. */
export function changeHeaders(flags: { readonly 'if-match'?: string | undefined }): Record<string, string | undefined> {
  const tag = flags['if-match'];
  return { 'if-match': tag === undefined || /^(?:\*|".*")$/.test(tag) ? tag : `"${tag}"` };
}
