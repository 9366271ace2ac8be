import { type BackendConfig, type DataObject, getKey, getPath, isObject, setKey } from '#contract';

type Shape = (data: DataObject) => DataObject;

/**
 * Compiles a backend's `target`, then `allow` or `deny` and `mapping` (or a plugin's shape instead of these), then
 * `group`. Null when the data stays unchanged. The result may share parts with the input.
 */
export function compileShape(backend: BackendConfig, custom: Shape | undefined): Shape | null {
  const stages: Shape[] = [];
  if (backend.target) stages.push(compileTarget(backend.target));
  if (custom) stages.push(custom);
  else {
    if (backend.allow?.length) stages.push(compileAllow(backend.allow));
    else if (backend.deny?.length) stages.push(compileDeny(backend.deny));
    if (backend.mapping && Object.keys(backend.mapping).length > 0) stages.push(compileMapping(backend.mapping));
  }
  if (backend.group) stages.push(compileGroup(backend.group));
  if (stages.length === 0) return null;
  return (data) => stages.reduce((shaped, stage) => stage(shaped), data);
}

function compileTarget(target: string): Shape {
  const path = target.split('.');
  return (data) => {
    const value = getPath(data, path);
    return isObject(value) ? value : {};
  };
}

/** A tree of names: `true` selects the node and everything below it. */
type PathTrie = Map<string, PathTrie | true>;

function addPath(paths: readonly string[], keepsShorter: boolean): PathTrie {
  const root: PathTrie = new Map();
  for (const path of paths) {
    const steps = path.split('.');
    const last = steps.pop()!;
    let node: PathTrie | null = root;
    for (const step of steps) {
      const next: PathTrie | true | undefined = node.get(step);
      if (next === true && keepsShorter) {
        node = null;
        break;
      }
      const child: PathTrie = next === undefined || next === true ? new Map() : next;
      node.set(step, child);
      node = child;
    }
    node?.set(last, true);
  }
  return root;
}

/**
 * Keeps only the named nodes. Of `a` and `a.b`, the later entry takes precedence. Objects that become empty are
 * removed.
 */
function compileAllow(paths: readonly string[]): Shape {
  const tree = addPath(paths, false);
  return (data) => keep(data, tree) ?? {};
}

function keep(data: DataObject, tree: PathTrie): DataObject | undefined {
  const kept: DataObject = {};
  let any = false;
  for (const key of Object.keys(data)) {
    const below = tree.get(key);
    if (below === undefined) continue;
    let value = data[key]!;
    if (below !== true) {
      const inner = isObject(value) ? keep(value, below) : undefined;
      if (inner === undefined) continue;
      value = inner;
    }
    setKey(kept, key, value);
    any = true;
  }
  return any ? kept : undefined;
}

/**
 * Removes the named leaves. Their parents stay, even if they are empty. Of `a` and `a.b`, the shorter path takes
 * precedence.
 */
function compileDeny(paths: readonly string[]): Shape {
  const tree = addPath(paths, true);
  return (data) => remove(data, tree);
}

function remove(data: DataObject, tree: PathTrie): DataObject {
  const kept: DataObject = {};
  for (const key of Object.keys(data)) {
    const below = tree.get(key);
    if (below === true) continue;
    const value = data[key]!;
    setKey(kept, key, below !== undefined && isObject(value) ? remove(value, below) : value);
  }
  return kept;
}

/** Renames top-level keys in declaration order; a new name ends at its first dot and overwrites an existing key. */
function compileMapping(mapping: Readonly<Record<string, string>>): Shape {
  const renames = Object.entries(mapping).map(([from, to]) => [from, to.split('.', 1)[0]!] as const);
  const sources = new Set(renames.map(([from]) => from));
  const targets = new Set(renames.map(([, to]) => to));
  if (targets.size === renames.length && sources.isDisjointFrom(targets)) return renameAtOnce(new Map(renames));
  return (data) => {
    const entries = new Map(Object.entries(data));
    for (const [from, to] of renames) {
      const value = entries.get(from);
      if (value === undefined) continue;
      entries.delete(from);
      entries.set(to, value);
    }
    const renamed: DataObject = {};
    for (const [key, value] of entries) setKey(renamed, key, value);
    return renamed;
  };
}

/** Applies renames that do not affect one another in one pass; a renamed key replaces an existing one. */
function renameAtOnce(names: ReadonlyMap<string, string>): Shape {
  const sourceOf = new Map(Array.from(names, ([from, to]) => [to, from]));
  return (data) => {
    const renamed: DataObject = {};
    for (const key of Object.keys(data)) {
      const to = names.get(key);
      if (to !== undefined) {
        setKey(renamed, to, data[key]!);
        continue;
      }
      const source = sourceOf.get(key);
      if (source === undefined || getKey(data, source) === undefined) setKey(renamed, key, data[key]!);
    }
    return renamed;
  };
}

function compileGroup(group: string): Shape {
  return (data) => {
    const grouped: DataObject = {};
    setKey(grouped, group, data);
    return grouped;
  };
}
