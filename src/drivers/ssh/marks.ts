import { createHash } from 'node:crypto'
import { defined } from '../../lib/defined.ts'
import { recordIn } from '../../lib/foreign-json.ts'
import type { Mark, Resource } from '../../model/resource.ts'
import type { Command } from './command.ts'
import { touchedBy } from './touched.ts'

/** croft's mark on a host for each changed item: its owner, and how to undo it. */
export interface ItemMark extends Mark {
  readonly id: string
  /** Null: it cannot be undone. */
  readonly undo: readonly Command[] | null
  /** Identifies a declaration of the item: after drift alone the original state is not recorded again. */
  readonly declared?: string
  /** The boot id of the host in which a restart was requested for the item. */
  readonly restarted?: string
  /** Present from before the first command of a change until after its last: if found, the change is repeated. */
  readonly pending?: Pending
}

/** Facts about an interrupted change that observation cannot show. */
interface Pending {
  /** Programs that apply what was written: reload, restart, update-grub. */
  readonly again: readonly Command[]
  /** The host's next start reads what the change writes. */
  readonly boot: boolean
}

/** Returns what to repeat if these commands do not all run. A look shows those before the first file. */
export function pendingOf(commands: readonly Command[]): Pending {
  const first = commands.findIndex((one) => one.do === 'put' || one.do === 'remove')
  const tail = first < 0 ? [] : commands.slice(first)
  const arms = tail.length === 0 ? [] : commands.slice(0, first).filter((one) => one.do === 'arm')
  const again = [...arms, ...tail.filter((one) => one.do !== 'put' && one.do !== 'remove')]
  return { again, boot: touchedBy(commands).boot }
}

const HOME = '/var/lib/croft'
const FOLDER = `${HOME}/items`

export function markPath(id: string): string {
  return `${FOLDER}/${createHash('sha256').update(id).digest('hex').slice(0, 24)}`
}

/** Written before the item is changed, so that its original state is known after any failure. */
export function markCommands(
  id: string,
  resource: Resource,
  declared: string,
  undo: readonly Command[] | null,
  more: Pick<ItemMark, 'restarted' | 'pending'> = {},
): readonly Command[] {
  const mark: ItemMark = {
    id,
    declared,
    uid: resource.uid,
    owner: resource.key,
    deletion: resource.policy.deletion,
    undo,
    ...defined({ ...more, estate: resource.estate }),
  }
  return [
    { do: 'run', argv: ['mkdir', '-p', '-m', '0700', '--', HOME, FOLDER] },
    { do: 'put', path: markPath(id), content: `${JSON.stringify(mark)}\n`, mode: 0o600 },
  ]
}

/** Deletes the mark of an item, and croft's folders with the last one. */
export function leaveCommands(id: string): readonly Command[] {
  const rmdir = (folder: string): Command => ({
    do: 'run',
    argv: ['rmdir', '--ignore-fail-on-non-empty', '--', folder],
  })
  return [
    { do: 'run', argv: ['mkdir', '-p', '-m', '0700', '--', HOME, FOLDER] },
    { do: 'remove', path: markPath(id) },
    { do: 'remove', path: `${HOME}/packages.log` },
    rmdir(FOLDER),
    rmdir(HOME),
  ]
}

function readPending(value: unknown): Pending {
  const { again, boot } = (value ?? {}) as { readonly [name: string]: unknown }
  return { again: Array.isArray(again) ? (again as readonly Command[]) : [], boot: boot === true }
}

/** Returns undefined for text that is no mark of croft: the file may contain anything. */
export function readMark(text: string): ItemMark | undefined {
  const { id, uid, owner, estate, deletion, declared, restarted, undo, pending } = recordIn(text) ?? {}
  if (typeof id !== 'string' || typeof uid !== 'string' || typeof owner !== 'string') return undefined
  return {
    id,
    uid,
    owner,
    undo: Array.isArray(undo) ? (undo as readonly Command[]) : null,
    ...(typeof estate === 'string' ? { estate } : {}),
    ...(typeof declared === 'string' ? { declared } : {}),
    ...(typeof restarted === 'string' ? { restarted } : {}),
    ...(pending === undefined ? {} : { pending: readPending(pending) }),
    ...(deletion === 'Delete' || deletion === 'Orphan' ? { deletion } : {}),
  }
}
