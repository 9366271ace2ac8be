import type { Branch, TreeNode } from './tree.ts';

/** Matches every child of a container. */
export const wildcard = '*';

/** A container matched by a pattern, and the names along the way. */
export interface Target {
  readonly branch: Branch;
  readonly trail: readonly string[];
}

/** An operation on a whole tree. */
export type Operation = (root: Branch) => void;

/** Containers that match a pattern, in document order; scalars and missing children do not match. */
export function findBranches(root: Branch, pattern: readonly string[]): Target[] {
  let results: Target[] = [{ branch: root, trail: [] }];
  for (const step of pattern) {
    const next: Target[] = [];
    for (const { branch, trail } of results) {
      if (step !== wildcard) enter(branch, branch.indexOf(step), trail, next);
      else for (let at = 0; at < branch.size; at++) enter(branch, at, trail, next);
    }
    results = next;
  }
  return results;
}

function enter(parent: Branch, index: number, trail: readonly string[], into: Target[]): void {
  const branch = index < 0 ? null : parent.branchAt(index);
  if (branch) into.push({ branch, trail: [...trail, parent.nameAt(index)] });
}

/**
 * Compiles `move`: with equally many segments on both sides a child is renamed in place, with more in `to` it moves
 * down into newly created objects, with fewer it moves up. The last segment of either path is a name, never a wildcard.
 */
export function move(from: readonly string[], to: readonly string[]): Operation {
  const parents = from.slice(0, -1);
  const name = from.at(-1)!;
  const newName = to.at(-1)!;
  if (from.length === to.length) return (root) => rename(findBranches(root, parents), name, newName);
  if (from.length < to.length) {
    const down = to.slice(parents.length, -1);
    return (root) => {
      for (const [{ branch }, node] of takeAll(root, parents, name)) down.reduce(grow, branch).put(newName, node);
    };
  }
  const up = to.slice(0, -1);
  return (root) => {
    for (const [{ trail }, node] of takeAll(root, parents, name)) deepest(root, up, trail).put(newName, node);
  };
}

function rename(parents: readonly Target[], name: string, newName: string): void {
  for (const { branch } of parents) {
    const at = branch.indexOf(name);
    if (at >= 0) branch.rename(at, newName);
  }
}

/** Removes all values before any is inserted, so that none is moved twice. */
function takeAll(root: Branch, parents: readonly string[], name: string): [from: Target, node: TreeNode][] {
  const taken: [Target, TreeNode][] = [];
  for (const match of findBranches(root, parents)) {
    const at = match.branch.indexOf(name);
    if (at >= 0) taken.push([match, match.branch.take(at)]);
  }
  return taken;
}

function grow(branch: Branch, name: string): Branch {
  return branch.grow(name);
}

/** Follows a path as far as nodes exist; a `*` follows the source's path. */
function deepest(root: Branch, path: readonly string[], trail: readonly string[]): Branch {
  let branch = root;
  for (const [at, step] of path.entries()) {
    const name = step === wildcard ? trail[at]! : step;
    if (branch.indexOf(name) < 0) break;
    branch = branch.grow(name);
  }
  return branch;
}
