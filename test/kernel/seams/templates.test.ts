import { equal, rejects } from 'node:assert/strict';
import { after, atEndpoint, definePlugin } from '#contract';
import { openHarness } from '../../../kernel/testing/index.ts';

const greeter = definePlugin({
  name: 'greeter',
  description: 'A header made by a template.',
  places: [
    atEndpoint(
      { type: 'object', properties: { text: { type: 'string', description: 'A template.', default: '' } } },
      ({ config, template }) => {
        const greeting = template(config.text, '/text', 'greeting');
        return {
          endpoint: after((reply, request) => {
            reply.headers.set('X-Greeting', greeting.render({ path: request.path }));
          }),
        };
      },
    ),
  ],
});

describe('a plugin with a template in its settings', () => {
  it('compiles it once and renders it for each request', async () => {
    const gate = await openHarness(greeter, 'endpoint', { text: '{{ .path | upper | quote }}' });
    equal((await gate.send('GET /a')).headers.get('x-greeting'), '"/A"');
    equal((await gate.send('GET /b')).headers.get('x-greeting'), '"/B"');
    await gate.close();
  });

  it('has an invalid template rejected with line and column', async () => {
    await rejects(openHarness(greeter, 'endpoint', { text: 'a\n{{ nope }}' }), (error: Error) => {
      equal(JSON.stringify(error).includes('TEMPLATE_INVALID'), true);
      equal(/greeting:2:4: unknown function nope/.test(String(error.message)), true);
      return true;
    });
  });
});
