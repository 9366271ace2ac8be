/** Sets environment variables; undefined removes one. @returns a function that restores the previous values. */
export function setEnvironment(given: Readonly<Record<string, string | undefined>>): () => void {
  const before = Object.fromEntries(Object.keys(given).map((name) => [name, process.env[name]]));
  const apply = (all: typeof given) => {
    for (const [name, value] of Object.entries(all)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
  apply(given);
  return () => apply(before);
}
