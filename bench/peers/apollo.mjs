import { RESTDataSource } from '@apollo/datasource-rest';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { typeDefs } from './schema.mjs';

class PetStore extends RESTDataSource {
  baseURL = `${process.env.UPSTREAM}/`;

  constructor({ authorization, cache }) {
    super({ cache });
    this.authorization = authorization;
  }

  willSendRequest(_path, request) {
    request.headers.authorization = this.authorization;
  }

  pets({ limit, status }) {
    return this.get('pets', { params: { limit: String(limit), status } });
  }

  pet(id) {
    return this.get(`pets/${encodeURIComponent(id)}`);
  }

  orders() {
    return this.get('store/orders');
  }
}

const server = new ApolloServer({
  typeDefs,
  resolvers: {
    Query: {
      pets: (_root, args, { petStore }) => petStore.pets(args),
      pet: (_root, { id }, { petStore }) => petStore.pet(id),
      orders: (_root, _args, { petStore }) => petStore.orders(),
    },
  },
});
await startStandaloneServer(server, {
  context: async ({ req }) => ({
    petStore: new PetStore({ authorization: req.headers.authorization, cache: server.cache }),
  }),
  listen: { port: Number(process.env.PORT), host: '127.0.0.1' },
});
