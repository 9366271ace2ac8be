/**
 * True when an `Accept-Encoding` header asks for gzip: by name, or by `*` where the name is not there, and not less than
 * for the plain form. A weight that cannot be read counts as 0.
 */
export function acceptsGzip(header: string | undefined): boolean {
  if (!header) return false;
  let gzip: number | undefined;
  let any: number | undefined;
  let plain: number | undefined;
  for (const item of header.toLowerCase().split(',')) {
    const [name, ...parameters] = item.split(';').map((part) => part.trim()) as [string, ...string[]];
    if (name === 'gzip' || name === 'x-gzip') gzip = Math.max(gzip ?? 0, weightOf(parameters));
    else if (name === '*') any = weightOf(parameters);
    else if (name === 'identity') plain = weightOf(parameters);
  }
  const weight = gzip ?? any ?? 0;
  return weight > 0 && weight >= (plain ?? 0);
}

function weightOf(parameters: readonly string[]): number {
  const written = parameters.find((parameter) => /^q\s*=/.test(parameter));
  if (written === undefined) return 1;
  const value = written.slice(written.indexOf('=') + 1).trim();
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(value) ? Number(value) : 0;
}
