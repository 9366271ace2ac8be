/** Cause and remedy of error codes, in Markdown of one line each, by code. */
export type Codes = Readonly<Record<string, readonly [cause: string, remedy: string]>>;
