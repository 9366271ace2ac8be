import openapiTypescript, { astToString } from 'openapi-typescript';
import ts from 'typescript';

/** The compiler errors in strict mode by file, for code that uses types generated from an OpenAPI document, `./api.ts`. */
export async function issuesIn(description: object, clients: Readonly<Record<string, string>>): Promise<string[]> {
  const types = astToString(await openapiTypescript(JSON.stringify(description)));
  const files = new Map(Object.entries({ '/api.ts': types, ...clients }));
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipDefaultLibCheck: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (name) => files.has(name) || fileExists(name);
  host.readFile = (name) => files.get(name) ?? readFile(name);
  host.getSourceFile = (name, ...rest) => {
    const known = files.get(name);
    return known === undefined ? getSourceFile(name, ...rest) : ts.createSourceFile(name, known, rest[0]);
  };
  return ts.getPreEmitDiagnostics(ts.createProgram([...files.keys()], options, host)).map(({ file, messageText }) => {
    return `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
}
