import type { JsonSchema } from '../schemas.ts';

/** The subset of OpenAPI 3.1 that both descriptions use. */
export interface OpenApi {
  readonly openapi: '3.1.0';
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description?: string;
    readonly license?: { readonly name: string; readonly identifier: string };
  };
  readonly servers?: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components?: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly OpenApiParameter[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, object>>;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

export interface OpenApiParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

/** Groups operations by path and lower-case method; duplicate operation ids get a number. */
export function pathsOf(
  operations: Iterable<readonly [path: string, method: string, operation: OpenApiOperation]>,
): OpenApi['paths'] {
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  const taken = new Map<string, number>();
  for (const [path, method, operation] of operations) {
    paths[path] ??= {};
    const { operationId } = operation;
    const count = (taken.get(operationId) ?? 0) + 1;
    taken.set(operationId, count);
    paths[path][method.toLowerCase()] =
      count === 1 ? operation : { ...operation, operationId: `${operationId}_${count}` };
  }
  return paths;
}

/** Operation id for code generators, as in `getUsersById` for GET /users/{id}. @param segments of the path, variables as `{id}`. */
export function operationIdOf(method: string, segments: readonly string[]): string {
  const words = segments.flatMap((segment) => {
    const segments = segment.split(/(\{[^}]*\})/).filter((segment) => segment !== '');
    return segments.map((segment) => (segment.startsWith('{') ? `By${capitalized(segment)}` : capitalized(segment)));
  });
  return method.toLowerCase() + (words.join('') || 'Root');
}

function capitalized(text: string): string {
  return text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
