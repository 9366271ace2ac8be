import { type BackendConfig, type DataObject, getKey, isObject, type Params, paramKey, Reply, setKey } from '#contract';
import { parsePlaceholder, splitPlaceholders } from '../pipeline/request/pattern.ts';

/**
 * Substitutes for values known only for a real request: responses of earlier backends, token claims and, where the path
 * does not define them, parameters.
 */
export interface PlaceholderValues {
  readonly earlier: readonly Reply[];
  readonly claims: DataObject;
  readonly params: Params;
  /** Replaces the substitutes in a text with the original placeholders. */
  restore(text: string): string;
}

/** Creates substitutes for the placeholders of a backend's address; escaping does not change them. */
export function placeholderValuesFor({ url_pattern: pattern, host }: BackendConfig): PlaceholderValues {
  const names: string[] = [];
  const responses: DataObject[] = [];
  const claims: DataObject = {};
  const params: Record<string, string> = {};
  for (const text of [pattern, ...host].flatMap((segment) =>
    splitPlaceholders(segment).filter((_, at) => at % 2 === 1),
  )) {
    const placeholder = parsePlaceholder(text);
    const mark = `~value${names.length}~`;
    if (placeholder.from === 'claims') setKey(claims, placeholder.name, mark);
    else if (placeholder.from === 'path') setKey(params, paramKey(placeholder.name), mark);
    else if (placeholder.from !== 'earlier') continue;
    else {
      while (responses.length <= placeholder.index) responses.push({});
      setPath(responses[placeholder.index]!, placeholder.path, mark);
    }
    names.push(text);
  }
  return {
    earlier: responses.map((data) => Reply.data(data)),
    claims,
    params,
    restore: (text) => text.replace(/~value(\d+)~/g, (mark, at) => (names[at] === undefined ? mark : `{${names[at]}}`)),
  };
}

function setPath(data: DataObject, path: readonly string[], value: string): void {
  let inner = data;
  for (const step of path.slice(0, -1)) {
    const next = getKey(inner, step);
    if (isObject(next)) inner = next;
    else {
      const fresh: DataObject = {};
      setKey(inner, step, fresh);
      inner = fresh;
    }
  }
  setKey(inner, path.at(-1)!, value);
}
