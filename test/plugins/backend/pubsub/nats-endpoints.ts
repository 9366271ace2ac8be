/** Endpoints in front of NATS. */
export const publish = (topic: string, more: object = {}) => ({
  endpoint: `/pub/${topic}`,
  method: 'POST',
  input_headers: ['X-A', 'X-B'],
  backend: [
    {
      host: ['nats://'],
      disable_host_sanitize: true,
      url_pattern: '/',
      extra_config: { 'backend/pubsub/publisher': { topic_url: topic } },
    },
  ],
  ...more,
});

export const take = (subscription: string, more: object = {}, backend: object = {}) => ({
  endpoint: `/take/${subscription.replace(/[?*>=]/g, '-')}`,
  timeout: '20s',
  backend: [
    {
      host: ['nats://'],
      disable_host_sanitize: true,
      url_pattern: '/',
      extra_config: { 'backend/pubsub/subscriber': { subscription_url: subscription } },
      ...backend,
    },
  ],
  ...more,
});
