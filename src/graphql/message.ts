import type { Message } from '../contract/records.ts';
import { builder } from './builder.ts';

const MessageType = builder.objectRef<Message>('Message').implement({
  description: 'A message that the service accepted.',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: 'The identifier of the message.' }),
    message: t.exposeString('message', {
      nullable: false,
      description: 'The text of the message.',
    }),
    status: t.exposeString('status', {
      nullable: false,
      description:
        'The state of the message, for example `queued`. The other values are not published.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      nullable: false,
      description: 'When the service accepted the message.',
    }),
  }),
});

builder.mutationField('sendMessage', (t) =>
  t.field({
    type: MessageType,
    nullable: true,
    description:
      'Sends a message to the messages endpoint. `status` is the state that the service reports.',
    args: { message: t.arg.string({ required: true, description: 'The text to send.' }) },
    resolve: (_root, { message }, context, { path }) => context.sendMessage(message, path.key),
  }),
);
