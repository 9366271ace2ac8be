import { type Format, formatNameOf } from '#kernel';
import { formatOfType } from './formats.ts';
import { Problem } from './problem.ts';

/** A configuration as it came in a form. */
export interface Part {
  readonly format: Format;
  readonly bytes: Uint8Array;
}

/**
 * The only file of a `multipart/form-data` body. Its type is the one it is sent with, else the one its name tells.
 * @throws Problem bad-request when it is no such body, or has more files: nothing in a configuration can name them;
 *   unsupported-media-type.
 */
export async function singleFile(body: Uint8Array, contentType: string): Promise<Part> {
  const [file, ...others] = await filesOf(body, contentType);
  if (!file) throw new Problem('bad-request', 'the form holds no file');
  if (others.length > 0) {
    const names = others.map(({ name }) => JSON.stringify(name)).join(', ');
    throw new Problem('bad-request', `a configuration is one file: ${names} cannot be included`);
  }
  const type = file.type.split(';')[0]!.trim();
  const format = formatOfType(type) ?? formatNameOf(file.name);
  if (!format) throw new Problem('unsupported-media-type', `${JSON.stringify(file.name)} is not JSON, YAML or TOML`);
  return { format, bytes: await file.bytes() };
}

async function filesOf(body: Uint8Array, contentType: string): Promise<File[]> {
  let form: FormData;
  try {
    form = await new Response(body as Uint8Array<ArrayBuffer>, { headers: { 'content-type': contentType } }).formData();
  } catch {
    throw new Problem('bad-request', 'the body is not multipart/form-data');
  }
  return [...form].map(([name, value]) => (typeof value === 'string' ? new File([value], name) : value));
}
