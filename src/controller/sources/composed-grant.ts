import type { FieldProblem } from '../../kinds/kind.ts'
import type { Grant } from '../../model/grant.ts'
import { writtenSecrets } from '../../model/secret.ts'
import { outsideGrant } from '../../plan/grants.ts'
import type { JudgedObject } from '../../source/judge.ts'

/** What is composed for an instance and may not be named where the instance stands: it is not made in the first place. Pure. */
export function composedOutsideGrant(judged: JudgedObject, grant: Grant | undefined): readonly FieldProblem[] {
  if (grant === undefined || judged.outcome !== 'declared') return []
  const { key, kind, metadata, spec, policy } = judged
  return outsideGrant({ kind: kind.kind, key, name: metadata.name, spec, policy }, grant, writtenSecrets(spec))
}
