/** Sets variables of the environment; undefined takes one away. @returns brings back what was there. */
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
