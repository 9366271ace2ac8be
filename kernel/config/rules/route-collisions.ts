import type { Report } from '../issues/report.ts';
import { parseSegment } from '../normalize/path-segment.ts';
import { CATCHALL, routeName } from './rule.ts';

export interface Route {
  readonly method: string;
  readonly endpoint: string;
  readonly pointer: string;
}

/** A position in the paths of one method. */
interface Position {
  /** Next segments with fixed text; null for a position without them, which most positions are. */
  words: Map<string, Position> | null;
  /** Segments with variables, by their fixed text. */
  variables: Map<string, { names: readonly string[]; route: Route; next: Position }> | null;
  route: Route | undefined;
}

/**
 * Checks that within one method no two paths are equal, and that variables at the same position have the same name.
 *
 * Codes: ROUTE_DUPLICATE, ROUTE_COLLISION, at the later of the two routes. Yields after every route.
 */
export function* checkCollisions(routes: readonly Route[], report: Report): Generator<undefined, void, undefined> {
  const roots = new Map<string, Position>();
  for (const route of routes) {
    const method = route.endpoint === CATCHALL ? '*' : route.method;
    let root = roots.get(method);
    if (!root) {
      root = newPosition();
      roots.set(method, root);
    }
    location(route, root, report);
    yield;
  }
}

function location(route: Route, root: Position, report: Report): void {
  let position = root;
  let start = 0;
  for (const segment of route.endpoint.split('/')) {
    const offset = start;
    start += segment.length + 1;
    const { texts, names } = parseSegment(segment);
    if (names.length === 0) {
      position = nextWord(position, segment);
      continue;
    }
    const form = texts.join('{}');
    position.variables ??= new Map();
    let known = position.variables.get(form);
    if (!known) {
      known = { names, route, next: newPosition() };
      position.variables.set(form, known);
    }
    const { names: others } = known;
    const at = names.findIndex((name, index) => name !== others[index]);
    if (at >= 0) {
      const other = routeName(known.route);
      const before =
        texts.slice(0, at + 1).join('') +
        names
          .slice(0, at)
          .map((name) => `{${name}}`)
          .join('');
      const begin = offset + before.length;
      complain(
        'ROUTE_COLLISION',
        route,
        known.route,
        `${routeName(route)} collides with ${other}: ` +
          `the variable at the same position is named '{${names[at]}}' here and '{${others[at]}}' there`,
        report,
        { start: begin, end: begin + names[at]!.length + 2 },
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
  position.words ??= new Map();
  let next = position.words.get(word);
  if (!next) {
    next = newPosition();
    position.words.set(word, next);
  }
  return next;
}

function newPosition(): Position {
  return { words: null, variables: null, route: undefined };
}
