import { z } from 'zod'
import { grantOf, grantSchema } from '../controller/sources/grant-schema.ts'
import { explain } from '../kinds/fields/explain.ts'
import { matching } from '../kinds/fields/text.ts'
import type { FieldProblem } from '../kinds/kind.ts'
import type { Problem } from '../model/declaration.ts'
import type { Grant } from '../model/grant.ts'
import { readDocuments } from '../source/manifest.ts'
import { fieldProblemAt } from '../source/yaml/problem-at.ts'

/** Grants by namespace. The operator's own is unlimited, so it is not listed. */
export type NamespaceGrants = ReadonlyMap<string, Grant>

const schema = z.strictObject({
  namespaces: z.record(matching(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'the name of a namespace', 63), grantSchema),
})

/** Reads a file of grants by namespace, or returns its problems with their places. Pure. */
export function readGrants(
  text: string,
  file: string,
  home: string,
): NamespaceGrants | { readonly problems: readonly Problem[] } {
  const [read, more] = readDocuments(text)
  const located = { document: read?.document ?? { text, line: 1 }, base: [] }
  const at = (problem: FieldProblem): Problem => fieldProblemAt(located, problem, { file })
  const [finding] = read?.findings ?? []
  if (finding !== undefined) return { problems: [at({ code: 'syntax', path: [], message: finding.message })] }
  if (more !== undefined) return { problems: [at({ code: 'syntax', path: [], message: 'grants are one document' })] }
  const parsed = schema.safeParse(read?.value ?? {})
  if (!parsed.success) return { problems: explain(schema, parsed.error, read?.value, []).map(at) }
  const grants = new Map(
    Object.entries(parsed.data.namespaces).map(([namespace, given]) => [
      namespace,
      { ...grantOf(namespace, given), namespace },
    ]),
  )
  const problems = [...homeGranted(grants, home), ...overlaps([...grants.values()])].map(at)
  return problems.length > 0 ? { problems } : grants
}

function homeGranted(grants: NamespaceGrants, home: string): readonly FieldProblem[] {
  if (!grants.has(home)) return []
  const message = `${home} is the operator's own namespace, and may do everything`
  return [{ code: 'own-namespace', path: ['namespaces', home], message, hint: 'take it out of the list' }]
}

/** Clusters, their vaults and their connections are found by name alone: no name may be that of two namespaces. */
function overlaps(grants: readonly Grant[]): readonly FieldProblem[] {
  return grants.flatMap((one, index) =>
    grants.slice(0, index).flatMap((other) => {
      const shared = one.names.find((name) => other.names.some((each) => meet(name, each)))
      if (shared === undefined) return []
      const message = `names of ${one.source} (${one.names.join(', ')}) and of ${other.source} (${other.names.join(', ')}) overlap`
      const path = ['namespaces', one.source]
      return [{ code: 'names-overlap', path, message, hint: 'set names of both so that none begins as another' }]
    }),
  )
}

/** Reports whether some name matches both entries. */
function meet(one: string, other: string): boolean {
  const [a, b] = [one, other].map((entry) => ({ open: entry.endsWith('*'), text: entry.replace(/\*$/, '') }))
  if (a === undefined || b === undefined) return false
  return (a.open && b.text.startsWith(a.text)) || (b.open && a.text.startsWith(b.text)) || a.text === b.text
}
