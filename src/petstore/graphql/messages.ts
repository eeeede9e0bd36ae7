import type { Message as MessageRecord } from '../records.ts';
import type { PetStoreBuilder } from './builder.ts';

/** Adds messages and their mutation. */
export function addMessages(builder: PetStoreBuilder) {
  builder.scalarType('DateTime', {
    description: 'An ISO 8601 timestamp, exactly as the service sent it.',
    specifiedByURL: 'https://www.iso.org/standard/70907.html',
    serialize: (text) => text,
  });
  const Message = builder.objectRef<MessageRecord>('Message').implement({
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
      type: Message,
      nullable: true,
      description:
        'Sends a message to the messages endpoint. `status` is the state that the service reports.',
      args: { message: t.arg.string({ required: true, description: 'The text to send.' }) },
      resolve: (_root, { message }, { petStore }, { path }) =>
        petStore.sendMessage(message, path.key),
    }),
  );
  return { Message };
}
