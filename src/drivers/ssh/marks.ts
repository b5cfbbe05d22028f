import { createHash } from 'node:crypto'
import { defined } from '../../lib/defined.ts'
import { recordIn } from '../../lib/foreign-json.ts'
import type { Mark, Resource } from '../../model/resource.ts'
import type { Command } from './command.ts'

/** What croft leaves on a host for each item that it changed: whose it is, and how it is taken back. */
export interface ItemMark extends Mark {
  readonly id: string
  /** Null: it cannot be taken back. */
  readonly undo: readonly Command[] | null
  /** Tells one declaration of the item from another: drift is no reason to learn anew how it was before. */
  readonly declared?: string
  /** The start of the host (its boot id) in which a restart was asked for because of the item. */
  readonly restarted?: string
}

const FOLDER = '/var/lib/croft/items'

export function markPath(id: string): string {
  return `${FOLDER}/${createHash('sha256').update(id).digest('hex').slice(0, 24)}`
}

/** Written before the item is touched: whatever happens then, how it was before is known. */
export function markCommands(
  id: string,
  resource: Resource,
  declared: string,
  undo: readonly Command[] | null,
  restarted?: string,
): readonly Command[] {
  const mark: ItemMark = {
    id,
    declared,
    uid: resource.uid,
    owner: resource.key,
    deletion: resource.policy.deletion,
    undo,
    ...defined({ restarted, estate: resource.estate }),
  }
  return [
    { do: 'run', argv: ['mkdir', '-p', '-m', '0700', '--', '/var/lib/croft', FOLDER] },
    { do: 'put', path: markPath(id), content: `${JSON.stringify(mark)}\n`, mode: 0o600 },
  ]
}

/** Undefined for what is no mark of ours. Somebody may have written anything there. */
export function readMark(text: string): ItemMark | undefined {
  const { id, uid, owner, estate, deletion, declared, restarted, undo } = recordIn(text) ?? {}
  if (typeof id !== 'string' || typeof uid !== 'string' || typeof owner !== 'string') return undefined
  return {
    id,
    uid,
    owner,
    undo: Array.isArray(undo) ? (undo as readonly Command[]) : null,
    ...(typeof estate === 'string' ? { estate } : {}),
    ...(typeof declared === 'string' ? { declared } : {}),
    ...(typeof restarted === 'string' ? { restarted } : {}),
    ...(deletion === 'Delete' || deletion === 'Orphan' ? { deletion } : {}),
  }
}
