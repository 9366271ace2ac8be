/** Attributes of the service that sends telemetry. */
export type Resource = Readonly<Record<string, string>>;

/** Instrumentation scope of the telemetry. */
export interface Scope {
  readonly name: string;
  readonly version: string;
}

/** Converts attributes to a resource of the official packages. */
export function sdkResource(attributes: Resource) {
  const resource = {
    attributes,
    merge: () => resource,
    getRawAttributes: () => Object.entries(attributes),
  };
  return resource;
}

/** Converts milliseconds since 1970 to seconds and nanoseconds. */
export function highResolution(ms: number): [seconds: number, nanoseconds: number] {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.floor((ms - seconds * 1000) * 1e6)];
}
