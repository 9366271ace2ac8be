import { childrenOf, type SchemaNode } from './node.ts';

/** What can be known of a schema's references before any document comes. */
export interface Recursion {
  /** The schema contains itself. */
  readonly recursive: boolean;
  /** A schema that leads back to itself without going into the value, so that checking it would never end. */
  readonly endless: SchemaNode | null;
}

export function findRecursion(root: SchemaNode): Recursion {
  return { recursive: findCycle([root], false) !== null, endless: findCycle(reachable(root), true) };
}

function reachable(root: SchemaNode): SchemaNode[] {
  const found = new Set([root]);
  for (const node of found) for (const { child } of childrenOf(node)) found.add(child);
  return [...found];
}

/** @param hereOnly follow only what is applied to the same value. @returns a node of the first cycle found. */
function findCycle(starts: readonly SchemaNode[], hereOnly: boolean): SchemaNode | null {
  const open = new Set<SchemaNode>();
  const done = new Set<SchemaNode>();
  const visit = (node: SchemaNode): SchemaNode | null => {
    if (open.has(node)) return node;
    if (done.has(node)) return null;
    open.add(node);
    for (const { child, here } of childrenOf(node)) {
      const cycle = here || !hereOnly ? visit(child) : null;
      if (cycle) return cycle;
    }
    open.delete(node);
    done.add(node);
    return null;
  };
  for (const start of starts) {
    const cycle = visit(start);
    if (cycle) return cycle;
  }
  return null;
}
