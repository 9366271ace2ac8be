/** Digests of the schemas whose checks were generated when the package was built; empty in the source. */
export const builtChecks: ReadonlySet<string> = new Set();
