import type { Data, PipeRequest, Reply } from '#contract';
import { innerModifier, type Modifier, type Place, scope } from './modifier.ts';

/** Settings of filters that also have a modifier for messages that do not match. */
export const filterFields = {
  modifier: innerModifier('Modifier to run on a match.'),
  else: innerModifier('Modifier to run otherwise. Default: none.'),
  scope,
} as const;

export interface ElseFilter {
  readonly modifier: Data;
  readonly else?: Data;
}

interface Condition {
  readonly request: (request: PipeRequest) => boolean;
  readonly response: (reply: Reply, request: PipeRequest) => boolean;
}

/** Applies one of two modifiers, depending on a condition for each side. */
export function filter(config: ElseFilter, place: Place, condition: Condition): Modifier {
  const matched = place.inner(config.modifier, '/modifier');
  const other = config.else === undefined ? neither : place.inner(config.else, '/else');
  return {
    request: choice(condition.request, matched.request, other.request),
    response: choice(condition.response, matched.response, other.response),
  };
}

const neither: Modifier = { request: null, response: null };

function choice<A extends readonly unknown[]>(
  condition: (...side: A) => boolean,
  matched: ((...side: A) => void) | null,
  other: ((...side: A) => void) | null,
): ((...side: A) => void) | null {
  if (matched === null && other === null) return null;
  return (...side) => {
    const chosen = condition(...side) ? matched : other;
    chosen?.(...side);
  };
}
