import {
  type Data,
  type DataObject,
  getKey,
  isObject,
  type MirroredParameter,
  mirroredParameters,
  printJson,
} from '#contract';
import type { MatchesName } from './name-pattern.ts';

/** A tool of an upstream server. */
export interface RemoteTool {
  /** Name at the upstream server. */
  readonly remoteName: string;
  /** Published description, with the prefixed name. */
  readonly description: DataObject;
  readonly mirrored: readonly MirroredParameter[];
}

/** Rules for publishing the tools of an upstream server. */
export interface ListRules {
  readonly prefix: string;
  readonly offers: MatchesName;
  readonly maxTools: number;
  readonly maxBytes: number;
}

export interface ToolList {
  /** Tools by prefixed name, in listing order. */
  readonly tools: ReadonlyMap<string, RemoteTool>;
  /** Size of the descriptions, in bytes. */
  readonly bytes: number;
  /** True if tools are missing, because the list of the server exceeds a limit. */
  readonly isCut: boolean;
}

/** Maximum number of pages of a list that are read. */
const MAX_PAGES = 100;
const toolName = /^[A-Za-z0-9_.-]{1,128}$/;
/** Fields of a tool that are published unchanged. */
const passedOn = ['title', 'description', 'inputSchema', 'outputSchema', 'annotations'];

/** Requests a page of a list. */
export type RequestPage = (params: DataObject) => Promise<DataObject>;

/** Reads all pages of a tool list, until a limit is exceeded. Invalid tools are omitted. */
export async function readTools(requestPage: RequestPage, rules: ListRules): Promise<ToolList> {
  const tools = new Map<string, RemoteTool>();
  let bytes = 0;
  let cursor: Data | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const result = await requestPage(cursor === undefined ? {} : { cursor });
    const listed = getKey(result, 'tools');
    for (const each of Array.isArray(listed) ? listed : []) {
      const tool = adopt(each, rules);
      const name = tool?.description['name'] as string;
      if (tool === null || tools.has(name)) continue;
      const size = Buffer.byteLength(printJson(tool.description));
      if (tools.size === rules.maxTools || bytes + size > rules.maxBytes) return { tools, bytes, isCut: true };
      tools.set(name, tool);
      bytes += size;
    }
    cursor = getKey(result, 'nextCursor');
    if (typeof cursor !== 'string') return { tools, bytes, isCut: false };
  }
  return { tools, bytes, isCut: true };
}

/** @returns null for a tool that is not offered or not valid. */
function adopt(listed: Data, { prefix, offers }: ListRules): RemoteTool | null {
  if (!isObject(listed)) return null;
  const remoteName = getKey(listed, 'name');
  const schema = getKey(listed, 'inputSchema');
  if (typeof remoteName !== 'string' || !offers(remoteName) || !isObject(schema)) return null;
  const name = prefix + remoteName;
  const mirrored = mirroredOf(schema);
  if (!toolName.test(name) || mirrored === null) return null;
  const fields = passedOn.filter((key) => Object.hasOwn(listed, key)).map((key) => [key, listed[key]!]);
  return { remoteName, mirrored, description: { name, ...Object.fromEntries(fields) } };
}

function mirroredOf(schema: DataObject): readonly MirroredParameter[] | null {
  try {
    return mirroredParameters(schema);
  } catch {
    return null;
  }
}
