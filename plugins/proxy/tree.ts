import { type Data, type DataObject, isObject, setKey } from '#contract';

/** A child in the tree: a container once it has been accessed, else the original value. */
export type TreeNode = Data | Branch;

/**
 * An object or array as a container of named children. Members of an array are named by their position and keep that
 * name when others are removed, until the tree is converted back to data. Nested containers are opened only when a path
 * leads into them, and the source data is never modified.
 */
export class Branch {
  readonly isList: boolean;
  /** Null while every member of an array is still at the position that it is named by. */
  #names: string[] | null;
  readonly #nodes: TreeNode[];
  #lostAll = false;

  private constructor(isList: boolean, names: string[] | null, nodes: TreeNode[]) {
    this.isList = isList;
    this.#names = names;
    this.#nodes = nodes;
  }

  static view(data: DataObject | Data[]): Branch {
    if (Array.isArray(data)) return new Branch(true, null, data.slice());
    return new Branch(false, Object.keys(data), Object.values(data));
  }

  get size(): number {
    return this.#nodes.length;
  }

  /** True for an array, unless it became `null` by losing all its members. */
  get holdsArray(): boolean {
    return this.isList && !this.#lostAll;
  }

  /** Position of a child; -1 when no child has that name. */
  indexOf(name: string): number {
    if (this.#names) return this.#names.indexOf(name);
    const index = Number(name);
    return Number.isInteger(index) && index >= 0 && index < this.#nodes.length && String(index) === name ? index : -1;
  }

  nameAt(index: number): string {
    return this.#names ? this.#names[index]! : String(index);
  }

  nodeAt(index: number): TreeNode {
    return this.#nodes[index]!;
  }

  /** The child as a container; null when it is a scalar. */
  branchAt(index: number): Branch | null {
    const node = this.#nodes[index]!;
    if (node instanceof Branch) return node;
    if (!Array.isArray(node) && !isObject(node)) return null;
    const branch = Branch.view(node);
    this.#nodes[index] = branch;
    return branch;
  }

  /** The named child as a container; a missing child or a scalar is first replaced with an empty object. */
  grow(name: string): Branch {
    const index = this.indexOf(name);
    const there = index < 0 ? null : this.branchAt(index);
    if (there) return there;
    const branch = new Branch(false, [], []);
    this.put(name, branch);
    return branch;
  }

  /** Adds a child, or replaces the child with the same name in place. */
  put(name: string, node: TreeNode): void {
    const index = this.indexOf(name);
    if (index >= 0) {
      this.#nodes[index] = node;
      return;
    }
    this.#names = this.#ownNames();
    this.#names.push(name);
    this.#nodes.push(node);
    this.#lostAll = false;
  }

  take(index: number): TreeNode {
    this.#names = this.#ownNames();
    this.#names.splice(index, 1);
    const [node] = this.#nodes.splice(index, 1);
    this.#lostAll = this.#nodes.length === 0;
    return node!;
  }

  /** Renames a child in place; another child of the new name is removed. */
  rename(index: number, name: string): void {
    const other = this.indexOf(name);
    if (other === index) return;
    this.#names = this.#ownNames();
    this.#names[index] = name;
    if (other >= 0) this.take(other);
  }

  clear(): void {
    if (this.#nodes.length === 0) return;
    this.#names = [];
    this.#nodes.length = 0;
    this.#lostAll = true;
  }

  /** Appends the members of another array, under unused names. */
  extend(members: Branch): void {
    if (members.size === 0) return;
    if (this.#names) {
      let next =
        this.#names.reduce((highest, name) => Math.max(highest, Number(name) || 0), this.#nodes.length - 1) + 1;
      for (let at = 0; at < members.size; at++) this.#names.push(String(next++));
    }
    for (const node of members.#nodes) this.#nodes.push(node);
    this.#lostAll = false;
  }

  /** Converts the tree back to data: a container that lost its last child becomes `null`; one that was originally empty does not. */
  toData(): Data {
    if (this.#lostAll) return null;
    if (this.isList) return this.#nodes.map(dataOf);
    const data: DataObject = {};
    for (let at = 0; at < this.#nodes.length; at++) setKey(data, this.#names![at]!, dataOf(this.#nodes[at]!));
    return data;
  }

  #ownNames(): string[] {
    return this.#names ?? Array.from(this.#nodes, (_, index) => String(index));
  }
}

function dataOf(node: TreeNode): Data {
  return node instanceof Branch ? node.toData() : node;
}
