import { type Data, type DataObject, nearest, type Site } from '#contract';
import { findBranches, move, type Operation, wildcard } from './move.ts';
import { Branch } from './tree.ts';

/** One operation as configured. */
export interface FlatmapOperation {
  readonly type?: Data;
  readonly args: readonly string[];
}

/**
 * Compiles `flatmap_filter` into a function of an object; it never modifies its input.
 *
 * @returns null when none of the operations can be run; a warning is issued for each of those that cannot.
 * @throws ConfigError PROXY_FLATMAP_ARGS for a wrong number of paths.
 */
export function compileFlatmap(
  filter: readonly FlatmapOperation[],
  site: Pick<Site<unknown>, 'fault' | 'warn'>,
): ((data: DataObject) => DataObject) | null {
  const operations = filter.flatMap((operation, index) => compileOperation(operation, index, site) ?? []);
  if (operations.length === 0) return null;
  return (data) => {
    const root = Branch.view(data);
    for (const operation of operations) operation(root);
    return (root.toData() as DataObject | null) ?? {};
  };
}

function compileOperation(
  { type, args }: FlatmapOperation,
  index: number,
  site: Pick<Site<unknown>, 'fault' | 'warn'>,
): Operation | null {
  const paths = args.map((path) => path.split('.'));
  switch (type) {
    case 'move':
    case 'append': {
      const [from, to] = paths;
      if (!from || !to || paths.length > 2) {
        throw site.fault(
          'PROXY_FLATMAP_ARGS',
          `/flatmap_filter/${index}/args`,
          `${type} requires two paths: from and to`,
        );
      }
      return type === 'move' ? move(from, to) : append(from, to);
    }
    case 'del':
      if (paths.length === 0) {
        throw site.fault('PROXY_FLATMAP_ARGS', `/flatmap_filter/${index}/args`, 'del requires at least one path');
      }
      return (root) => {
        for (const path of paths) remove(root, path, 0);
      };
    default:
      warnOfUnknown(type, index, site);
      return null;
  }
}

function warnOfUnknown(type: Data | undefined, index: number, { warn }: Pick<Site<unknown>, 'warn'>): void {
  const near = typeof type === 'string' ? nearest(type, ['move', 'del', 'append']) : undefined;
  const name = type === undefined ? 'without a type, this' : `${JSON.stringify(type)} is not a valid operation: it`;
  warn('PROXY_FLATMAP_TYPE', `/flatmap_filter/${index}/type`, `${name} has no effect`, {
    hint: near ? `did you mean "${near}"?` : 'write move, del or append',
  });
}

function remove(branch: Branch, path: readonly string[], depth: number): void {
  const step = path[depth]!;
  const isLast = depth === path.length - 1;
  if (step !== wildcard) {
    const at = branch.indexOf(step);
    if (at < 0) return;
    if (isLast) branch.take(at);
    else removeBelow(branch, at, path, depth);
  } else if (isLast) {
    branch.clear();
  } else {
    for (let at = 0; at < branch.size; at++) removeBelow(branch, at, path, depth);
  }
}

function removeBelow(branch: Branch, at: number, path: readonly string[], depth: number): void {
  const below = branch.branchAt(at);
  if (below) remove(below, path, depth + 1);
}

/**
 * Compiles `append`: moves the members of every array at `from` to the end of the array at `to`. Values that are not
 * arrays stay in place, and so does an array that contains the target.
 */
function append(from: readonly string[], to: readonly string[]): Operation {
  const parents = from.slice(0, -1);
  const name = from.at(-1)!;
  return (root) => {
    const way = follow(root, to);
    const target = way?.at(-1);
    if (!way || !target?.holdsArray) return;
    for (const { branch } of findBranches(root, parents)) {
      if (name === wildcard) appendChildren(branch, way, target);
      else appendChild(branch, branch.indexOf(name), way, target);
    }
  };
}

function appendChildren(parent: Branch, way: readonly Branch[], target: Branch): void {
  let at = 0;
  for (let left = parent.size; left > 0; left--) if (!appendChild(parent, at, way, target)) at++;
}

function appendChild(parent: Branch, at: number, way: readonly Branch[], target: Branch): boolean {
  const source = at < 0 ? null : parent.branchAt(at);
  if (!source?.holdsArray || way.includes(source)) return false;
  parent.take(at);
  target.extend(source);
  return true;
}

/** All containers on a path without wildcards; null when the path does not lead to a container. */
function follow(root: Branch, path: readonly string[]): Branch[] | null {
  const way = [root];
  for (const step of path) {
    const branch = way.at(-1)!;
    const at = branch.indexOf(step);
    const next = at < 0 ? null : branch.branchAt(at);
    if (!next) return null;
    way.push(next);
  }
  return way;
}
