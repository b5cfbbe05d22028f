import { writtenSecrets } from '../../kinds/fields/written-references.ts'
import type { FieldProblem } from '../../kinds/kind.ts'
import type { Grant } from '../../model/grant.ts'
import { outsideGrant } from '../../plan/grants.ts'
import type { MadeDeclaration } from '../../source/compose/in-cluster.ts'

/** Returns why a composed object is outside the grant of its instance's namespace: then it is not made. Pure. */
export function composedOutsideGrant(
  { kind, key, name, spec, policy }: MadeDeclaration,
  grant: Grant | undefined,
): readonly FieldProblem[] {
  return grant === undefined ? [] : outsideGrant({ kind, key, name, spec, policy }, grant, writtenSecrets(kind, spec))
}
