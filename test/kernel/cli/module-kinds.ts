/** Kinds of modules that `sluice plugin new` writes. */
export const MODULE_KINDS = ['middleware', 'request-modifier', 'response-modifier', 'http-client', 'http-server'];
