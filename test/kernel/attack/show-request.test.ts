import { equal } from 'node:assert/strict';
import type { AttackRequest } from '#contract';
import { showRequest } from '../../../kernel/attack/show-request.ts';

const get: AttackRequest = { method: 'GET', target: '/a', headers: [] };

describe('the printed request of an attack', () => {
  const address = new URL('http://localhost:8080');
  const shown = new Map([['eyJ.secret', '$TOKEN']]);
  const cases: [what: string, request: AttackRequest | string, command: string][] = [
    ['is a curl command', get, "curl -i --path-as-is 'http://localhost:8080/a'"],
    [
      'names credentials as variables of the shell',
      { ...get, headers: [['Authorization', 'Bearer eyJ.secret']] },
      `curl -i --path-as-is -H "Authorization: Bearer $TOKEN" 'http://localhost:8080/a'`,
    ],
    [
      'quotes apostrophes, and sends empty headers',
      {
        ...get,
        headers: [
          ['X-A', "it's"],
          ['X-B', ''],
        ],
      },
      `curl -i --path-as-is -H 'X-A: it'\\''s' -H 'X-B;' 'http://localhost:8080/a'`,
    ],
    [
      'contains method and body',
      { ...get, method: 'POST', body: '{"id":1}' },
      `curl -i --path-as-is -X POST --data-binary '{"id":1}' 'http://localhost:8080/a'`,
    ],
    [
      'keeps targets that are not paths',
      { ...get, target: 'http://other/a' },
      `curl -i --path-as-is --request-target 'http://other/a' 'http://localhost:8080/'`,
    ],
    [
      'writes long runs of a character as a command',
      { ...get, headers: [['X-A', 'a'.repeat(5000)]] },
      `curl -i --path-as-is -H 'X-A: '"$(head -c 5000 /dev/zero | tr '\\0' a)" 'http://localhost:8080/a'`,
    ],
    ['is the bytes of a connection', "A 'b'\r\n\v%", `printf 'A '\\''b'\\''\\r\\n\\x0b%%' | nc localhost 8080`],
  ];
  for (const [what, request, command] of cases) {
    it(what, () => equal(showRequest(request, address, shown), command));
  }
});
