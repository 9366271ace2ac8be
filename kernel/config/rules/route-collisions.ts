import type { Report } from '../report.ts';
import { CATCHALL, routeName } from './rule.ts';

export interface Route {
  readonly method: string;
  readonly endpoint: string;
  readonly pointer: string;
}

/** A position in the paths of one method. */
interface Position {
  readonly words: Map<string, Position>;
  /** Text before a variable (empty for a whole segment) to the variable there. */
  readonly variables: Map<string, { name: string; route: Route; next: Position }>;
  route: Route | undefined;
}

/**
 * Within one method no two paths are equal, and none names a variable otherwise than another one at the same position.
 *
 * Codes: ROUTE_DUPLICATE, ROUTE_COLLISION, at the later one of the two.
 */
export function checkCollisions(routes: readonly Route[], report: Report): void {
  const roots = new Map<string, Position>();
  for (const route of routes) {
    const method = route.endpoint === CATCHALL ? '*' : route.method;
    let root = roots.get(method);
    if (!root) {
      root = newPosition();
      roots.set(method, root);
    }
    place(route, root, report);
  }
}

function place(route: Route, root: Position, report: Report): void {
  let position = root;
  let start = 0;
  for (const segment of route.endpoint.split('/')) {
    const offset = start;
    start += segment.length + 1;
    const variable = /^([^{}]*)\{([^{}]*)\}/.exec(segment);
    if (!variable) {
      position = nextWord(position, segment);
      continue;
    }
    const [, before, name] = variable as unknown as [string, string, string];
    let known = position.variables.get(before);
    if (!known) {
      known = { name, route, next: newPosition() };
      position.variables.set(before, known);
    } else if (known.name !== name) {
      const other = routeName(known.route);
      complain(
        'ROUTE_COLLISION',
        route,
        known.route,
        `${routeName(route)} collides with ${other}: ` +
          `the same position is called '{${name}}' here and '{${known.name}}' there`,
        report,
        { start: offset + before.length, end: offset + before.length + name.length + 2 },
      );
      return;
    }
    position = known.next;
  }
  if (position.route) {
    const message = `${routeName(route)} is declared twice, first as ${routeName(position.route)}`;
    complain('ROUTE_DUPLICATE', route, position.route, message, report);
  } else {
    position.route = route;
  }
}

function complain(
  code: string,
  route: Route,
  other: Route,
  message: string,
  report: Report,
  within?: { readonly start: number; readonly end: number },
): void {
  const related = `${other.pointer}/endpoint`;
  report.error(code, `${route.pointer}/endpoint`, `${message} (${related})`, { within, related: [related] });
}

function nextWord(position: Position, word: string): Position {
  let next = position.words.get(word);
  if (!next) {
    next = newPosition();
    position.words.set(word, next);
  }
  return next;
}

function newPosition(): Position {
  return { words: new Map(), variables: new Map(), route: undefined };
}
