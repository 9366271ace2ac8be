/** What sends telemetry, as attributes. */
export type Resource = Readonly<Record<string, string>>;

/** Under which name what is sent was measured. */
export interface Scope {
  readonly name: string;
  readonly version: string;
}

/** What the official packages take for a resource. */
export function sdkResource(attributes: Resource) {
  const resource = {
    attributes,
    merge: () => resource,
    getRawAttributes: () => Object.entries(attributes),
  };
  return resource;
}

/** Milliseconds since 1970 as seconds and nanoseconds. */
export function highResolution(ms: number): [seconds: number, nanoseconds: number] {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.floor((ms - seconds * 1000) * 1e6)];
}
