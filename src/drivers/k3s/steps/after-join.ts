import { segment } from '../../../kubernetes/client.ts'
import type { Outcome } from '../../../model/verdict.ts'
import { type Actor, DONE, nodeName, outcomeOfAsked, withApi } from '../actor.ts'

/** From then on nobody starts a new cluster. Of the record as it is at this moment, nothing else is changed. */
export async function noteFormed({ deps, declaration }: Actor): Promise<Outcome> {
  const secrets = await deps.vault.read(declaration.name)
  if (secrets !== undefined && !secrets.formed) await deps.vault.write({ ...secrets, formed: true })
  return DONE
}

/** A bootstrap token is for one node: when that is in, the token goes. Should we not come to it, it expires. */
export async function deleteJoinToken(actor: Actor): Promise<Outcome> {
  const { memory, signal } = actor
  const name = nodeName(actor)
  const id = memory.tokens.get(name)
  if (id === undefined) return DONE
  return withApi(actor, async (client) => {
    const path = `/api/v1/namespaces/kube-system/secrets/bootstrap-token-${segment(id)}`
    const outcome = outcomeOfAsked(
      await client.delete(path, `delete the used token of ${name}`, {}, signal),
      'is-success',
    )
    if (outcome.result === 'done') memory.tokens.delete(name)
    return outcome
  })
}
