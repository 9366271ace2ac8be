import { createServer, type IncomingMessage } from 'node:http';

/**
 * A server with two operations of AWS Secrets Manager, for this sample only: it keeps everything in memory. Secrets are
 * read with the credentials of one user, whose signature is not verified, and replaced without credentials.
 */
const secrets = new Map([['crm', '{"key": "crm-key-1"}']]);
const credentials = 'AWS4-HMAC-SHA256 Credential=sample-id/';

async function bodyOf(message: IncomingMessage): Promise<{ readonly SecretId: string; readonly SecretString: string }> {
  let text = '';
  for await (const chunk of message) text += chunk;
  return JSON.parse(text);
}

const [url = 'http://localhost:4566'] = process.argv.slice(2);
const { hostname, port } = new URL(url);

createServer(async (message, response) => {
  const answer = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
  const { authorization = '', 'x-amz-target': operation } = message.headers;
  const { SecretId: name, SecretString: text } = await bodyOf(message);
  if (operation === 'secretsmanager.PutSecretValue') {
    secrets.set(name, text);
    return answer(200, { Name: name });
  }
  if (!authorization.startsWith(credentials)) return answer(400, { __type: 'UnrecognizedClientException' });
  const known = secrets.get(name);
  return known === undefined
    ? answer(400, { __type: 'ResourceNotFoundException' })
    : answer(200, { Name: name, SecretString: known });
}).listen(Number(port), hostname, () => console.log(`a store of secrets is at ${url}`));
