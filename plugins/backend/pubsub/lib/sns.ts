import { onlyParams } from './address.ts';
import { callAws, messagesFor, serviceOf } from './aws.ts';
import type { Driver } from './driver.ts';

const FORM = ['Content-Type', 'application/x-www-form-urlencoded; charset=utf-8'];

/** An AWS SNS topic. Supports publishing only. */
export const sns: Driver = {
  name: 'SNS',
  publisher(opening) {
    const { site, field, address, log } = opening;
    onlyParams(site, field, address, ['region', 'endpoint']);
    const [, topic, region] =
      /^\/(arn:aws[a-z-]*:sns:([a-z\d-]+):\d{12}:[\w-]{1,256}(?:\.fifo)?)$/.exec(address.place) ?? [];
    if (topic === undefined) {
      throw site.fault('PUBSUB_ADDRESS', `/${field}`, `"${address.text}" is not a valid topic address`, {
        hint: 'awssns:///arn:aws:sns:eu-west-1:123456789012:orders?region=eu-west-1',
      });
    }
    const service = serviceOf(opening, 'sns', region);
    const messageOf = messagesFor(log);
    return () => ({
      async send(message, call) {
        const { text, attributes } = messageOf(message);
        const form = new URLSearchParams({ Action: 'Publish', Version: '2010-03-31', TopicArn: topic, Message: text });
        // All messages of a FIFO topic belong to one message group, so that they stay in order.
        if (topic.endsWith('.fifo')) form.set('MessageGroupId', 'default');
        for (const [index, [name, value]] of attributes.entries()) {
          const entry = `MessageAttributes.entry.${index + 1}`;
          form.set(`${entry}.Name`, name);
          form.set(`${entry}.Value.DataType`, 'String');
          form.set(`${entry}.Value.StringValue`, value);
        }
        await callAws(service, [...FORM], form.toString(), call);
      },
    });
  },
};
