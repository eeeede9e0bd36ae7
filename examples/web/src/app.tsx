import { ApolloProvider } from '@apollo/client/react';
import { type FormEvent, useState } from 'react';
import { createClient } from './client.ts';
import paw from './paw.svg';
import { Store } from './store.tsx';

/** The keys of a demo that put the page into one state each (docs/error-states.md). */
const demoKeys = [
  'demo-key',
  'demo-slow',
  'demo-slow-orders',
  'demo-empty',
  'demo-unauthenticated',
  'demo-rate-limited',
  'demo-unavailable',
  'demo-flaky',
  'demo-lost-write',
];

/** The page: the API key, the pets, the form and the orders. */
export function App() {
  const [session, setSession] = useState(() => openSession(1, 'demo-key'));

  function changeKey(apiKey: string) {
    setSession(({ id }) => openSession(id + 1, apiKey));
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    changeKey(String(new FormData(event.currentTarget).get('key')));
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
          <form className="key" onSubmit={submit}>
            <select
              aria-label="Try a state"
              value=""
              onChange={({ target }) => changeKey(target.value)}
            >
              <option value="">Try a state</option>
              {demoKeys.map((key) => (
                <option key={key}>{key}</option>
              ))}
            </select>
            <label htmlFor="key">API key</label>
            <input
              key={session.id}
              id="key"
              name="key"
              type="password"
              defaultValue={session.apiKey}
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

function openSession(id: number, apiKey: string) {
  return { id, apiKey, client: createClient(apiKey) };
}
