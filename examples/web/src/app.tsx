import { ApolloProvider } from '@apollo/client/react';
import { type FormEvent, useRef, useState } from 'react';
import { createClient } from './client.ts';
import paw from './paw.svg';
import { Store } from './store.tsx';

/** The page: the API key, the animals, the form and the orders. */
export function App() {
  const key = useRef('demo-key');
  const [client] = useState(() => createClient(() => key.current));

  function changeKey(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    key.current = String(new FormData(event.currentTarget).get('key'));
    // A key must not see data that another key has read. Each query shows its own error.
    client.resetStore().catch(() => undefined);
  }

  return (
    <ApolloProvider client={client}>
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
            />
            <button type="submit">Use key</button>
          </form>
        </div>
      </header>
      <Store />
    </ApolloProvider>
  );
}
