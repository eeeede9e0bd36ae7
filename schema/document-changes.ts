import { type DefinitionNode, Kind, parse, type SelectionSetNode } from 'graphql';

/** Documents by hash, those of the sources first, then older ones that were released. */
export type Manifest = Readonly<Record<string, string>>;

/**
 * Adds the released documents to a manifest, because applications in the field send their hashes.
 * Leaves out those whose removal the changelog quotes.
 */
export function keepReleased(
  sources: Manifest,
  released: Manifest,
  isAnnounced: (sentence: string) => boolean,
): Manifest {
  const kept = Object.entries(released).filter((entry) => !isAnnounced(removal(entry)));
  return { ...sources, ...Object.fromEntries(kept) };
}

/**
 * Returns a sentence for each released document that a manifest has lost, and for each field that was
 * added to a packaged document or removed from it: users construct its results in optimistic
 * responses, cache updates and tests, which no longer compile.
 */
export function documentChanges(released: Manifest, current: Manifest): string[] {
  const lost = Object.entries(released).filter(([hash]) => !(hash in current));
  const before = selectionsByName(released);
  const after = selectionsByName(current);
  const changed = [...after].flatMap(([name, paths]) => {
    const known = before.get(name);
    if (known === undefined) return [];
    const added = paths.difference(known);
    const removed = known.difference(paths);
    return [
      ...[...added].map((path) => `Field ${path} was added to the packaged document ${name}.`),
      ...[...removed].map(
        (path) => `Field ${path} was removed from the packaged document ${name}.`,
      ),
    ];
  });
  return [...lost.map(removal), ...changed];
}

function removal([hash, text]: readonly [hash: string, text: string]): string {
  return `Persisted document ${parseOperation(text).name} (${hash}) was removed.`;
}

/** Returns the fields that each operation selects. Of several with one name, the first counts. */
function selectionsByName(manifest: Manifest): Map<string, Set<string>> {
  const operations = Object.values(manifest).map(parseOperation);
  return new Map(operations.reverse().map(({ name, paths }) => [name, paths]));
}

/** Returns the name of a document's operation, and the paths of its fields as in the response. */
function parseOperation(text: string): { name: string; paths: Set<string> } {
  const { definitions } = parse(text);
  const operation = definitions.find(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  const paths = new Set<string>();
  const visit = ({ selections }: SelectionSetNode, parent: string) => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        const path = parent + (selection.alias ?? selection.name).value;
        paths.add(path);
        if (selection.selectionSet) visit(selection.selectionSet, `${path}.`);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        visit(selection.selectionSet, parent);
      } else {
        const isSpread = (node: DefinitionNode) =>
          node.kind === Kind.FRAGMENT_DEFINITION && node.name.value === selection.name.value;
        const fragment = definitions.find(isSpread);
        if (fragment && 'selectionSet' in fragment) visit(fragment.selectionSet, parent);
      }
    }
  };
  if (operation?.kind !== Kind.OPERATION_DEFINITION || !operation.name) {
    throw new TypeError(`Expected a document with a named operation, received ${text}`);
  }
  visit(operation.selectionSet, '');
  return { name: operation.name.value, paths };
}
