import type { Message } from '../contract/records.ts';
import { builder } from './builder.ts';

const MessageType = builder.objectRef<Message>('Message').implement({
  description: 'A message as the service accepted it.',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: 'The identifier of the message.' }),
    message: t.exposeString('message', { nullable: false, description: 'Its text.' }),
    status: t.exposeString('status', {
      nullable: false,
      description: 'Whether the message was only queued; the other values are not published.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      nullable: false,
      description: 'When the service accepted it.',
    }),
  }),
});

builder.mutationField('sendMessage', (t) =>
  t.field({
    type: MessageType,
    nullable: true,
    description:
      'Sends a message to the messages endpoint; `status` tells whether it was only queued.',
    args: { message: t.arg.string({ required: true, description: 'The text to send.' }) },
    resolve: (_root, { message }, context) => context.sendMessage(message),
  }),
);
