import { ApolloProvider } from '@apollo/client/react';
import { type FormEvent, useState } from 'react';
import { createClient } from './client.ts';
import paw from './paw.svg';
import { Store } from './store.tsx';

/** The page: the API key, the animals, the form and the orders. */
export function App() {
  const [session, setSession] = useState(() => ({ id: 1, client: createClient('demo-key') }));

  function changeKey(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const client = createClient(String(new FormData(event.currentTarget).get('key')));
    setSession(({ id }) => ({ id: id + 1, client }));
  }

  return (
    <ApolloProvider client={session.client}>
      <header className="bar">
        <div className="bar-inner">
          <div className="brand">
            <img src={paw} alt="" />
            <div>
              <strong>Pet Store</strong>
              <span>Inventory</span>
            </div>
          </div>
          <form className="key" onSubmit={changeKey}>
            <label htmlFor="key">API key</label>
            <input
              id="key"
              name="key"
              type="password"
              defaultValue="demo-key"
              autoComplete="off"
              required
              pattern="[!-~]+"
              title="Letters, digits and punctuation of ASCII, without spaces."
            />
            <button type="submit">Use key</button>
          </form>
        </div>
      </header>
      {/* A key must not see data that another key has read, so each has its own cache and state. */}
      <Store key={session.id} />
    </ApolloProvider>
  );
}
