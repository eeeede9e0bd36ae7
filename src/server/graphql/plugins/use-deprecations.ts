import type { DocumentNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { type Deprecation, deprecationsOf } from '../../../graphql/deprecations.ts';
import type { EngineResult } from '../engine.ts';

/** Lists the deprecated fields that an operation uses in `extensions.deprecations` of its result. */
export function useDeprecations(): Plugin {
  const known = new WeakMap<DocumentNode, readonly Deprecation[]>();
  return {
    onExecute({ args: { schema, document } }) {
      let deprecations = known.get(document);
      if (deprecations === undefined) {
        deprecations = deprecationsOf(schema, document);
        known.set(document, deprecations);
      }
      if (deprecations.length === 0) return;
      const extensions = { deprecations };
      return {
        onExecuteDone({ result, setResult }) {
          setResult({ ...(result as EngineResult), extensions });
        },
      };
    },
  };
}
